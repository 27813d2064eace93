"""An annotator's recent work, and a suite's progress."""

from sqlalchemy import Connection, bindparam, case, exists, func, select

from sts.annotations.answers.current_events import CurrentEvent, load_current_events, select_current
from sts.annotations.database.schema import (
    auto_resolved,
    copies,
    events,
    item_suites,
    items,
    slots,
)
from sts.annotations.log.events import is_judgement
from sts.annotations.people.exclusions import is_counted
from sts.annotations.queue.places import IS_WANTED, NO_PLACE
from sts.annotations.records import DailyActivity, Progress
from sts.ratings import UNABLE


def load_recent_judgements(
    connection: Connection, annotator_id: int, limit: int = 10
) -> list[CurrentEvent]:
    """Load the annotator's current judgements, the latest first."""
    return load_current_events(connection, events.c.annotator == annotator_id, latest=limit)


def load_activity(connection: Connection, annotator_id: int, since: float) -> DailyActivity:
    """Load what a person has judged in the browser since a time in UTC seconds."""
    parameters = {"annotator": annotator_id, "since": since}
    judged, seconds = connection.execute(_DAY, parameters).one()
    return DailyActivity(judged, float(seconds))


_DAY = select(
    func.count(events.c.item.distinct()), func.coalesce(func.sum(events.c.seconds), 0.0)
).where(
    events.c.annotator == bindparam("annotator"),
    events.c.received >= bindparam("since"),
    events.c.source == "browser",
    is_judgement(),
)


def load_progress(connection: Connection, suite: str) -> Progress:
    """Load the progress of `suite`; all counts are zero if nothing of it is enqueued."""
    number, required = connection.execute(
        select(func.count(), func.coalesce(func.sum(items.c.annotations_required), 0))
        .join_from(item_suites, items, items.c.id == item_suites.c.item)
        .where(item_suites.c.suite == suite)
    ).one()
    waiting = (
        select(func.count().label("slots"), func.min(slots.c.place).label("place"))
        .join_from(slots, item_suites, item_suites.c.item == slots.c.item)
        .where(item_suites.c.suite == suite, slots.c.judged == 0)
        .group_by(slots.c.item, IS_WANTED)
        .subquery()
    )
    counts = select(func.count(), func.coalesce(func.sum(waiting.c.slots), 0))
    incomplete, open_slots = connection.execute(counts.where(waiting.c.place < NO_PLACE)).one()
    skipped, skipped_slots = connection.execute(counts.where(waiting.c.place == NO_PLACE)).one()
    unjudgeable = (
        select(events.c.item)
        .join(latest := select_current(), latest.c.id == events.c.id)
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
    is_judged = exists().where(events.c.item == auto_resolved.c.item, is_counted())
    by_rule = (
        select(func.count())
        .join_from(auto_resolved, item_suites, item_suites.c.item == auto_resolved.c.item)
        .where(item_suites.c.suite == suite, ~is_judged)
    )
    return Progress(
        items=number,
        complete=number - incomplete - skipped,
        annotations_required=int(required) - int(skipped_slots),
        judged=int(required) - int(open_slots) - int(skipped_slots),
        unjudgeable=connection.execute(select(func.count()).select_from(unjudgeable)).scalar_one(),
        continuations=connection.execute(covered).scalar_one(),
        auto_resolved=connection.execute(by_rule).scalar_one(),
        skipped=skipped,
    )
