"""Who judged which agent, as the store has it."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from sts.annotations.events import judges
from sts.annotations.imbalance import Audit, Judged, of
from sts.annotations.schema import (
    anchors,
    annotators,
    copies,
    events,
    item_suites,
    items,
    reference_episodes,
    slots,
)


def audit(connection: Connection, suite: str | None = None, *, names: bool = False) -> Audit:
    """Returns who judged which agent, references left out.

    Args:
      connection: to the store.
      suite: as it is enqueued; None for everything.
      names: whether people are called by name; else each by their pseudonym.
    """
    kept = select(item_suites.c.item)
    opened = select(func.count(), func.coalesce(func.sum(slots.c.judged), 0)).join_from(
        anchors, slots, (slots.c.item == anchors.c.item) & (slots.c.slot == anchors.c.slot)
    )
    if suite is not None:
        kept = kept.where(item_suites.c.suite == suite)
        opened = opened.where(anchors.c.item.in_(kept))
    agents: dict[str, set[str]] = {}
    of_agents = select(copies.c.item, copies.c.agent).where(copies.c.item.in_(kept)).distinct()
    for item, agent in connection.execute(of_agents):
        agents.setdefault(item, set()).add(agent)
    rows = connection.execute(
        select(
            annotators.c.name if names else annotators.c.pseudonym, events.c.item, items.c.scenario
        )
        .join(annotators, annotators.c.id == events.c.annotator)
        .join(items, items.c.id == events.c.item)
        .where(
            judges(),
            events.c.item.in_(kept),
            events.c.item.not_in(select(reference_episodes.c.item)),
        )
        .distinct()
    )
    judged = [
        Judged(name, item, tuple(sorted(agents[item])), scenario) for name, item, scenario in rows
    ]
    number, done = connection.execute(opened).one()
    return of(judged)._replace(anchors=int(number), anchors_judged=int(done))
