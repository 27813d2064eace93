"""The folder `paper/` of a report: figures, tables, methods, references, how to repeat it."""

from sts_analysis.report.paper import latex, markdown, methods, references, repeat
from sts_analysis.report.paper.figures import FIGURES
from sts_analysis.report.paper.picture import FORMATS, Picture
from sts_analysis.report.paper.tables import MAKERS, tables
from sts_analysis.report.schema import Report

FOLDER = "paper"
COLUMNS = {1: "one_column", 2: "two_columns"}
_TEXTS = ("captions.md", "figures.tex", "methods.tex", "methods.txt", "references.bib", "repeat.md")
NAMES = frozenset(
    {f"{FOLDER}/{name}" for name in _TEXTS}
    | {f"{FOLDER}/{n}_{c}.{s}" for n in FIGURES for c in COLUMNS.values() for s in FORMATS}
    | {f"{FOLDER}/{name}.{suffix}" for name in MAKERS for suffix in ("tex", "md")}
)
"""Every file that the folder can have."""


def files(report: Report, *, title: str = "") -> dict[str, bytes]:
    """The files of the folder, by their paths in the report's.

    Args:
      report: what they are about.
      title: above every figure; may be empty.
    """
    captions = ["# Captions", ""]
    texts: dict[str, str] = {}
    made: dict[str, bytes] = {}
    figures = []
    for name, draw in FIGURES.items():
        for columns, called in COLUMNS.items():
            one = draw(report, columns=columns, title=title)
            if isinstance(one, Picture):
                for suffix in FORMATS:
                    made[f"{name}_{called}.{suffix}"] = one.file(suffix)
        if isinstance(one, Picture):
            captions += [f"**{name}** {markdown.escape(one.caption)}", ""]
            figures.append(_included(one))
        else:
            captions += [f"**{name}** is left out: {markdown.escape(one)}.", ""]
    for name, table in tables(report).items():
        texts |= {f"{name}.tex": table.latex(), f"{name}.md": table.markdown()}
    texts |= {
        "captions.md": "\n".join(captions),
        "figures.tex": "\n".join(["% needs \\usepackage{graphicx}", *figures]),
        "methods.tex": methods.as_latex(report),
        "methods.txt": methods.plain(report),
        "references.bib": references.bibtex(methods.cited(report)),
        "repeat.md": repeat.repeat(report),
    }
    made |= {name: text.encode() for name, text in texts.items()}
    return {f"{FOLDER}/{name}": content for name, content in made.items()}


def _included(one: Picture) -> str:
    lines = [
        r"\begin{figure*}",
        r"\centering",
        rf"\includegraphics[width=\textwidth]{{{one.name}_{COLUMNS[2]}}}",
        rf"\caption{{{latex.escape(one.caption)}}}",
        rf"\label{{fig:{one.name}}}",
        r"\end{figure*}",
    ]
    return "\n".join(lines) + "\n"
