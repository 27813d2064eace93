"""The folder `paper/` of a report: figures, tables, methods, references, how to repeat it."""

from sts_analysis.report.core import Report
from sts_analysis.report.paper import COLUMNS, FOLDER, FORMATS, latex, methods, references, repeat
from sts_analysis.report.paper.figures import draw_figures
from sts_analysis.report.paper.picture import Picture
from sts_analysis.report.paper.tables import list_tables


def format_paper(report: Report, *, title: str = "") -> dict[str, bytes]:
    """Return the files of the folder, by their paths in the report's; `title` is on each figure."""
    files: dict[str, bytes] = {}
    captions, includes = ["# Captions", ""], [r"% needs \usepackage{graphicx}"]
    for columns, width in COLUMNS.items():
        for picture in draw_figures(report, columns=columns, title=title):
            for suffix in FORMATS:
                files[f"{picture.name}_{width}.{suffix}"] = picture.encode(suffix)
            if columns == max(COLUMNS):
                captions += [f"{picture.name}: {picture.caption}", ""]
                includes.append(_include(picture, f"{picture.name}_{width}"))
    for name, table in list_tables(report).items():
        files[f"table_{name}.tex"] = table.latex().encode()
        files[f"table_{name}.csv"] = table.csv()
        captions += [f"table_{name}: {table.caption}", ""]
    texts = {
        "captions.md": "\n".join(captions),
        "figures.tex": "\n".join(includes),
        "methods.tex": methods.format_latex(report),
        "methods.txt": methods.format_plain(report),
        "references.bib": references.format_bibtex(methods.list_cited(report)),
        "repeat.md": repeat.format_instructions(report),
    }
    files |= {name: text.encode() for name, text in texts.items()}
    return {f"{FOLDER}/{name}": content for name, content in files.items()}


def _include(picture: Picture, file: str) -> str:
    lines = [
        r"\begin{figure*}",
        r"\centering",
        rf"\includegraphics[width=\textwidth]{{{file}}}",
        rf"\caption{{{latex.escape(picture.caption)}}}",
        rf"\label{{fig:{picture.name}}}",
        r"\end{figure*}",
    ]
    return "\n".join(lines) + "\n"
