"""Erasure of what a person did in live sessions: journals, recordings, and what is made of them.

If it is interrupted, the next call completes it: each step can be repeated, and what the steps are
computed from is erased after them.
"""

import contextlib
import re
import shutil
import time
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from sts.continuations import continuation_store as continuations
from sts.continuations import label_table
from sts.continuations.continuation import HUMAN, Identity
from sts.continuations.human import person_fingerprint
from sts.errors import DamagedData, StsError
from sts.live.interactions import summarise_session
from sts.live.journal import (
    ERASED_FORMAT,
    Event,
    Journal,
    compute_digest,
    encode_events,
    is_open,
    read_events,
)
from sts.live.plans import SESSIONS_FOLDER, load_plan
from sts.live.records import get_journal_path
from sts.live.types import Opening, list_participants
from sts.storage.files import canonical_json, read_bytes, write_atomically
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.suites.drafts import erase_candidates, list_candidate_files
from sts.suites.folders import list_erased
from sts.suites.scenarios import MAX_BYTES, decode_summaries
from sts.suites.suite import Summary
from sts.trajectories import trajectory_store as trajectories

_KEPT = {
    "opened": (*Opening._fields, "started"),
    "step": ("t", "late_ms"),
    "told": ("t", "by", "to", "prompt", "typed"),
    "marked": ("t", "instruction", "mark", "by"),
    "swapped": ("roles",),
    "ended": ("t", "reason"),
    "erased": ("date", "was"),
}
"""Events and fields of a journal that are kept, besides kinds and times."""


class Traces(NamedTuple):
    """Live sessions of a person, and what was made of them."""

    sessions: Mapping[str, Sequence[Event]]  # the events of each, except steps, by id
    recordings: Mapping[str, str]  # the session of each trajectory, by its id
    plays: Mapping[str, str]  # the session of each continuation that the person played, by its id
    # those cut from these, each with the NAME@VERSION of its suite, or "" in a draft
    cut_scenarios: Sequence[tuple[str, Summary]]
    other_sessions: Mapping[str, Sequence[Event]]  # all others, as `sessions`

    @property
    def replays(self) -> dict[str, Sequence[Event]]:
        """The sessions in which others played one of these scenarios."""
        hashes = {scenario.hash for _, scenario in self.cut_scenarios}
        return {id: log for id, log in self.other_sessions.items() if log[0]["scenario"] in hashes}

    @property
    def people(self) -> set[str]:
        """Everyone of whom these sessions and replays have actions or texts."""
        logs = (*self.sessions.values(), *self.replays.values())
        people = (list_participants(log) for log in logs if log[0]["format"] != ERASED_FORMAT)
        return {p.name for participants in people for p in participants if p.acts and p.name}

    @property
    def suites(self) -> dict[str, list[str]]:
        """The ids of the scenarios in frozen suites, by NAME@VERSION."""
        labels = sorted({label for label, _ in self.cut_scenarios if label})
        return {
            label: sorted(s.id for other, s in self.cut_scenarios if other == label)
            for label in labels
        }

    @property
    def in_suites(self) -> dict[str, str]:
        """The sessions of the trajectories and continuations that frozen suites use."""
        used = {
            id for label, scenario in self.cut_scenarios if label for id in _list_origins(scenario)
        }
        return {id: s for id, s in {**self.recordings, **self.plays}.items() if id in used}

    @property
    def recorded(self) -> float:
        """The time, in UTC seconds, at which the first session was opened that a suite uses."""
        opened = (self.sessions[id][0]["started"] for id in self.in_suites.values())
        return min((datetime.fromisoformat(day).timestamp() for day in opened), default=0.0)

    def find_kept(self) -> set[str]:
        """Return the sessions that frozen suites use, and others of the same studies."""
        studies = {id: log[0]["study"] or id for id, log in self.sessions.items()}
        used = {studies[id] for id in self.in_suites.values()}
        return {id for id, study in studies.items() if study in used}

    def without_suites(self) -> "Traces":
        """Return them without what is in frozen suites, or is made of the same recordings."""
        kept = self.in_suites
        rest = {id: s for id, s in self.recordings.items() if id not in kept}
        erased = rest.keys() | self.plays.keys() - kept.keys()
        cut = [(label, s) for label, s in self.cut_scenarios if erased & _list_origins(s)]
        return self._replace(recordings=rest, cut_scenarios=cut)


