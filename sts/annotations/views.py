"""What has been judged: one annotator's recent work, and a suite's progress."""

from __future__ import annotations

from functools import cache

from sqlalchemy import Connection, Select, bindparam, case, exists, func, or_, select

from sts.annotations.events import judges
from sts.annotations.remarks import Remark, current, remarks
from sts.annotations.schema import (
    annotators,
    copies,
    events,
    item_suites,
    items,
    reference_episodes,
    settled,
    slots,
)
from sts.annotations.settling import unjudged
from sts.annotations.types import Day, Progress
from sts.ratings import UNABLE


def history(connection: Connection, annotator_id: int, limit: int = 10) -> list[Remark]:
    """Return the annotator's current judgements, the latest first."""
    return remarks(connection, events.c.annotator == annotator_id, latest=limit)


def day(connection: Connection, annotator_id: int, since: float) -> Day:
    """What a person has judged on our pages since a moment, UTC seconds."""
    row = connection.execute(_DAY, {"annotator": annotator_id, "since": since}).one()
    return Day(row[0], float(row[1]))


_DAY = select(
    func.count(events.c.item.distinct()), func.coalesce(func.sum(events.c.seconds), 0.0)
).where(
    events.c.annotator == bindparam("annotator"),
    events.c.received >= bindparam("since"),
    events.c.source == "browser",
    judges(),
)


def progress(connection: Connection, suite: str) -> Progress:
    """How far `suite` is judged; all zero for one of which nothing is enqueued."""
    number, required = connection.execute(
        select(func.count(), func.coalesce(func.sum(items.c.required), 0))
        .join_from(item_suites, items, items.c.id == item_suites.c.item)
        .where(item_suites.c.suite == suite)
    ).one()
    missing = (
        select(func.count().label("slots"))
        .join_from(slots, item_suites, item_suites.c.item == slots.c.item)
        .where(item_suites.c.suite == suite, slots.c.judged == 0)
        .group_by(slots.c.item)
        .subquery()
    )
    incomplete, open_slots = connection.execute(
        select(func.count(), func.coalesce(func.sum(missing.c.slots), 0)).select_from(missing)
    ).one()
    unjudgeable = (
        select(events.c.item)
        .join(latest := current(), latest.c.id == events.c.id)
        .join(item_suites, item_suites.c.item == events.c.item)
        .where(item_suites.c.suite == suite)
        .group_by(events.c.item)
        .having(func.min(case((events.c.verdict == UNABLE, 1), else_=0)) == 1)
        .subquery()
    )
    covered = (
        select(func.count())
        .join_from(copies, item_suites, item_suites.c.item == copies.c.item)
        .where(item_suites.c.suite == suite)
    )
    by_rule = (
        select(func.count())
        .join_from(settled, item_suites, item_suites.c.item == settled.c.item)
        .where(item_suites.c.suite == suite, unjudged())
    )
    return Progress(
        items=number,
        complete=number - incomplete,
        required=int(required),
        judged=int(required) - int(open_slots),
        unjudgeable=connection.execute(select(func.count()).select_from(unjudgeable)).scalar_one(),
        by_annotator=judged_by(connection, suite),
        continuations=connection.execute(covered).scalar_one(),
        settled=connection.execute(by_rule).scalar_one(),
    )


def judged_by(
    connection: Connection, suite: str | None = None, annotator_id: int | None = None
) -> dict[str, int]:
    """Return how many clips each person, or one, has judged; of a suite, with the references."""
    query = _judged_by(suite is not None, annotator_id is not None)
    rows = connection.execute(query, {"suite": suite, "annotator": annotator_id})
    return {row[0]: row[1] for row in rows}


@cache
def _judged_by(of_suite: bool, of_one: bool) -> Select[str, int]:
    """How many clips each person has judged, of a suite or of all, or what one person has."""
    query = (
        select(annotators.c.name, func.count(events.c.item.distinct()))
        .join(events, events.c.annotator == annotators.c.id)
        .where(judges())
        .group_by(annotators.c.name)
        .order_by(annotators.c.name)
    )
    if of_one:
        query = query.where(annotators.c.id == bindparam("annotator"))
    if of_suite:
        suite = item_suites.c.suite == bindparam("suite")
        kept = exists().where(suite, item_suites.c.item == events.c.item)
        pool = select(reference_episodes.c.item)
        query = query.where(or_(kept, events.c.item.in_(pool)))
    return query
