"""Writes a report's folder: two pages, JSON, and every list of numbers as CSV."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from sts.errors import ArgumentError
from sts.names import quote
from sts.storage.folders import replace_folder
from sts_analysis.report import results
from sts_analysis.report.core import Report, Study
from sts_analysis.report.csv_files import format_tables
from sts_analysis.report.document import APPENDIX, PAGE, render_appendix, render_page
from sts_analysis.report.paper import NAMES as PAPER_FILES
from sts_analysis.report.sections.clips import list_media

EVIDENCE = "evidence"
NOTHING: Mapping[str, bytes] = MappingProxyType({})
PARTS = (
    *(PAGE, APPENDIX, results.FILE, results.SCHEMA_FILE),
    *("tables", "paper", "media", EVIDENCE),
)
"""Everything in a report's folder that belongs to the report."""


class Attached(NamedTuple):
    """What lies in the folder beside the report itself.

    Attributes:
      files: by their paths in the folder, below `paper/` or `media/`.
      evidence: a folder of supporting clips, which is moved; None without.
    """

    files: Mapping[str, bytes] = NOTHING
    evidence: Path | None = None


def write_report(
    folder: Path, report: Report, study: Study | None = None, attached: Attached | None = None
) -> Path:
    """Write a report's folder as a whole; return the path of its page.

    Args:
      folder: new, empty, or one that holds a report, which is replaced. Other files stay.
      report: all results.
      study: that they were computed from, for tables that the report shortens; None without.
      attached: what lies beside them.

    Raises:
      ArgumentError: the folder holds other things and no report.
      OSError: the disk is full or read-only; an earlier report is then as it was.
    """
    check_folder(folder)
    attached = attached or Attached()
    files = format_report(report, study)
    folders = {EVIDENCE: attached.evidence} if attached.evidence else {}
    owned = {
        PAGE,
        APPENDIX,
        results.FILE,
        results.SCHEMA_FILE,
        "tables/",
        "media/",
        f"{EVIDENCE}/",
        *PAPER_FILES,
    }
    replace_folder(folder, {**files, **attached.files}, owned, folders)
    return folder / PAGE


def attach(
    report: Report, study: Study | None, *, paper: bool = False, title: str = ""
) -> Attached:
    """Return what lies in the folder of a report beside it, but for supporting clips.

    Args:
      report: all results.
      study: that they were computed from; None for a report that was loaded.
      paper: whether there are files for a publication.
      title: above their figures.
    """
    files: dict[str, bytes] = {}
    if study is not None:
        files |= {name: path.read_bytes() for name, path in list_media(study).items()}
    if paper:
        from sts_analysis.report.paper.files import format_paper  # draws, which takes a second

        files |= format_paper(report, title=title)
    return Attached(files)


def format_report(report: Report, study: Study | None = None) -> dict[str, bytes]:
    """Return the pages, the JSON and the tables of a report by their paths in the folder."""
    tables = {f"tables/{name}": content for name, content in format_tables(report, study).items()}
    return {
        PAGE: render_page(report).encode(),
        APPENDIX: render_appendix(report).encode(),
        results.FILE: results.encode(report),
        results.SCHEMA_FILE: results.encode_schema(),
        **tables,
    }


def check_folder(folder: Path) -> None:
    """Refuse a folder that a report must not take the place of.

    Raises:
      ArgumentError: it holds other things and no report, of whatever version.
    """
    if not folder.is_dir():
        return
    other = min((path.name for path in folder.iterdir()), default=None)
    if other is not None and not results.is_report(folder / results.FILE):
        raise ArgumentError(
            f"expected a new or empty folder for the report, or one that holds a report; found "
            f"{quote(other)} in {folder}: name another, such as {folder / 'report'}"
        )
