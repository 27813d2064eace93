"""Erasure of what a person did in live sessions: journals, recordings, and what is made of them.

If it is interrupted, the next call completes it: each step can be repeated, and what the steps are
computed from is erased after them.
"""

import contextlib
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from sts.continuations import store as continuations
from sts.errors import StsError
from sts.live.interactions import collect_sessions, read_journals, write_interactions
from sts.live.journal import ERASED_FORMAT, Journal, encode_events, is_open
from sts.live.plans import list_studies, load_plan
from sts.live.records import get_journal_path
from sts.live.types import Opening, list_participants
from sts.storage.files import canonical_json, read_bytes, write_atomically
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.drafts import erase_candidates, list_candidate_files
from sts.suites.folders import list_erased
from sts.suites.scenarios import MAX_BYTES, decode_summaries
from sts.suites.types import Summary
from sts.trajectories import store as trajectories

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
    """Live sessions of a person, and what was made of them.

    Attributes:
      sessions: when each was opened, in UTC seconds, by id.
      recordings: the session of each trajectory, by its id.
      cut: scenarios cut from these, each with the NAME@VERSION of its suite, or "" in a draft.
    """

    sessions: Mapping[str, float]
    recordings: Mapping[str, str]
    cut: Sequence[tuple[str, Summary]]

    @property
    def suites(self) -> dict[str, list[str]]:
        """The ids of the scenarios in frozen suites, by NAME@VERSION."""
        labels = sorted({label for label, _ in self.cut if label})
        return {label: sorted(s.id for other, s in self.cut if other == label) for label in labels}

    @property
    def in_suites(self) -> list[str]:
        """The trajectories that frozen suites use."""
        return sorted({s.trajectory for label, s in self.cut if label} & self.recordings.keys())

    @property
    def recorded(self) -> float:
        """The time, in UTC seconds, at which the first session was opened that a suite uses."""
        return min((self.sessions[self.recordings[id]] for id in self.in_suites), default=0.0)

    def without_suites(self) -> "Traces":
        """Return them without what is in frozen suites, or is made of the same trajectories."""
        rest = {id: s for id, s in self.recordings.items() if id not in self.in_suites}
        return Traces(
            self.sessions, rest, [pair for pair in self.cut if pair[1].trajectory in rest]
        )


def find_traces(workspace: Workspace, person: str) -> Traces:
    """Find what is left of the live sessions of a person, given by pseudonym.

    Raises:
      StsError: one of their sessions is in use.
    """
    sessions: dict[str, float] = {}
    recordings: dict[str, str] = {}
    for file, events in read_journals(workspace):
        if any(p.acts and p.name == person for p in list_participants(events)):
            if is_open(path := Path(file)):
                raise StsError(f"session {path.stem} is in use: end their live session first")
            sessions[path.stem] = datetime.fromisoformat(events[0]["started"]).timestamp()
            if events[0]["activity"] != "scenario":  # the record of which is a continuation
                ids = (event["record"] for event in events if event["kind"] == "stored")
                recordings |= dict.fromkeys(filter(None, ids), path.stem)
    for trajectory in trajectories.load(workspace) if sessions else ():
        if (session := trajectory.provenance.get("session")) in sessions:
            recordings[trajectory.id] = session
    return Traces(sessions, recordings, _find_scenarios(workspace, recordings))


def _find_scenarios(workspace: Workspace, ids: Mapping[str, str]) -> list[tuple[str, Summary]]:
    """Return scenarios cut from trajectories, or from failed continuations of such scenarios."""
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
            if s.trajectory in ids
            or ("continuation" in s.provenance and tuple(s.source.split(" ")[2:4]) in erased)
        ]
        before, erased = erased, erased | {(label, s.id) for label, s in cut}
        if erased == before:
            return cut


def forget(workspace: Workspace, person: str, *, keep: bool = False) -> None:
    """Erase what is left of the live sessions of a person, given by pseudonym.

    Args:
      workspace: of the study.
      person: who can no longer sign in.
      keep: if True, what is in frozen suites stays.

    Raises:
      StsError: one of their sessions is in use, or a suite cannot be frozen.
      Unavailable: a file cannot be written.
    """
    traces, date = find_traces(workspace, person), f"{datetime.now(UTC):%Y-%m-%d}"
    with contextlib.ExitStack() as stack:  # no server can store a recording meanwhile
        paths = [get_journal_path(workspace, session) for session in sorted(traces.sessions)]
        journals = [Journal(path, new=False) for path in paths]
        for journal in journals:
            stack.callback(journal.close)
        _erase_recordings(workspace, traces.without_suites() if keep else traces, date)
        for journal in reversed(journals):  # the first one gives the person's new name
            _erase_journal(journal, person, f"erased-{journals[0].digest[:6]}", date)
    for study in list_studies(workspace):
        if (table := workspace.path("live", study, "interactions.parquet")).exists():
            sessions = collect_sessions(workspace, load_plan(workspace, study))
            write_interactions(table, [row for s in sessions for row in s.interactions])


def _erase_recordings(workspace: Workspace, traces: Traces, date: str) -> None:
    """Erase recordings and what is made of them."""
    if not (traces.recordings or traces.cut):
        return
    for evidence in sorted(workspace.path("reports").glob("**/evidence")):
        name, _, version = evidence.parent.name.partition("+")[0].rpartition("-")
        if f"{name}@{version}" in traces.suites:
            shutil.rmtree(evidence)
    shutil.rmtree(workspace.path("frames"), ignore_errors=True)
    hashes = {scenario.hash for _, scenario in traces.cut}
    continuations.erase(workspace, hashes)
    erase_candidates(workspace, hashes)
    suites.erase_scenarios(workspace, traces.suites, date)
    log = workspace.path("live", "erased.jsonl")
    lines = log.read_bytes().splitlines(keepends=True) if log.exists() else []
    for id, session in traces.recordings.items():
        lines.append(canonical_json({"trajectory": id, "session": session, "date": date}) + b"\n")
    write_atomically(log, b"".join(dict.fromkeys(lines)))
    trajectories.erase(workspace, traces.recordings)


def _erase_journal(journal: Journal, person: str, name: str, date: str) -> None:
    """Replace a journal by one without world, actions and texts, in which a person has a name."""
    kept = [
        {key: event[key] for key in event if key in ("kind", "at", *_KEPT[event["kind"]])}
        for event in journal.events
        if event["kind"] in _KEPT
    ]
    people = list_participants(journal.events)
    renamed = [p._replace(name=name)._asdict() if p.name == person else p._asdict() for p in people]
    kept[0] |= {"format": ERASED_FORMAT, "state": "", "participants": renamed}
    if all(event["kind"] != "ended" for event in kept):
        steps = sum(event["kind"] == "step" for event in kept)
        kept.append({"kind": "ended", "t": steps, "at": kept[-1]["at"], "reason": "abandoned"})
    kept.append({"kind": "erased", "date": date, "was": journal.digest})
    write_atomically(journal.path, encode_events(kept), mode=0o600)
