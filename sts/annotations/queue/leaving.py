"""Decisions on who is in the race of a suite, each with its effect on the queue.

The connection must be the only writer, so that both are stored or neither.
"""

from collections.abc import Mapping

from sqlalchemy import Connection, exists, func, select

from sts.annotations.database.schema import copies, item_suites, slots
from sts.annotations.log import looks
from sts.annotations.log.looks import load_race
from sts.annotations.queue.balance import list_agents
from sts.annotations.queue.places import IS_WANTED, place_clips
from sts.annotations.queue.rounds import PLACES_PER_ROUND
from sts.annotations.races import Look
from sts.annotations.records import Annotator


def record_look(connection: Connection, suite: str, look: Look) -> bool:
    """Record a look at a suite, and let agents leave unless a lead must confirm it first.

    Return False, and change nothing, if another look has been recorded meanwhile.
    """
    if not looks.append_look(connection, suite, look):
        return False
    _place(connection, suite, look)
    return True


def confirm_look(connection: Connection, suite: str, lead: Annotator, *, now: float) -> Look:
    """Confirm the look that waits for it, and return it; see `looks.confirm_look`."""
    look = looks.confirm_look(connection, suite, lead, now=now)
    _place(connection, suite, look)
    return look


def keep_agent(
    connection: Connection, suite: str, agent: str, lead: Annotator, reason: str, *, now: float
) -> None:
    """Keep an agent in the race, or bring it back; see `looks.keep_agent`."""
    agents = list_agents(connection, suite)
    looks.keep_agent(connection, suite, agent, lead, reason, agents=agents, now=now)
    place_clips(connection, suite, load_race(connection, suite).out, [agent])


def _place(connection: Connection, suite: str, look: Look) -> None:
    out = load_race(connection, suite).out
    place_clips(connection, suite, out, [agent for agent in look.leaving if agent in out])


def find_reached_places(connection: Connection, suite: str) -> Mapping[str, float]:
    """Return, for each agent in the race, the place in rounds before which all seems judged.

    It is the same for all: that of the first queued clip without a judgement, or the number of
    rounds. What is not queued yet is not seen, so that a look may turn out not to be due.
    """
    in_suite = item_suites.c.suite == suite
    other = slots.alias("other")
    first = select(func.min(slots.c.place)).where(
        slots.c.judged == 0,
        IS_WANTED,
        exists().where(item_suites.c.item == slots.c.item, in_suite),
        ~exists().where(other.c.item == slots.c.item, other.c.judged == 1),
    )
    place = connection.execute(first).scalar()
    reached = (place or 0) / PLACES_PER_ROUND
    if place is None:
        of_item = item_suites.c.item == copies.c.item
        last = connection.scalar(
            select(func.max(copies.c.place)).join(item_suites, of_item).where(in_suite)
        )
        reached = 0.0 if last is None else float(last // PLACES_PER_ROUND + 1)
    out = load_race(connection, suite).out
    return {agent: reached for agent in list_agents(connection, suite) if agent not in out}
