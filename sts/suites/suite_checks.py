"""Integrity checks of suites, drafts and tags."""

from pathlib import Path

from sts.domains import validate_episodes
from sts.errors import DamagedData, ErasedSuite
from sts.storage.checks import CheckResult, Findings, list_folders
from sts.storage.files import content_hash
from sts.storage.workspace import Workspace
from sts.suites import scenarios as files
from sts.suites import suite_store as store
from sts.suites import tags
from sts.suites.drafts import find_draft
from sts.suites.lint import lint_scenarios
from sts.suites.statement import read_words


def check_suites(workspace: Workspace) -> CheckResult:
    """Check the hashes of every suite version in a workspace, and replay it to each takeover."""
    findings, count, erased = Findings(), 0, 0
    versions = [
        version for name in list_folders(workspace.path("suites")) for version in list_folders(name)
    ]
    for folder in versions:
        with findings.collect(folder):
            try:
                suite = store.read(folder)
            except ErasedSuite:
                erased += 1
                continue
            count += len(suite.scenarios)
            if suite.label != f"{folder.parent.name}@{folder.name}":
                raise DamagedData(f"{folder} holds {suite.label} instead")
            read_words(folder)
            findings += [f"{suite.label}: {fault}" for fault in lint_scenarios(suite.scenarios)]
    counts = {"versions": len(versions), "scenarios": count}
    counts |= {"erased versions": erased} if erased else {}
    return CheckResult(counts, tuple(findings))


def check_drafts(workspace: Workspace) -> CheckResult:
    """Check the hash of every candidate, and the name of each file against its content."""
    findings, count = Findings(), 0
    drafts = list_folders(workspace.path("drafts"))
    for folder in drafts:
        with findings.collect(folder):
            draft = find_draft(workspace, folder.name)
            if draft is None:
                raise DamagedData(f"{folder}: draft.json is missing")
            draft.inherited_ids()
            root = workspace.path(draft.folder)
            for part, number in draft.parts.items():
                with findings.collect(root / part):
                    count += _check_candidates(root / part, number)
            for file in sorted(root.glob("edited/*.parquet")):
                with findings.collect(file):
                    count += _check_candidates(file, 1)
    return CheckResult({"drafts": len(drafts), "candidates": count}, tuple(findings))


def _check_candidates(file: Path, number: int) -> int:
    """Check that a file holds the candidates from whose hashes it is named; return `number`."""
    hashes = [scenario.row_hash for scenario in files.read(file, validate_episodes)]
    name = content_hash(*(hash.encode() for hash in hashes))[:24]
    if len(hashes) != number or file.stem not in (name, *hashes[:1]):
        raise DamagedData(
            f"{file}: expected the {number} candidates it is named after, found others"
        )
    return number


def check_tags(workspace: Workspace) -> CheckResult:
    """Check that the tags of each suite can be read."""
    findings, count = Findings(), 0
    paths = sorted(workspace.path("tags").glob("*.json"))
    for file in paths:
        with findings.collect(file):
            count += len(tags.read(workspace, file.stem).ids)
    return CheckResult({"files": len(paths), "tags": count}, tuple(findings))
