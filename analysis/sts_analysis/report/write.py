"""Writes a report's folder: the page, its JSON, its figures and every number as CSV."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from sts.errors import ArgumentError
from sts.jobs.background import run_in_background
from sts.names import quote
from sts.storage.csv_tables import format_csv
from sts.storage.folders import replace_folder
from sts_analysis.report import json_form
from sts_analysis.report.figures import FIGURES, draw
from sts_analysis.report.page import Link, render
from sts_analysis.report.paper.files import NAMES as PAPER
from sts_analysis.report.schema import Report
from sts_analysis.report.tables import TABLES, Rows, columns, tables

MANY = 10_000
"""Pairs of agents from which on the tables are written beside the rest."""
PAGE = "report.html"
EVIDENCE = "evidence"
NO_PAPER: Mapping[str, bytes] = MappingProxyType({})


class Evidence(NamedTuple):
    """The clips behind a report.

    Attributes:
      folder: that holds them, on the report's disk; it is moved to the report.
      link: what the page says of them.
    """

    folder: Path
    link: Link


def write(
    folder: Path,
    report: Report,
    evidence: Evidence | None = None,
    paper: Mapping[str, bytes] = NO_PAPER,
    *,
    step: Callable[[], None] = lambda: None,
) -> Path:
    """Writes report.html, report.json, tables/*.csv and figures/*.svg, all of them at once.

    Args:
      folder: new, empty, or one that holds a report, which is replaced as a whole. What else lies
        in that stays.
      report: what is written.
      evidence: the clips behind it, which become the folder evidence; None where there are none.
      step: called after each of three parts, for who waits.
      paper: what a paper needs of it, of `sts_analysis.report.paper.files`; by path.

    Returns:
      The path of the page.

    Raises:
      ArgumentError: the folder holds other things and no report.
      OSError: the disk is full or read-only; an earlier report is then as it was.
    """
    check_folder(folder)
    with run_in_background(
        lambda: table_files(report), worth=len(report.comparisons) >= MANY
    ) as tabled:
        drawn = draw(report)
        step()
        written = json_form.text(report).encode()
        page = render(report, drawn.wide, evidence and evidence.link, drawn.narrow).encode()
        files = tabled() | {json_form.FILE: written, PAGE: page}
    step()
    files |= {f"figures/{name}.svg": svg.encode() for name, svg in drawn.wide.items()}
    own = {f"tables/{name}.csv" for name in TABLES} | {f"figures/{name}.svg" for name in FIGURES}
    folders = {EVIDENCE: evidence.folder} if evidence else {}
    own |= PAPER | {json_form.FILE, PAGE, f"{EVIDENCE}/"}
    replace_folder(folder, files | dict(paper), own, folders)
    step()
    return folder / PAGE


def check_folder(folder: Path) -> None:
    """Refuses a folder that a report must not take the place of.

    Raises:
      ArgumentError: it holds other things and no report, of whatever version.
    """
    if not folder.is_dir():
        return
    ours = json_form.is_report(folder / json_form.FILE)
    other = min((path.name for path in folder.iterdir()), default=None)
    if not ours and other is not None:
        raise ArgumentError(
            f"expected a new or empty folder for the report, or one that holds a report; found "
            f"{quote(other)} in {folder}: name another, such as {folder / 'report'}"
        )


def table_files(report: Report) -> dict[str, bytes]:
    """The tables of a report as CSV, by their paths in its folder."""
    return {f"tables/{name}.csv": _csv(rows) for name, rows in tables(report).items()}


def _csv(rows: Rows) -> bytes:
    header = columns(rows)
    return format_csv(header, (map(row.get, header) for row in rows))