def _list_origins(scenario: Summary) -> set[str]:
    """Return the trajectory and the continuation, "" without one, that a scenario was cut from."""
    return {scenario.trajectory, str(scenario.provenance.get("continuation", ""))}


def find_traces(workspace: Workspace, pseudonym: str) -> Traces:
    """Find what is left of the live sessions of a person, given by pseudonym.

    Raises:
      DamagedData: a journal is damaged and has the pseudonym; others are left out.
    """
    sessions, others = dict[str, list[Event]](), dict[str, list[Event]]()
    recordings, plays = dict[str, str](), dict[str, str]()
    for path in sorted(workspace.path("live", SESSIONS_FOLDER).glob("*.jsonl")):
        try:
            events = read_events(path)
            summarise_session(str(path), events, None)
        except DamagedData:
            if path.is_file() and pseudonym.encode() in path.read_bytes():
                raise
            continue
        log, scenario = [e for e in events if e["kind"] != "step"], events[0]["scenario"]
        is_theirs = any(p.acts and p.name == pseudonym for p in list_participants(log))
        (sessions if is_theirs else others)[path.stem] = log
        if is_theirs and scenario:
            plays[Identity(scenario, HUMAN, person_fingerprint(pseudonym), 0, 0).id] = path.stem
        elif is_theirs:
            ids = (event.get("record") for event in log if event["kind"] == "stored")
            recordings |= dict.fromkeys(filter(None, ids), path.stem)
    for trajectory in trajectories.load(workspace) if sessions else ():
        if (id := trajectory.provenance.get("session")) in sessions:
            recordings[trajectory.id] = id
    cut = _find_scenarios(workspace, recordings.keys() | plays.keys())
    return Traces(sessions, recordings, plays, cut, others)


def check_unused(workspace: Workspace, traces: Traces) -> None:
    """Raise StsError if a session that would be erased is in use."""
    for id in (*traces.sessions, *traces.replays):
        if is_open(get_journal_path(workspace, id)):
            raise StsError(f"session {id} would be erased, and is in use: end it first")


def find_reports(workspace: Workspace, pseudonym: str, labels: Collection[str]) -> list[Path]:
    """Return the folders of reports of suites, NAME@VERSION, or with a person's pseudonym."""
    suites = (f'"suite": ?"{re.escape(label)}["+]' for label in labels)
    hit = re.compile("|".join([re.escape(pseudonym), *suites]).encode())
    folders = [file.parent for file in sorted(workspace.root.glob("*/**/report.json"))]
    return [
        folder
        for folder in folders
        if any(hit.search(file.read_bytes()) for file in folder.rglob("*") if file.is_file())
    ]


def _find_scenarios(workspace: Workspace, ids: Collection[str]) -> list[tuple[str, Summary]]:
    """Return scenarios cut from trajectories or continuations, or from those of such scenarios."""
    if not ids:
        return []
    erased = {*list_erased(workspace)}  # perhaps by a call that was interrupted
    frozen = sorted(workspace.path("suites").glob("[!.]*/*/scenarios.parquet"))
    files = {file: f"{file.parents[1].name}@{file.parent.name}" for file in frozen}
    scenarios = [
        (label, scenario)
        for file, label in (files | dict.fromkeys(list_candidate_files(workspace), "")).items()
        for scenario in decode_summaries(str(file), read_bytes(file, MAX_BYTES))
    ]
    while True:
        cut = [
            (label, s)
            for label, s in scenarios
            if not _list_origins(s).isdisjoint(ids)
            or ("continuation" in s.provenance and tuple(s.source.split(" ")[2:4]) in erased)
        ]
        before, erased = erased, erased | {(label, s.id) for label, s in cut}
        if erased == before:
            return cut


