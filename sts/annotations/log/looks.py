"""Looks at a suite that is judged in rounds: recorded decisions on which agents leave the race.

At a look, each pair of agents that is not resolved yet is compared; see `sts_analysis` for the
rule. The looks of all suites are changes of the study's chain, with what leads decide about them.
An agent that leaves is judged no further; what is judged of it counts.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from sts.annotations.database.schema import changes
from sts.annotations.log.changes import LOOK, STUDY, record_changes
from sts.annotations.records import Annotator
from sts.annotations.study import StudySettings, base_suite
from sts.errors import ArgumentError, DamagedData, UnknownName
from sts.names import isolate

_LOOK, _CONFIRMATION, _KEEPING = "look", "confirmation", "keeping"
DIFFERENT, HOPELESS, OPEN = "different", "hopeless", "open"
"""Outcomes of a pair at a look: agents that differ significantly, that would not do so at the end
of the plan either, and others."""


class PairLook(NamedTuple):
    """Two agents at one look; numbers that cannot be known are absent (None)."""

    first: str
    second: str  # later in alphabetical order
    difference: float | None  # pass rate of the first minus that of the second
    se: float | None
    p: float | None  # adjusted for all pairs
    bar: float  # p below which they differ significantly
    information: float | None  # share of the full plan's information
    outcome: str  # different, hopeless or open


class Look(NamedTuple):
    """One look at a suite."""

    number: int  # from 1
    at: float  # UTC seconds
    point: float  # number of rounds, such as 0.25; see `find_points`
    goal: str
    seed: int  # of the order in which cells are judged
    agents: tuple[str, ...]  # in the race until then
    pairs: tuple[PairLook, ...]  # those that were not resolved before
    leaving: tuple[str, ...]  # agents
    needs_confirmation: bool


class Decision(NamedTuple):
    """A lead's decision to confirm a look, or to keep an agent in the race."""

    by: str  # the lead's pseudonym
    at: float  # UTC seconds
    reason: str = ""


@dataclass
class Race:
    """All looks at one suite, and what leads decided about them."""

    looks: list[Look] = field(default_factory=list)
    confirmed: dict[int, Decision] = field(default_factory=dict)  # by number of the look
    kept: dict[str, Decision] = field(default_factory=dict)  # by agent

    @property
    def pending(self) -> Look | None:
        """The last look, if it waits for a lead's confirmation."""
        last = self.looks[-1] if self.looks else None
        waits = last and last.needs_confirmation and last.number not in self.confirmed
        return last if waits else None

    @property
    def effective(self) -> list[Look]:
        """The looks that have taken effect."""
        return self.looks[:-1] if self.pending else self.looks

    @property
    def out(self) -> dict[str, float]:
        """The agents that have left, with the place in rounds up to which theirs counts."""
        left = dict.fromkeys(agent for look in self.effective for agent in look.leaving)
        points = find_points(self.effective)
        return {agent: points[agent] for agent in left if agent not in self.kept}

    @property
    def resolved(self) -> dict[tuple[str, str], tuple[Look, PairLook]]:
        """The pairs that are resolved, with the look at which they were."""
        return {
            (pair.first, pair.second): (look, pair)
            for look in self.effective
            for pair in look.pairs
            if pair.outcome != OPEN
        }


def find_points(looks: Iterable[Look]) -> dict[str, float]:
    """Find the place in rounds up to which each agent is judged and counts after some looks.

    After a look that is due to an agent that joined later, those of others are farther.
    """
    points: dict[str, float] = {}
    for look in looks:
        points |= {agent: max(look.point, points.get(agent, 0.0)) for agent in look.agents}
    return points


_ROWS = (
    select(changes.c.value)
    .where(changes.c.subject == STUDY, changes.c.kind == LOOK)
    .order_by(changes.c.number)
)


def load_race(connection: Connection, suite: str) -> Race:
    """Load the looks at a suite, or at the suite that a part belongs to.

    Raises:
      DamagedData: a look was altered so that it cannot be read.
    """
    race, suite = Race(), base_suite(suite)
    for text in connection.scalars(_ROWS):
        try:
            label, kind, value = json.loads(text)
            if label == suite:
                _add_change(race, kind, value)
        except (ValueError, TypeError, KeyError):
            raise DamagedData(
                "annotation database: a look was altered; restore a backup of the workspace"
            ) from None
    return race


def _add_change(race: Race, kind: str, value: dict[str, Any]) -> None:
    if kind == _LOOK:
        value["pairs"] = [PairLook(*pair) for pair in value["pairs"]]
        lists = {name: tuple(value[name]) for name in ("agents", "pairs", "leaving")}
        race.looks.append(Look(**value | lists))
    elif kind == _CONFIRMATION:
        number = value.pop("look")
        race.confirmed[number] = Decision(**value)
    else:
        agent = value.pop("agent")
        race.kept[agent] = Decision(**value)


def find_last_time(connection: Connection) -> float | None:
    """Return the time of the last look or decision about one, of any suite, in UTC seconds."""
    last = _ROWS.order_by(None).order_by(changes.c.number.desc()).limit(1)
    text = connection.scalars(last).first()
    return None if text is None else float(json.loads(text)[2]["at"])


def check_goal(race: Race, study: StudySettings, suite: str) -> None:
    """Raise ArgumentError if a study changed its goal after the first look.

    With another goal other pairs would have been looked at, so that errors of both add up.
    """
    if race.looks and race.looks[0].goal != study.goal:
        before = race.looks[0].goal
        raise ArgumentError(
            f'annotation.goal is "{study.goal}", and decisions about {suite} were made for '
            f'"{before}"; set it to "{before}" again, as a goal cannot change after the first look'
        )


def append_look(connection: Connection, suite: str, look: Look) -> bool:
    """Record a look at a suite; return False if another one has been recorded meanwhile.

    The connection must be the only writer.
    """
    race = load_race(connection, suite)
    if look.number != len(race.looks) + 1 or race.pending:
        return False
    _append(connection, suite, _LOOK, look._asdict())
    return True


def confirm_look(connection: Connection, suite: str, lead: Annotator, *, now: float) -> Look:
    """Confirm the look that waits for it, and return it. The connection must be the only writer.

    Raises:
      ArgumentError: none waits.
    """
    look = load_race(connection, suite).pending
    if look is None:
        raise ArgumentError(f"{suite}: no decision waits for a confirmation")
    value = {"look": look.number} | Decision(lead.pseudonym, now)._asdict()
    _append(connection, suite, _CONFIRMATION, value)
    return look


def keep_agent(
    connection: Connection,
    suite: str,
    agent: str,
    lead: Annotator,
    reason: str,
    *,
    agents: Iterable[str],
    now: float,
) -> None:
    """Keep an agent in the race, or bring it back. The connection must be the only writer.

    Raises:
      UnknownName: the suite's `agents` lack it.
      ArgumentError: it is kept already.
    """
    if agent not in (known := sorted(agents)):
        raise UnknownName("agent", agent, known)
    if agent in load_race(connection, suite).kept:
        raise ArgumentError(f"{isolate(agent)} is kept in the race already")
    value = {"agent": agent} | Decision(lead.pseudonym, now, reason)._asdict()
    _append(connection, suite, _KEEPING, value)


def _append(connection: Connection, suite: str, kind: str, value: dict[str, Any]) -> None:
    record_changes(connection, None, LOOK, [(base_suite(suite), kind, value)])
