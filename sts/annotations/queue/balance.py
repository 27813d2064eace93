"""Counts of clips per agent: required in a suite and assigned to each person; and anchor clips."""

from collections.abc import Collection, Iterable

from sqlalchemy import Connection, bindparam, delete, exists, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from sts.annotations.database.database import iter_batches
from sts.annotations.database.schema import (
    anchors,
    copies,
    events,
    exposures,
    item_suites,
    items,
    slots,
    suite_agents,
)
from sts.annotations.draws import unit_hash
from sts.annotations.log.events import is_judgement
from sts.annotations.queue import references
from sts.annotations.queue.assignment import Balance
from sts.annotations.queue.references import is_reference
from sts.annotations.study import StudySettings

# Built once: building a statement takes longer than running it.
_GIVEN = select(exposures.c.agent, exposures.c.clips).where(
    exposures.c.annotator == bindparam("annotator"), exposures.c.suite == bindparam("suite")
)
_WANTED = select(suite_agents.c.agent, suite_agents.c.annotations_required).where(
    suite_agents.c.suite == bindparam("suite")
)
_COUNT_CLIP = {
    dialect.dialect.name: dialect.insert(exposures).on_conflict_do_update(
        index_elements=["annotator", "suite", "agent"], set_={"clips": exposures.c.clips + 1}
    )
    for dialect in (sqlite, postgresql)
}


def refresh_balance(
    connection: Connection, suite: str, *, study: StudySettings, now: float
) -> None:
    """Recount the clips of each agent in a suite, and open anchors if agents were added.

    Anchors are a seeded random share of the clips that are judged already. Each is judged again by
    another annotator, so that the annotators of new and of earlier agents have clips in common. The
    table `anchors` lists them.
    """
    in_suite = suite_agents.c.suite == suite
    # the distinct agents of each clip of the suite
    covered = (
        select(item_suites.c.suite, copies.c.agent, copies.c.item)
        .join(copies, copies.c.item == item_suites.c.item)
        .where(item_suites.c.suite == suite)
        .distinct()
        .subquery()
    )
    before = set(list_agents(connection, suite))
    agents = set(connection.scalars(select(covered.c.agent).distinct()))
    joined = sorted(agents - before)
    if before and joined and study.anchors:
        _open_anchors(connection, suite, joined, study, now)
    connection.execute(delete(suite_agents).where(in_suite))
    requirements = (
        select(covered.c.suite, covered.c.agent, func.sum(items.c.annotations_required))
        .join(items, items.c.id == covered.c.item)
        .group_by(covered.c.suite, covered.c.agent)
    )
    connection.execute(
        insert(suite_agents).from_select(["suite", "agent", "annotations_required"], requirements)
    )
    connection.execute(delete(exposures).where(exposures.c.suite == suite))
    assigned = (
        select(slots.c.annotator, covered.c.suite, covered.c.agent, func.count())
        .join(covered, covered.c.item == slots.c.item)
        .where(slots.c.annotator.is_not(None))
        .group_by(slots.c.annotator, covered.c.suite, covered.c.agent)
    )
    connection.execute(
        insert(exposures).from_select(["annotator", "suite", "agent", "clips"], assigned)
    )


def list_agents(connection: Connection, suite: str) -> list[str]:
    """List the agents of a suite's clips."""
    query = select(suite_agents.c.agent).where(suite_agents.c.suite == suite)
    return sorted(connection.scalars(query))


def load_balance(connection: Connection, annotator_id: int, suite: str) -> Balance:
    """Load a person's balance in a suite."""
    values = {"annotator": annotator_id, "suite": suite}
    clips_assigned, clips_required = (
        connection.execute(query, values).all() for query in (_GIVEN, _WANTED)
    )
    return Balance(dict(clips_assigned), dict(clips_required))


def count_clip(
    connection: Connection, annotator_id: int, suite: str, agents: Iterable[str]
) -> None:
    """Count one more clip of these agents for a person whose rows are locked."""
    row = {"annotator": annotator_id, "suite": suite, "clips": 1}
    if rows := [row | {"agent": agent} for agent in agents]:
        connection.execute(_COUNT_CLIP[connection.dialect.name], rows)


def _open_anchors(
    connection: Connection, suite: str, joined: Collection[str], study: StudySettings, now: float
) -> None:
    of_item = slots.c.item == items.c.id
    rows = connection.execute(
        select(
            items.c.id, items.c.clip, items.c.annotations_required, items.c.place, items.c.category
        )
        .join(item_suites, item_suites.c.item == items.c.id)
        .where(
            item_suites.c.suite == suite,
            ~references.is_reference(items.c.id),
            exists().where(of_item, slots.c.judged == 1),
            ~exists().where(of_item, slots.c.judged == 0),
        )
    )
    names = "\n".join(joined)
    seeds = (study.seed, "anchor", names)
    sample = [row for row in rows if unit_hash(*seeds, row.clip) < study.anchors]
    if not sample:
        return
    new = [{"item": row.id, "slot": row.annotations_required + 1} for row in sample]
    places = [{"place": row.place, "category": row.category} for row in sample]
    connection.execute(insert(slots), [a | b for a, b in zip(new, places, strict=True)])
    opened = {"suite": suite, "joined": names, "opened": now}
    connection.execute(insert(anchors), [row | opened for row in new])
    for batch in iter_batches(row.id for row in sample):
        connection.execute(
            update(items)
            .where(items.c.id.in_(batch))
            .values(annotations_required=items.c.annotations_required + 1)
        )


def count_judged(connection: Connection, annotator_id: int, suite: str | None = None) -> int:
    """Count the clips that a person has judged, in total, or of a suite and the references."""
    query = _JUDGED if suite is None else _JUDGED_OF_SUITE
    parameters = {"annotator": annotator_id, "suite": suite}
    return connection.execute(query, parameters).scalar_one()


_JUDGED = select(func.count(events.c.item.distinct())).where(
    events.c.annotator == bindparam("annotator"), is_judgement()
)
_JUDGED_OF_SUITE = _JUDGED.where(
    or_(
        exists().where(
            item_suites.c.suite == bindparam("suite"), item_suites.c.item == events.c.item
        ),
        is_reference(events.c.item),
    )
)
