"""Whether the reports of a workspace are what was written: each table what `report.json` says."""

from pathlib import Path

import sts
from sts.errors import DamagedData
from sts.storage.checks import CheckResult, Findings, list_folders
from sts.storage.files import read_bytes
from sts.storage.workspace import Workspace
from sts_analysis.report import json_form
from sts_analysis.report.write import EVIDENCE, PAGE, table_files

_LIVE = "live"
"""Reports that are made again while people judge."""


def check(workspace: Workspace) -> CheckResult:
    """Reads every report; of this version's, holds `report.json` and each table to the other."""
    findings, count = Findings(), 0
    every = [one for one in list_folders(workspace.path("reports")) if one.name != _LIVE]
    for folder in every:
        with findings.collect(folder):
            count += _look(folder)
    return CheckResult({"reports": len(every), "tables": count}, tuple(findings))


def _look(folder: Path) -> int:
    """Returns how many tables were held to the report; raises where one is not what it says."""
    if not (folder / json_form.FILE).exists():
        raise DamagedData(f"{folder}: {json_form.FILE} is missing")
    report = json_form.read(folder)
    if read_bytes(folder / PAGE)[:15].lower() != b"<!doctype html>":
        raise DamagedData(f"{folder / PAGE}: expected the report's page")
    if (folder / EVIDENCE).exists() and not (folder / EVIDENCE / "index.html").is_file():
        raise DamagedData(f"{folder / EVIDENCE}: index.html is missing")
    if report.provenance.versions.get("sts") != sts.__version__:
        return 0
    made = table_files(report) | {json_form.FILE: json_form.text(report).encode()}
    for name, raw in made.items():
        if read_bytes(folder / name) != raw:
            raise DamagedData(
                f"{folder / name}: differs from what {json_form.FILE} says; make the report again"
            )
    return len(made) - 1