def forget(workspace: Workspace, pseudonym: str, *, keep_suites: bool = False) -> None:
    """Erase what is left of the live sessions of a person, given by pseudonym.

    Args:
      workspace: of the study.
      pseudonym: of the person, who can no longer sign in.
      keep_suites: if True, what is in frozen suites stays.

    Raises:
      StsError: a session is in use, or a suite cannot be frozen; nothing was erased.
      DamagedData: as of `find_traces`.
      Unavailable: a file cannot be written.
    """
    traces, date = find_traces(workspace, pseudonym), f"{datetime.now(UTC):%Y-%m-%d}"
    kept = traces.find_kept() if keep_suites else set[str]()
    traces = traces.without_suites() if keep_suites else traces
    check_unused(workspace, traces)
    for label in traces.suites:  # first, since it can fail
        suites.freeze_without(workspace, label.partition("@")[0], traces.suites)
    ids = sorted(traces.sessions)
    with contextlib.ExitStack() as stack:  # no server can store a recording meanwhile
        for id, log in {**traces.sessions, **traces.replays}.items():
            if not any(event["kind"] in ("stored", "erased") for event in log):
                journal = Journal(get_journal_path(workspace, id), new=False)
                stack.callback(journal.close)
        for folder in find_reports(workspace, pseudonym, traces.suites):
            for path in sorted(folder.glob("*"), key=lambda path: path.name == "report.json"):
                _remove(path)  # `report.json`, by which a second call finds it, comes last
            with contextlib.suppress(FileNotFoundError):
                folder.rmdir()
        for id in traces.replays:
            _erase_journal(workspace, id, {}, date)
        _erase_recordings(workspace, traces, date)
        first = compute_digest(read_events(get_journal_path(workspace, ids[0]))) if ids else ""
        for id in reversed(ids):  # the first one gives the person's new name
            names = {} if id in kept else {pseudonym: f"erased-{first[:6]}"}
            _erase_journal(workspace, id, names, date)
    for path in sorted(workspace.root.rglob(".*.part")):
        if path.exists() and time.time() - path.stat().st_mtime > 600:  # of a killed process
            _remove(path)


def _remove(path: Path) -> None:
    """Remove a file, or a folder with all that is in it."""
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _erase_recordings(workspace: Workspace, traces: Traces, date: str) -> None:
    """Erase recordings and what is made of them."""
    for table in workspace.path("live").glob("*/interactions.parquet") if traces.sessions else ():
        table.unlink()  # `sts live score` makes it of the journals
    if not (traces.recordings or traces.cut_scenarios):
        return
    shutil.rmtree(workspace.path("frames"), ignore_errors=True)
    hashes = {scenario.hash for _, scenario in traces.cut_scenarios}
    continuations.erase(workspace, hashes)
    for label in traces.suites:
        workspace.path(label_table.table_name(label)).unlink(missing_ok=True)
    erase_candidates(workspace, hashes)
    suites.erase_scenarios(workspace, traces.suites, date)
    log = workspace.path("live", "erased.jsonl")
    lines = log.read_bytes().splitlines(keepends=True) if log.exists() else []
    for id, session in traces.recordings.items():
        lines.append(canonical_json({"trajectory": id, "session": session, "date": date}) + b"\n")
    write_atomically(log, b"".join(dict.fromkeys(lines)))
    trajectories.erase(workspace, traces.recordings)


def _erase_journal(workspace: Workspace, session: str, names: Mapping[str, str], date: str) -> None:
    """Replace a journal by one without world, actions and texts, in which people have new names."""
    path = get_journal_path(workspace, session)
    events = read_events(path)
    people = list_participants(events)
    renamed = [p._replace(name=names.get(p.name, p.name)) for p in people]
    if events[0]["format"] == ERASED_FORMAT and renamed == people:
        return  # erased by a call before
    kept = [
        {key: event[key] for key in event if key in ("kind", "at", *_KEPT[event["kind"]])}
        for event in events
        if event["kind"] in _KEPT
    ]
    prompts = _list_prompts(workspace, events[0]["study"])
    for event in kept:
        if event.get("prompt") not in prompts:  # a forged page can send any text as its prompt
            event.pop("prompt", None)
    kept[0] |= {"format": ERASED_FORMAT, "state": ""}
    kept[0] |= {"participants": [participant._asdict() for participant in renamed]}
    if all(event["kind"] != "ended" for event in kept):
        steps = sum(event["kind"] == "step" for event in kept)
        kept.append({"kind": "ended", "t": steps, "at": kept[-1]["at"], "reason": "abandoned"})
    kept.append({"kind": "erased", "date": date, "was": compute_digest(events)})
    write_atomically(path, encode_events(kept), mode=0o600)


def _list_prompts(workspace: Workspace, study: str) -> set[str]:
    """Return the prompts of a study, which its scores need; none if its plan cannot be read."""
    with contextlib.suppress(StsError):
        return {prompt.text for prompt in load_plan(workspace, study).prompts}
    return set()
