"""The table of interactions, `interactions/1`: a row per instruction of a live session.

It is derived from journals, which stay the source of truth.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

import msgspec
import pyarrow as pa

from sts.errors import DamagedData
from sts.live.journal import Event, read_events
from sts.live.plans import SESSIONS_FOLDER, Plan
from sts.storage import parquet
from sts.storage.workspace import Workspace

FORMAT, VERSION = "interactions", 1
UNMARKED = "unmarked"
COMPLETE = ("finished", "time", "left", "agent failed")
"""Reasons of an end after which a session is scored; one that was abandoned or never ended broke
off."""
LATE = 0.2
"""Share of a tick by which a step that counts as late exceeds it."""
Mark = Literal["success", "failure", "cannot_tell"]
T = TypeVar("T")


class Interaction(NamedTuple):
    """One instruction.

    Attributes:
      session: id of the session.
      study: its name, or "".
      practice: True if the session is not scored.
      ended: why the session ended; "" if it broke off.
      person: pseudonym of the setter.
      setter_kind: "human", "script" or "agent".
      agent: name of the participant who was asked.
      fingerprint: of the agent.
      agent_kind: "agent", "human", "script" or "empty".
      domain: of the world.
      order: place of the session among the person's in the study, from 1; 0 outside a study and for
        practice.
      instruction: index in the session.
      text: the wording.
      prompt: from which the setter improvised, or "".
      kind: of the prompt, or "".
      difficulty: of the prompt, or "".
      typed: "free" or "completion".
      start: step at which it was given.
      end: step of the mark, else of the next instruction or of the session's end.
      start_s: seconds since the session was opened.
      end_s: the same of the end.
      mark: "success", "failure", "cannot_tell" or "unmarked".
      marked_by: name of the participant who marked it, or "".
      marker_kind: of that participant, or "".
      note_given: True if a note was written.
      latency_s: from start to mark; NaN without a mark.
      late_ticks: steps between start and end that came late.
      ticks: steps between start and end.
    """

    session: str
    study: str
    practice: bool
    ended: str
    person: str
    setter_kind: str
    agent: str
    fingerprint: str
    agent_kind: str
    domain: str
    order: int
    instruction: int
    text: str
    prompt: str
    kind: str
    difficulty: str
    typed: str
    start: int
    end: int
    start_s: float
    end_s: float
    mark: str
    marked_by: str
    marker_kind: str
    note_given: bool
    latency_s: float
    late_ticks: int
    ticks: int

    @property
    def scored(self) -> bool:
        """True if the session is complete and not for practice."""
        return not self.practice and self.ended in COMPLETE


_ARROW = {str: pa.string(), bool: pa.bool_(), int: pa.int32(), float: pa.float64()}
SCHEMA = {name: _ARROW[kind] for name, kind in Interaction.__annotations__.items()}
"""The type of each column."""


class SessionSummary(NamedTuple):
    """A session of a study.

    Attributes:
      id: of the session.
      cell: its number in the study's plan; -1 outside a study.
      practice: True if it is not scored.
      ended: why it ended; "" if it broke off.
      person: pseudonym of the first person, or name of the script in their place; "" without one.
      agent: name of the agent, "" without one.
      fingerprint: of the agent.
      seconds: up to its end, or to the last event.
      people: number of human participants.
      interactions: a row per instruction.
    """

    id: str
    cell: int
    practice: bool
    ended: str
    person: str
    agent: str
    fingerprint: str
    seconds: float
    people: int
    interactions: tuple[Interaction, ...]

    @property
    def scored(self) -> bool:
        """True if the session is complete and not for practice."""
        return not self.practice and self.ended in COMPLETE

    @property
    def person_hours(self) -> float:
        """Hours of all people together."""
        return self.seconds * self.people / 3600


class _Participant(msgspec.Struct):
    kind: Literal["human", "agent", "script", "empty"]
    name: str = ""
    player: int | None = None
    role: str = ""
    fingerprint: str = ""


class _Opened(msgspec.Struct):
    id: str
    domain: str
    participants: tuple[_Participant, ...]
    study: str = ""
    cell: int = -1
    practice: bool = False
    tick: float | None = None


class _Seated(msgspec.Struct):
    participant: int
    name: str


class _Told(msgspec.Struct):
    t: int
    at: float
    text: str
    by: int
    to: tuple[int, ...] = ()
    prompt: str = ""
    typed: Literal["free", "completion"] = "free"


class _Marked(msgspec.Struct):
    t: int
    at: float
    instruction: int
    mark: Mark
    by: int
    note: str = ""


class _Step(msgspec.Struct):
    t: int
    late_ms: float = 0.0


class _Timed(msgspec.Struct):
    at: float = 0.0


class _Ended(msgspec.Struct):
    reason: str
    at: float


def read_journals(workspace: Workspace) -> Iterator[tuple[str, list[Event]]]:
    """Yield the path and the events of each session; raise DamagedData if a journal is damaged."""
    for path in sorted(workspace.path("live", SESSIONS_FOLDER).glob("*.jsonl")):
        if events := read_events(path):
            yield str(path), events


def collect_sessions(workspace: Workspace, plan: Plan) -> list[SessionSummary]:
    """Summarise all sessions of a study; raise DamagedData if a journal is damaged."""
    journals = read_journals(workspace)
    own = (journal for journal in journals if journal[1][0].get("study") == plan.name)
    return [summarise_session(path, events, plan) for path, events in own]


def summarise_session(name: str, events: Sequence[Event], plan: Plan | None) -> SessionSummary:
    """Summarise the events of a journal.

    Args:
      name: of the journal, for errors.
      events: of one session, in order.
      plan: of the session's study; None outside a study.

    Raises:
      DamagedData: an event is missing or invalid; says which.
    """
    if not events or events[0].get("kind") != "opened":
        raise DamagedData(f"{name}: expected a journal that starts with the event opened")
    opened = _parse(name, 0, events[0], _Opened)
    told: list[_Told] = []
    marks: dict[int, _Marked] = {}
    steps: list[_Step] = []
    ended = None
    for i, event in enumerate(events):
        kind = event.get("kind")
        if kind == "told":
            told.append(_parse(name, i, event, _Told))
        elif kind == "marked":
            marked = _parse(name, i, event, _Marked)
            if not 0 <= marked.instruction < len(told):
                raise _invalid(name, i, event, f"there is no instruction {marked.instruction}")
            marks[marked.instruction] = marked  # the last one counts
        elif kind == "seated":
            seated = _parse(name, i, event, _Seated)
            if not 0 <= seated.participant < len(opened.participants):
                raise _invalid(name, i, event, f"there is no participant {seated.participant}")
            opened.participants[seated.participant].name = seated.name
        elif kind == "step":
            steps.append(_parse(name, i, event, _Step))
        elif kind == "ended":
            ended = _parse(name, i, event, _Ended)
    for by in itertools.chain((one.by for one in told), (mark.by for mark in marks.values())):
        if not 0 <= by < len(opened.participants):
            raise DamagedData(f"{name}: there is no participant {by}")
    seconds = ended.at if ended else _parse(name, len(events) - 1, events[-1], _Timed).at
    agents = [p for p in opened.participants if p.kind == "agent" and p.role != "setter"]
    people = [p.name for p in opened.participants if p.kind in ("human", "script")]
    reason = ended.reason if ended else ""
    return SessionSummary(
        id=opened.id,
        cell=opened.cell,
        practice=opened.practice,
        ended=reason,
        person=people[0] if people else "",
        agent=agents[0].name if agents else "",
        fingerprint=agents[0].fingerprint if agents else "",
        seconds=seconds,
        people=sum(participant.kind == "human" for participant in opened.participants),
        interactions=tuple(
            _make_row(opened, told, index, marks.get(index), steps, seconds, reason, plan)
            for index in range(len(told))
        ),
    )


def _make_row(
    opened: _Opened,
    told: Sequence[_Told],
    index: int,
    mark: _Marked | None,
    steps: Sequence[_Step],
    seconds: float,
    ended: str,
    plan: Plan | None,
) -> Interaction:
    """Return the row of one instruction."""
    given, people = told[index], opened.participants
    setter, solver = people[given.by], _find_solver(people, given)
    marker = people[mark.by] if mark else None
    after = mark or (told[index + 1] if index + 1 < len(told) else None)
    last = max((step.t + 1 for step in steps), default=0)
    end, end_s = (after.t, after.at) if after else (max(last, given.t), seconds)
    between = [step for step in steps if given.t <= step.t < end]
    prompts = {prompt.text: prompt for prompt in plan.prompts} if plan else {}
    prompt = prompts.get(given.prompt)
    cell = plan.cells[opened.cell] if plan and 0 <= opened.cell < len(plan.cells) else None
    late_ms = math.inf if opened.tick is None else 1000 * LATE * opened.tick
    return Interaction(
        session=opened.id,
        study=opened.study,
        practice=opened.practice,
        ended=ended,
        person=setter.name,
        setter_kind=setter.kind,
        agent=solver.name,
        fingerprint=solver.fingerprint,
        agent_kind=solver.kind,
        domain=opened.domain,
        order=cell.order if cell else 0,
        instruction=index,
        text=given.text,
        prompt=given.prompt,
        kind=prompt.kind if prompt else "",
        difficulty=prompt.difficulty if prompt else "",
        typed=given.typed,
        start=given.t,
        end=end,
        start_s=given.at,
        end_s=end_s,
        mark=mark.mark if mark else UNMARKED,
        marked_by=marker.name if marker else "",
        marker_kind=marker.kind if marker else "",
        note_given=bool(mark and mark.note),
        latency_s=mark.at - given.at if mark else math.nan,
        late_ticks=sum(step.late_ms > late_ms for step in between),
        ticks=len(between),
    )


def _find_solver(people: Sequence[_Participant], given: _Told) -> _Participant:
    """Return who was asked: an agent if there is one, else the first."""
    asked = [p for p in people if p.player in given.to]
    return next(iter(sorted(asked, key=lambda p: p.kind != "agent")), _Participant("empty"))


def write_interactions(path: Path, rows: Sequence[Interaction]) -> None:
    """Write a table of interactions."""
    columns = {name: [getattr(row, name) for row in rows] for name in SCHEMA}
    parquet.write_table(path, FORMAT, VERSION, SCHEMA, columns)


def read_interactions(path: Path) -> list[Interaction]:
    """Read a table of interactions; errors as for `parquet.read_table`."""
    table = parquet.read_table(path, FORMAT, VERSION, SCHEMA)
    return [Interaction(**row) for row in table.to_pylist()]


def _parse(name: str, i: int, event: Event, kind: type[T]) -> T:
    try:
        return msgspec.convert(event, kind)
    except msgspec.ValidationError as error:
        raise _invalid(name, i, event, str(error)) from None


def _invalid(name: str, i: int, event: Event, reason: str) -> DamagedData:
    return DamagedData(f"{name}: event {i + 1} ({event.get('kind')}) is invalid: {reason}")
