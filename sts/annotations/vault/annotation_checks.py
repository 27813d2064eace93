"""Integrity check of the annotation database and of the files that it refers to."""

from pathlib import Path

from sqlalchemy import Connection, select

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.database import Database
from sts.annotations.database.presence import DATABASE_FILE, DELETED_RECORD, NEW_RECORD, RECORD_FILE
from sts.annotations.database.schema import copies, decisions, item_suites, items
from sts.annotations.log.decisions import load_decisions
from sts.annotations.vault import digests
from sts.annotations.vault.history import History, verify
from sts.continuations import index as indices
from sts.errors import DamagedData, StsError
from sts.storage.checks import CheckResult, Findings
from sts.storage.files import check_inside, read_bytes
from sts.storage.workspace import Workspace
from sts.suites.decisions import fold_decisions
from sts.suites.drafts import find_draft, find_frozen_version
from sts.suites.folders import list_draft_folders, list_erased, list_versions


def check_annotations(workspace: Workspace) -> CheckResult:
    """Verify the database and every draft's decisions, and look for all files they refer to."""
    findings, counts = Findings(), dict[str, int]()
    with findings.collect("annotation database"):
        check_inside(workspace.path(DATABASE_FILE))
        store = AnnotationStore.find(workspace)
        if store is not None:
            with store:
                history = verify(store.database)
                findings += history.findings
                findings += find_loss(history, workspace)
                decided, problems = _check_decisions(store.database, workspace)
                findings += problems
                with store.database.read() as connection:
                    findings += _find_missing(connection, workspace)
            counts = {"events": history.events, "clips": len(history.clips)}
            counts |= {"authors": len(history.authors), "decisions": decided}
    return CheckResult(counts, tuple(findings))


def _check_decisions(database: Database, workspace: Workspace) -> tuple[int, list[str]]:
    """Return the number of decisions, and findings about them or the files they refer to."""
    findings, count = Findings(), 0
    open_drafts = {}
    for folder in list_draft_folders(workspace):
        with findings.collect(folder):
            draft = find_draft(workspace, folder.name)
            if draft is not None and find_frozen_version(draft) is None:
                open_drafts[draft.id] = draft
    with database.read() as connection:
        for id in connection.execute(select(decisions.c.draft).distinct()).scalars().all():
            with findings.collect(f"draft {open_drafts[id].name if id in open_drafts else id}"):
                log = load_decisions(connection, id)
                count += len(log)
                for candidate, state in fold_decisions(log).items():
                    draft = open_drafts.get(id)
                    if draft and candidate not in draft.provenance.get("erased", ()):
                        draft.candidate(candidate, state.scenario)
    return count, findings


def _find_missing(connection: Connection, workspace: Workspace) -> list[str]:
    """Report judged suites and continuations that are missing from the workspace."""
    lines = []
    existing = {
        f"{name}@{number}"
        for name, numbers in list_versions(workspace).items()
        for number in numbers
    }
    suites = set(connection.execute(select(item_suites.c.suite).distinct()).scalars())
    for suite in sorted(suite for suite in suites if suite.partition("+")[0] not in existing):
        lines.append(f"suite {suite}: it is missing, but its clips are queued")
    try:
        names = indices.from_parts(workspace.store).id_set
    except StsError:  # reported by the check of continuations
        return lines
    rows = connection.execute(select(copies.c.continuation, items.c.scenario_hash).join(items))
    erased = {*list_erased(workspace).values()}
    ids = {id for id, scenario in rows if scenario not in erased}
    missing = sorted(ids - {name.hex() for name in names})
    if missing:
        lines.append(
            f"{len(missing)} continuations with queued clips are missing, such as {missing[0]}"
        )
    return lines


def find_loss(history: History, workspace: Workspace) -> list[str]:
    """Report what reports or the last export used and the database lacks, as in an old copy."""
    findings, record = Findings(), workspace.path(RECORD_FILE)
    for file in (record, *sorted(workspace.path("reports").glob("*/report.json"))):
        try:
            expected = digests.read_digests(file)
        except (DamagedData, FileNotFoundError):  # or a report that is not of a workspace
            findings += _describe_record(file) if file == record else []
            continue
        place = RECORD_FILE if file == record else str(file.parent)
        findings += [
            f"{place}: {line}" for line in digests.iter_chain_differences(history, expected)
        ]
    return findings


def _describe_record(file: Path) -> list[str]:
    """Report that the record of a study has no digests because it was deleted or damaged."""
    try:
        content = read_bytes(file, len(DELETED_RECORD))
    except (DamagedData, FileNotFoundError):  # longer, or no regular file
        content = b""
    lost = "it was missing, with the digests of the last export; export again"
    found = {NEW_RECORD: "", DELETED_RECORD: lost}.get(content, "it is damaged; export again")
    return [f"{RECORD_FILE}: {found}"] if found else []
