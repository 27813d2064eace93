"""Text and tables as LaTeX."""

import math
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

MAX_ROWS = 40
"""Rows that a page holds."""
MAX_COLUMNS, PART_COLUMNS = 8, 5
"""Columns that a page holds, and those of a part of a wider table, beside its first."""
Rows = Sequence[Sequence[str]]
_LETTERS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    '"': "{''}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "'": "'{}",
    "-": "-{}",
    ",": ",{}",
    "\N{EN DASH}": r"\textendash{}",
    "\N{EM DASH}": r"\textemdash{}",
    "\N{MINUS SIGN}": "$-$",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{DAGGER}": r"$\dagger$",
    "\N{DOUBLE DAGGER}": r"$\ddagger$",
    "\N{GREEK CAPITAL LETTER LAMDA}": r"$\Lambda$",
    "\N{GREEK SMALL LETTER RHO}": r"$\rho$",
    "\N{LEFT DOUBLE QUOTATION MARK}": r"\textquotedblleft{}",
    "\N{RIGHT DOUBLE QUOTATION MARK}": r"\textquotedblright{}",
    "\N{LEFT SINGLE QUOTATION MARK}": r"\textquoteleft{}",
    "\N{RIGHT SINGLE QUOTATION MARK}": r"\textquoteright{}",
}
_DOUBLE = frozenset("-,'")
"""Letters of which two in a row would be drawn as one; a single one stays as it is."""
UNICODE = (
    "% Some letters here are none that pdfLaTeX knows: compile with XeLaTeX or LuaLaTeX, and a "
    "font that has them."
)


def escape(text: str) -> str:
    """Return text as LaTeX that prints the same: no command, no comment, no ligature.

    Letters for which LaTeX has no command stay as they are; see `UNICODE`.
    """
    letters = []
    for place, letter in enumerate(text):
        alone = letter in _DOUBLE and text[place + 1 : place + 2] != letter
        letters.append(letter if alone else _LETTERS.get(letter, letter))
    return "".join(letters)


def needs_unicode(text: str) -> bool:
    """Return whether LaTeX has letters that only XeLaTeX and LuaLaTeX can print."""
    return any(
        ord(letter) > 0x17F or (ord(letter) > 127 and unicodedata.category(letter)[0] == "M")
        for letter in text
    )


def split_columns(
    header: Sequence[str], align: str, rows: Rows
) -> list[tuple[Sequence[str], str, Rows]]:
    """Cut a table of many columns into parts that repeat the first column."""
    others = len(header) - 1
    if others < MAX_COLUMNS:
        return [(header, align, rows)]
    count = math.ceil(others / PART_COLUMNS)
    edges = [1 + others * part // count for part in range(count + 1)]
    return [
        (
            (header[0], *header[start:stop]),
            align[0] + align[start:stop],
            [(row[0], *row[start:stop]) for row in rows],
        )
        for start, stop in pairwise(edges)
    ]


def format_table(name: str, caption: str, header: Sequence[str], align: str, rows: Rows) -> str:
    """Format a table by booktabs, with its caption and a label; a long one breaks over pages."""
    head, label = _format_row(header), rf"\caption{{{escape(caption)}}} \label{{tab:{name}}}"
    if len(rows) > MAX_ROWS:
        lines = [
            rf"\begin{{longtable}}{{{align}}}",
            rf"{label} \\",
            rf"\toprule {head} \midrule \endfirsthead",
            rf"\toprule {head} \midrule \endhead",
            r"\bottomrule \endfoot",
            *map(_format_row, rows),
            r"\end{longtable}",
        ]
    else:
        lines = [
            r"\begin{table}",
            r"\centering\small",
            label,
            rf"\begin{{tabular}}{{{align}}}",
            r"\toprule",
            head,
            r"\midrule",
            *map(_format_row, rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    return "\n".join(lines) + "\n"


def add_preamble(text: str) -> str:
    """Say in comments above LaTeX which packages and engines it needs."""
    packages = ["booktabs", *(["longtable"] if "{longtable}" in text else [])]
    needs = " and ".join(rf"\usepackage{{{name}}}" for name in packages)
    unicode = f"{UNICODE}\n" if needs_unicode(text) else ""
    return f"% needs {needs}\n{unicode}{text}"


def _format_row(cells: Sequence[str]) -> str:
    return " & ".join(map(escape, cells)) + r" \\"
