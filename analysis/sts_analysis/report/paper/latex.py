"""Text and tables as LaTeX."""

import math
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from sts_analysis.report.paper.cells import Cells

_LONG = 40
"""Rows that a page holds."""
_WIDE, _ABREAST = 8, 5
"""Columns beside the first that are cut into parts, and how many a part has."""
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
    """Text as LaTeX that prints the same; none of it is a command, a comment or a ligature.

    Letters that LaTeX has no command for stay as they are, see `UNICODE`.
    """
    made = []
    for place, letter in enumerate(text):
        alone = letter in _DOUBLE and text[place + 1 : place + 2] != letter
        made.append(letter if alone else _LETTERS.get(letter, letter))
    return "".join(made)


def foreign(text: str) -> bool:
    """Whether LaTeX has letters that only XeLaTeX and LuaLaTeX can print."""
    return any(
        ord(letter) > 0x17F or (ord(letter) > 127 and unicodedata.category(letter)[0] == "M")
        for letter in text
    )


def table(one: Cells) -> str:
    """A table by booktabs, with its caption and a label.

    One of many columns is cut into parts that repeat the first; one of many rows is a longtable.
    """
    parts = _parts(one)
    made = "\n".join(_longtable(part) if len(one.rows) > _LONG else _float(part) for part in parts)
    packages = ["booktabs", *(["longtable"] if len(one.rows) > _LONG else [])]
    needs = " and ".join(rf"\usepackage{{{name}}}" for name in packages)
    return "".join([f"% needs {needs}\n", f"{UNICODE}\n" if foreign(made) else "", made])


def _parts(one: Cells) -> list[Cells]:
    others = len(one.header) - 1
    if others < _WIDE:
        return [one]
    count = math.ceil(others / _ABREAST)
    edges = [1 + others * part // count for part in range(count + 1)]
    return [
        Cells(
            f"{one.name}_{part}",
            f"{one.caption} Part {part} of {count}.",
            (one.header[0], *one.header[start:stop]),
            one.align[0] + one.align[start:stop],
            tuple((row[0], *row[start:stop]) for row in one.rows),
        )
        for part, (start, stop) in enumerate(pairwise(edges), 1)
    ]


def _float(one: Cells) -> str:
    lines = [
        r"\begin{table}",
        r"\centering\small",
        rf"\caption{{{escape(one.caption)}}}",
        rf"\label{{tab:{one.name}}}",
        rf"\begin{{tabular}}{{{_columns(one)}}}",
        r"\toprule",
        _row(one.header),
        r"\midrule",
        *map(_row, one.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _longtable(one: Cells) -> str:
    head = _row(one.header)
    lines = [
        rf"\begin{{longtable}}{{{_columns(one)}}}",
        rf"\caption{{{escape(one.caption)}}} \label{{tab:{one.name}}} \\",
        rf"\toprule {head} \midrule \endfirsthead",
        rf"\toprule {head} \midrule \endhead",
        r"\bottomrule \endfoot",
        *map(_row, one.rows),
        r"\end{longtable}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(map(escape, cells)) + r" \\"


def _columns(one: Cells) -> str:
    return one.align.replace("w", r"p{0.4\linewidth}")
