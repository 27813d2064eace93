"""Checks the reports of a workspace: pages and tables say what `report.json` says."""

from pathlib import Path

import sts
from sts.errors import DamagedData
from sts.storage.checks import CheckResult, Findings, list_folders
from sts.storage.files import read_bytes
from sts.storage.workspace import Workspace
from sts_analysis.report import results
from sts_analysis.report.write import EVIDENCE, format_report

_LIVE = "live"
"""Reports that are rebuilt while people annotate."""


def check(workspace: Workspace) -> CheckResult:
    """Check every report; one of this version also against what would be written today."""
    findings, count = Findings(), 0
    folders = [path for path in list_folders(workspace.path("reports")) if path.name != _LIVE]
    folders = [path for path in folders if any(path.iterdir())]
    for folder in folders:
        with findings.collect(folder):
            count += _check_folder(folder)
    return CheckResult({"reports": len(folders), "files": count}, tuple(findings))


def _check_folder(folder: Path) -> int:
    if not (folder / results.FILE).exists():
        raise DamagedData(f"{folder}: {results.FILE} is missing")
    report = results.read_report(folder)
    if (folder / EVIDENCE).exists() and not (folder / EVIDENCE / "index.html").is_file():
        raise DamagedData(f"{folder / EVIDENCE}: index.html is missing")
    if report.provenance.versions.get("sts") != sts.__version__:
        return 0
    files = format_report(report)
    for name, content in files.items():
        if read_bytes(folder / name) != content:
            raise DamagedData(
                f"{folder / name}: differs from what {results.FILE} says; build the report again"
            )
    return len(files)
