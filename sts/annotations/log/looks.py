"""The record of looks at races, and of what leads decided about them.

Both are changes in the study's chain, of all suites in one.
"""

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, select

from sts.annotations.database.schema import changes
from sts.annotations.log.changes import LOOK, STUDY, record_changes
from sts.annotations.races import Decision, Look, PairLook, Race
from sts.annotations.records import Annotator
from sts.annotations.study import StudySettings, base_suite
from sts.errors import ArgumentError, DamagedData, UnknownName
from sts.names import isolate

_LOOK, _CONFIRMATION, _KEEPING = "look", "confirmation", "keeping"


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
    """Raise ArgumentError if a study changed its goal, or its use of labels, after the first look.

    Other pairs would have been resolved, so that errors of both add up.
    """
    for name in ("goal", "prediction_powered") if race.looks else ():
        before, now = (json.dumps(getattr(of, name)) for of in (race.looks[0], study))
        if before != now:
            raise ArgumentError(
                f"annotation.{name} is {now}, and decisions about {suite} were made for {before}; "
                f"set it to {before} again, as it cannot change after the first look"
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
