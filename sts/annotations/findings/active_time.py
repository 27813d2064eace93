"""Annotation time by suite and agent."""

from typing import NamedTuple

from sqlalchemy import Connection, case, func, select

from sts.annotations.answers.current_events import select_current
from sts.annotations.database.schema import copies, events, item_suites
from sts.annotations.queue.references import is_reference


class ActiveTime(NamedTuple):
    """Active hours spent on judgements, by suite and agent; `untimed` judgements add none.

    A clip of two suites counts for both; a clip of several agents is divided equally between them.
    """

    suite: str
    agent: str
    hours: float
    judgements: float
    untimed: float


def load_active_time(connection: Connection) -> list[ActiveTime]:
    """Return the annotation time by suite and agent, without references."""
    current = select_current()
    of_item = (
        select(copies.c.item, func.count(copies.c.agent.distinct()).label("agents"))
        .group_by(copies.c.item)
        .subquery()
    )
    agents = select(copies.c.item, copies.c.agent).distinct().subquery()
    total = func.sum(func.coalesce(events.c.seconds, 0.0) / of_item.c.agents)
    number = func.sum(1.0 / of_item.c.agents)
    timed = func.sum(case((events.c.seconds.is_not(None), 1.0), else_=0.0) / of_item.c.agents)
    rows = connection.execute(
        select(item_suites.c.suite, agents.c.agent, total, number, timed)
        .select_from(events)
        .join(current, current.c.id == events.c.id)
        .join(item_suites, item_suites.c.item == events.c.item)
        .join(agents, agents.c.item == events.c.item)
        .join(of_item, of_item.c.item == events.c.item)
        .where(~is_reference(events.c.item))
        .group_by(item_suites.c.suite, agents.c.agent)
        .order_by(item_suites.c.suite, agents.c.agent)
    )
    return [
        ActiveTime(suite, agent, seconds / 3600, count, max(count - timed_count, 0.0))
        for suite, agent, seconds, count, timed_count in rows
    ]
