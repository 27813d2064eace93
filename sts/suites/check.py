"""Integrity checks of suites, drafts and tags."""

from __future__ import annotations

from pathlib import Path

from sts.domains import checked
from sts.errors import DamagedData
from sts.storage.checks import Checked, Findings, folders
from sts.storage.files import content_hash
from sts.storage.workspace import Workspace
from sts.suites import scenarios as files
from sts.suites import store, tags
from sts.suites.drafts import find_draft
from sts.suites.lint import lint_scenarios


def check_suites(workspace: Workspace) -> Checked:
    """Check the hashes of every suite version in a workspace, and replay it to each takeover."""
    findings, count = Findings(), 0
    versions = [version for name in folders(workspace.path("suites")) for version in folders(name)]
    for folder in versions:
        with findings.of(folder):
            suite = store.read(folder)
            count += len(suite.scenarios)
            if suite.label != f"{folder.parent.name}@{folder.name}":
                raise DamagedData(f"{folder} holds {suite.label} instead")
            findings += [f"{suite.label}: {fault}" for fault in lint_scenarios(suite.scenarios)]
    return Checked({"versions": len(versions), "scenarios": count}, tuple(findings))


def check_drafts(workspace: Workspace) -> Checked:
    """Check the hash of every candidate, and the name of each file against its content."""
    findings, count = Findings(), 0
    drafts = folders(workspace.path("drafts"))
    for folder in drafts:
        with findings.of(folder):
            draft = find_draft(workspace, folder.name)
            if draft is None:
                raise DamagedData(f"{folder}: draft.json is missing")
            draft.inherited_ids()
            root = workspace.path(draft.folder)
            for part, number in draft.parts.items():
                with findings.of(root / part):
                    count += _check_candidates(root / part, number)
            for file in sorted(root.glob("edited/*.parquet")):
                with findings.of(file):
                    count += _check_candidates(file, 1)
    return Checked({"drafts": len(drafts), "candidates": count}, tuple(findings))


def _check_candidates(file: Path, number: int) -> int:
    """Check that a file holds the candidates from whose hashes it is named; return `number`."""
    hashes = [scenario.row_hash for scenario in files.read(file, checked)]
    name = content_hash(*(hash.encode() for hash in hashes))[:24]
    if len(hashes) != number or file.stem not in (name, *hashes[:1]):
        raise DamagedData(
            f"{file}: expected the {number} candidates it is named after, found others"
        )
    return number


def check_tags(workspace: Workspace) -> Checked:
    """Check that the tags of each suite can be read."""
    findings, count = Findings(), 0
    paths = sorted(workspace.path("tags").glob("*.json"))
    for file in paths:
        with findings.of(file):
            count += len(tags.read(workspace, file.stem).ids)
    return Checked({"files": len(paths), "tags": count}, tuple(findings))
