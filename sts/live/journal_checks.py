"""Integrity checks of live sessions: plans, journals, and the records that they name."""

import functools
from collections.abc import Callable
from pathlib import Path

from sts.continuations.continuation_store import find_continuation
from sts.continuations.index import Index, from_parts
from sts.errors import DamagedData
from sts.live.interactions import summarise_session
from sts.live.journal import is_open, read_events
from sts.live.plans import SESSIONS_FOLDER, list_studies, load_plan
from sts.live.types import Opening
from sts.storage.checks import CheckResult, Findings
from sts.storage.workspace import Workspace
from sts.trajectories.trajectory_store import find_trajectory


def check(workspace: Workspace) -> CheckResult:
    """Check the plan of every study, and every journal with the record of its session."""
    findings, studies = Findings(), list_studies(workspace)
    for name in studies:
        with findings.collect(workspace.path("live", name, "plan.json")):
            load_plan(workspace, name)
    read_index = functools.cache(lambda: from_parts(workspace.store))
    paths = sorted(workspace.path("live", SESSIONS_FOLDER).glob("*.jsonl"))
    for path in paths:
        with findings.collect(path):
            _check_session(workspace, path, read_index)
    return CheckResult({"plans": len(studies), "sessions": len(paths)}, tuple(findings))


def _check_session(workspace: Workspace, path: Path, read_index: Callable[[], Index]) -> None:
    """Check a journal; the record of its session must exist and have the same actions."""
    is_played = is_open(path)
    events = read_events(path)
    ended, opening = summarise_session(str(path), events, None).ended, Opening.from_json(events[0])
    if opening.id != path.stem:
        raise DamagedData(f"expected the session {path.stem}, found {opening.id}")
    if opening.study:
        load_plan(workspace, opening.study)
    if is_played or not ended or events[-1]["kind"] == "erased":
        return
    actions = [event.get("actions") for event in events if event["kind"] == "step"]
    is_scenario = opening.activity == "scenario"
    has_record = bool(actions) and (ended == "finished" or not is_scenario)
    stored = [str(event.get("record", "")) for event in events if event["kind"] == "stored"]
    if not stored or (has_record and not stored[0]):
        raise DamagedData("its record is not stored; start the server, which stores it")
    if has_record:
        record = (
            find_continuation(workspace, stored[0], read_index())
            if is_scenario
            else find_trajectory(workspace, stored[0])
        )
        if record.episode.actions.tolist() != actions:
            raise DamagedData(f"its record {record.id} has other actions")
