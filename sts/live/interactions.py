"""The table of interactions, `interactions/1`: a row per instruction of a live session.

It is derived from journals, which stay the source of truth.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import pyarrow as pa

from sts.errors import DamagedData
from sts.live.journal import Event, read_events
from sts.live.plans import SESSIONS_FOLDER, Plan
from sts.live.types import EMPTY, Opening, Participant, list_participants
from sts.storage import parquet
from sts.storage.workspace import Workspace

FORMAT, VERSION = "interactions", 1
UNMARKED = "unmarked"
INTERACTIVE, SETTER = "interactive", "setter"
"""The metrics of live evaluation: by people alone, and with a script among setters or markers."""
SETTER_NOTE = "setter: scripts set or marked tasks, so it is no score by people"
COMPLETE = ("finished", "left", "agent failed")
"""Reasons of an end after which a session is scored; one that was abandoned or never ended broke
off."""
LATE = 0.2
"""Share of a tick by which a step that counts as late exceeds it."""
Mark = Literal["success", "failure", "cannot_tell"]


class Interaction(NamedTuple):
    """One instruction."""

    session: str  # id of the session
    study: str  # its name, or ""
    practice: bool  # True if the session is not scored
    ended: str  # why the session ended; "" if it broke off
    person: str  # pseudonym of the setter
    setter_kind: str  # "human", "script" or "agent"
    agent: str  # name of the participant who was asked
    fingerprint: str  # of the agent
    agent_kind: str  # "agent", "human", "script" or "empty"
    domain: str  # of the world
    # place of the session among the person's in the study, from 1; 0 outside a study and for
    # practice
    order: int
    instruction: int  # index in the session
    text: str  # the wording
    prompt: str  # from which the setter improvised, or ""
    kind: str  # of the prompt, or ""
    difficulty: str  # of the prompt, or ""
    typed: str  # "free" or "completion"
    start: int  # step at which it was given
    end: int  # step of the mark, else of the next instruction or of the session's end
    mark: str  # "success", "failure", "cannot_tell" or "unmarked"
    marked_by: str  # name of the participant who marked it, or ""
    marker_kind: str  # of that participant, or ""
    note_given: bool  # True if a note was written
    latency_s: float  # from start to mark; NaN without a mark
    late_ticks: int  # steps between start and end that came late
    ticks: int  # steps between start and end

    @property
    def scored(self) -> bool:
        """True if the session is complete and not for practice."""
        return not self.practice and self.ended in COMPLETE


_ARROW = {str: pa.string(), bool: pa.bool_(), int: pa.int32(), float: pa.float64()}
SCHEMA = {name: _ARROW[kind] for name, kind in Interaction.__annotations__.items()}
"""The type of each column."""


class SessionSummary(NamedTuple):
    """A session of a study."""

    id: str  # of the session
    cell: int  # its number in the study's plan; -1 outside a study
    practice: bool  # True if it is not scored
    ended: str  # why it ended; "" if it broke off
    # pseudonym of the first person, or name of the script in their place; "" without one
    person: str
    agent: str  # name of the agent, "" without one
    fingerprint: str  # of the agent
    seconds: float  # up to its end, or to the last event
    people: int  # number of human participants
    interactions: tuple[Interaction, ...]  # a row per instruction

    @property
    def scored(self) -> bool:
        """True if the session is complete and not for practice."""
        return not self.practice and self.ended in COMPLETE

    @property
    def person_hours(self) -> float:
        """Hours of all people together."""
        return self.seconds * self.people / 3600


class _Event(msgspec.Struct):
    """The fields of events that matter here; erased ones have their defaults."""

    kind: str
    at: float = 0.0
    t: int = 0
    by: int = 0
    text: str = ""
    to: tuple[int, ...] = ()
    prompt: str = ""
    typed: Literal["free", "completion"] = "free"
    instruction: int = 0
    mark: Mark | None = None
    note: str = ""
    late_ms: float = 0.0
    reason: str = ""


def read_journals(workspace: Workspace) -> Iterator[tuple[str, list[Event]]]:
    """Yield the path and the events of each session; raise DamagedData if a journal is damaged."""
    for path in sorted(workspace.path("live", SESSIONS_FOLDER).glob("*.jsonl")):
        if events := read_events(path):
            yield str(path), events


def collect_sessions(workspace: Workspace, plan: Plan) -> list[SessionSummary]:
    """Summarise all sessions of a study; raise DamagedData if a journal is damaged."""
    return [
        summarise_session(path, events, plan)
        for path, events in read_journals(workspace)
        if events[0].get("study") == plan.name
    ]


def summarise_session(name: str, events: Sequence[Event], plan: Plan | None) -> SessionSummary:
    """Summarise the events of a journal.

    Args:
      name: of the journal, for errors.
      events: of one session, in order.
      plan: of the session's study; None outside a study.

    Raises:
      DamagedData: an event is missing or invalid.
    """
    if not events or events[0].get("kind") != "opened":
        raise DamagedData(f"{name}: expected a journal that starts with the event opened")
    try:
        opening, participants = Opening.from_json(events[0]), list_participants(events)
        parsed = [msgspec.convert(event, _Event) for event in events[1:]]
        told = [event for event in parsed if event.kind == "told"]
        marks = [event for event in parsed if event.kind == "marked"]
        if not {event.instruction for event in marks} <= {*range(len(told))}:
            raise ValueError("a mark of no instruction")
        if not {event.by for event in (*told, *marks)} <= {*range(len(participants))}:
            raise ValueError("an unknown participant")
    except (DamagedData, LookupError, TypeError, ValueError) as error:
        raise DamagedData(f"{name}: an event is invalid: {error}") from None
    ended = next((event for event in parsed if event.kind == "ended"), None)
    last_event = ended or (parsed[-1] if parsed else _Event("opened"))
    agents = [p for p in participants if p.kind == "agent" and p.role != "setter"]
    people = [p for p in participants if p.acts]
    return SessionSummary(
        id=opening.id,
        cell=opening.cell,
        practice=opening.practice,
        ended=ended.reason if ended else "",
        person=people[0].name if people else "",
        agent=agents[0].name if agents else "",
        fingerprint=agents[0].fingerprint if agents else "",
        seconds=last_event.at,
        people=sum(participant.kind == "human" for participant in participants),
        interactions=tuple(_make_rows(opening, participants, parsed, plan)),
    )


def find_setters(workspace: Workspace, session: object, instruction_text: str) -> set[str]:
    """Return who gave an instruction in these words in a session: pseudonyms, or names of agents.

    Raises:
      DamagedData: the journal was altered.
    """
    if not isinstance(session, str) or Path(session).name != session:
        return set()
    path = workspace.path("live", SESSIONS_FOLDER, f"{session}.jsonl")
    events = read_events(path) if path.exists() else []
    people = list_participants(events) if events else []
    told_events = (event for event in events if event["kind"] == "told")
    return {people[e["by"]].name for e in told_events if e.get("text") == instruction_text}


def _make_rows(
    opening: Opening, people: Sequence[Participant], events: Sequence[_Event], plan: Plan | None
) -> Iterator[Interaction]:
    """Yield the row of each instruction."""
    told_events = [event for event in events if event.kind == "told"]
    marks = {event.instruction: event for event in events if event.kind == "marked"}
    steps = [event for event in events if event.kind == "step"]
    n_steps = max((step.t + 1 for step in steps), default=0)
    ended = next((event.reason for event in events if event.kind == "ended"), "")
    late_ms = math.inf if opening.tick is None else 1000 * LATE * opening.tick
    prompts = {prompt.text: prompt for prompt in plan.prompts} if plan else {}
    cell = plan.cells[opening.cell] if plan and 0 <= opening.cell < len(plan.cells) else None
    for index, told_event in enumerate(told_events):
        mark, prompt = marks.get(index), prompts.get(told_event.prompt)
        setter, solver = people[told_event.by], _find_solver(people, told_event)
        marker = people[mark.by] if mark else None
        next_event = mark or next(iter(told_events[index + 1 :]), None)
        end = next_event.t if next_event else max(n_steps, told_event.t)
        between = [step for step in steps if told_event.t <= step.t < end]
        yield Interaction(
            session=opening.id,
            study=opening.study,
            practice=opening.practice,
            ended=ended,
            person=setter.name,
            setter_kind=setter.kind,
            agent=solver.name,
            fingerprint=solver.fingerprint,
            agent_kind=solver.kind,
            domain=opening.domain,
            order=cell.order if cell else 0,
            instruction=index,
            text=told_event.text,
            prompt=told_event.prompt,
            kind=prompt.kind if prompt else "",
            difficulty=prompt.difficulty if prompt else "",
            typed=told_event.typed,
            start=told_event.t,
            end=end,
            mark=mark.mark or UNMARKED if mark else UNMARKED,
            marked_by=marker.name if marker else "",
            marker_kind=marker.kind if marker else "",
            note_given=bool(mark and mark.note),
            latency_s=mark.at - told_event.at if mark else math.nan,
            late_ticks=sum(step.late_ms > late_ms for step in between),
            ticks=len(between),
        )


def _find_solver(people: Sequence[Participant], told_event: _Event) -> Participant:
    """Return who was asked: an agent if there is one, else the first."""
    asked = [p for p in people if p.player in told_event.to]
    return next(iter(sorted(asked, key=lambda p: p.kind != "agent")), EMPTY)


def write_interactions(path: Path, interactions: Sequence[Interaction]) -> None:
    """Write a table of interactions."""
    columns = {name: [getattr(row, name) for row in interactions] for name in SCHEMA}
    parquet.write_table(path, FORMAT, VERSION, SCHEMA, columns)


def read_interactions(path: Path) -> list[Interaction]:
    """Read a table of interactions; errors as for `parquet.read_table`."""
    table = parquet.read_table(path, FORMAT, VERSION, SCHEMA)
    return [Interaction(**row) for row in table.to_pylist()]
