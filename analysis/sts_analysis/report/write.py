"""Writes a report's folder: two pages, JSON, and every list of numbers as CSV."""

from pathlib import Path

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
FILES = (PAGE, APPENDIX, results.FILE, results.SCHEMA_FILE)
PARTS = (*FILES, "tables", "paper", "media", EVIDENCE)
"""Everything in a report's folder that belongs to the report."""


def write_report(
    folder: Path,
    report: Report,
    study: Study | None = None,
    *,
    paper: bool = False,
    title: str = "",
    evidence: Path | None = None,
) -> Path:
    """Write a report's folder as a whole; return the path of its page.

    Args:
      folder: new, empty, or one that holds a report, which is replaced. Other files stay.
      report: all results.
      study: that they were computed from, for media, and for tables that the report shortens; None
        for a report that was loaded.
      paper: whether to write files for a publication.
      title: above their figures.
      evidence: a folder of supporting clips, which is moved; None without.

    Raises:
      ArgumentError: the folder holds other things and no report.
      OSError: the disk is full or read-only; an earlier report is then as it was.
    """
    check_folder(folder)
    files = format_report(report, study)
    if study is not None:
        files |= {name: path.read_bytes() for name, path in list_media(study).items()}
    if paper:
        from sts_analysis.report.paper.files import format_paper  # draws, which takes a second

        files |= format_paper(report, title=title)
    folders = {EVIDENCE: evidence} if evidence else {}
    owned = {*FILES, "tables/", "media/", f"{EVIDENCE}/", *PAPER_FILES}
    replace_folder(folder, files, owned, folders)
    return folder / PAGE


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
