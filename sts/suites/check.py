"""Whether suites, drafts and tags are what was frozen, mined and said."""

from __future__ import annotations

from pathlib import Path

from sts.domains import checked
from sts.errors import DamagedData
from sts.storage.checks import Checked, Findings, folders
from sts.storage.files import content_hash, regular_bytes
from sts.storage.workspace import Workspace
from sts.suites import scenarios as files
from sts.suites import store, tags
from sts.suites.drafts import find
from sts.suites.lint import lint


def check_suites(workspace: Workspace) -> Checked:
    """Hold every version frozen in a workspace to its hashes, and replays it to each takeover."""
    findings, count = Findings(), 0
    every = [one for name in folders(workspace.path("suites")) for one in folders(name)]
    for folder in every:
        with findings.of(folder):
            suite = store.read(folder)
            count += len(suite.scenarios)
            if suite.label != f"{folder.parent.name}@{folder.name}":
                raise DamagedData(f"{folder} says that it is {suite.label}")
            findings += [f"{suite.label}: {fault}" for fault in lint(suite.scenarios)]
    return Checked({"versions": len(every), "scenarios": count}, tuple(findings))


def check_drafts(workspace: Workspace) -> Checked:
    """Hold every candidate to its hash, and each file to the name that it has by what is in it."""
    findings, count = Findings(), 0
    every = folders(workspace.path("drafts"))
    for folder in every:
        with findings.of(folder):
            draft = find(workspace, folder.name)
            if draft is None:
                raise DamagedData(f"{folder}: draft.json is missing")
            draft.inherited()
            own = workspace.path(draft.folder)
            for part, number in draft.parts.items():
                with findings.of(own / part):
                    count += _candidates(own / part, number)
            for file in sorted(own.glob("edited/*.parquet")):
                with findings.of(file):
                    count += _candidates(file, 1)
    return Checked({"drafts": len(every), "candidates": count}, tuple(findings))


def _candidates(file: Path, number: int) -> int:
    every = files.unpacked(str(file), regular_bytes(file, files.LARGEST), check=checked)
    marks = [one.row_hash for one in every]
    named = content_hash(*(mark.encode() for mark in marks))[:24]
    if len(every) != number or file.stem not in (named, *marks[:1]):
        raise DamagedData(f"{file}: expected the {number} candidates of its name, found others")
    return number


def check_tags(workspace: Workspace) -> Checked:
    """Read what is said about the scenarios of each suite."""
    findings, count = Findings(), 0
    every = sorted(workspace.path("tags").glob("*.json"))
    for file in every:
        with findings.of(file):
            count += len(tags.read(workspace, file.stem).ids)
    return Checked({"files": len(every), "tags": count}, tuple(findings))
