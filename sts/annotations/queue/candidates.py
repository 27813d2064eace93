"""Queries for the clips that may be assigned to a person: open slots and references."""

from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    case,
    exists,
    literal_column,
    or_,
    select,
)

from sts.annotations.database.schema import (
    anchors,
    claims,
    copies,
    events,
    item_suites,
    items,
    reference_items,
    slots,
    training,
)
from sts.annotations.people.people import has_played
from sts.annotations.queue.assignment import Candidate
from sts.annotations.queue.controls import EffectiveSettings
from sts.annotations.queue.places import IS_WANTED
from sts.annotations.queue.queue import HASH_MODULUS
from sts.annotations.study import base_suite
from sts.ratings import PEOPLE

MAX_CANDIDATES = 96
"""Maximum number of items per claim; more than concurrent transactions can have locked."""


# Parameters from `Claimant.parameters`. Building statements takes longer than running them.
PERSON: BindParameter[int] = bindparam("person")
SUITE: BindParameter[str] = bindparam("suite")
NOW: BindParameter[float] = bindparam("now")
NOT_EXCLUDED = items.c.continuation.not_in(bindparam("without", expanding=True))


class Claimant(NamedTuple):
    """The person who claims clips, the suite, and the values of the statements' parameters.

    `order` holds the factor and offset of their order of references. The `excluded`
    continuations cannot be shown. Claims last `until` a time in UTC seconds.
    """

    id: int
    suite: str
    order: tuple[int, int]
    excluded: tuple[str, ...]
    settings: EffectiveSettings
    until: float
    now: float

    def parameters(self, **others: object) -> dict[str, Any]:
        """Return the statement parameters for this person, together with `others`."""
        own = {"person": self.id, "suite": self.suite, "now": self.now, "without": self.excluded}
        return own | others


def is_in_suite(suite: str | BindParameter[str]) -> ColumnElement[bool]:
    """Select slots whose clip belongs to a suite."""
    return exists().where(item_suites.c.suite == suite, item_suites.c.item == slots.c.item)


IS_UNJUDGED: ColumnElement[bool] = literal_column("slots.judged = 0")
"""Condition on a slot, in literal SQL: with a bound value the partial index is not used."""
IS_FREE = (slots.c.judged == 0, or_(slots.c.annotator.is_(None), slots.c.lease_until <= NOW))
"""Conditions on a slot: it has no judgement, and no lease that is still valid."""


_FREE_SLOT = (
    select(slots.c.id)
    .where(slots.c.item == bindparam("item"), *IS_FREE)
    .order_by(slots.c.slot)
    .limit(1)
    .with_for_update(skip_locked=True)
)


def lock_free_slot(connection: Connection, item_id: str, now: float) -> int | None:
    """Lock a free slot of an item and return its number, or None without one."""
    return connection.execute(_FREE_SLOT, {"item": item_id, "now": now}).scalar_one_or_none()


def _iter_availability(item: ColumnElement[str]) -> Iterator[ColumnElement[bool]]:
    """Yield conditions that exclude items that a person has met or played."""
    own_slots = slots.alias("own")
    yield ~exists().where(own_slots.c.item == item, own_slots.c.annotator == PERSON)
    yield ~exists().where(claims.c.item == item, claims.c.annotator == PERSON, claims.c.pool == 1)
    for table in (events, training):
        yield ~exists().where(table.c.item == item, table.c.annotator == PERSON)
    yield ~has_played(item, PERSON)


def is_in_scope(scope: str, suite: str) -> ColumnElement[bool]:
    """Select slots of a suite that belong to a scope of it."""
    name, slash, category = scope.partition("/")
    parts = [slots.c.category == category] if slash else []
    if name not in (suite, base_suite(suite)):
        parts.append(is_in_suite(name))
    return and_(*parts)


def load_recent_scenarios(connection: Connection, annotator_id: int, number: int) -> list[str]:
    """Load the scenarios that a person was shown last, the latest at the end."""
    rows = connection.scalars(_RECENT_SCENARIOS, {"person": annotator_id, "number": number})
    return [*rows][::-1]


_RECENT_SCENARIOS = (
    select(items.c.scenario)
    .join(claims, claims.c.item == items.c.id)
    .where(claims.c.annotator == PERSON)
    .order_by(claims.c.position.desc())
    .limit(bindparam("number"))
)
_AGENTS = select(copies.c.item, copies.c.agent).where(
    copies.c.item.in_(bindparam("items", expanding=True))
)


def load_candidates(connection: Connection, claimant: Claimant, priority: int) -> list[Candidate]:
    """Load the next open items of a priority, in the order of judging."""
    query = _select_open_slots(
        claimant.suite, claimant.settings.paused_scopes, claimant.settings.priorities
    )
    parameters = claimant.parameters(priority=priority, number=MAX_CANDIDATES)
    rows = connection.execute(query, parameters).all()
    if not rows:
        return []
    agents: dict[str, set[str]] = {}
    for item, agent in connection.execute(_AGENTS, {"items": [*{row.item for row in rows}]}):
        agents.setdefault(item, set()).add(agent)
    return [
        Candidate(
            row.item,
            row.continuation,
            row.scenario,
            tuple(sorted(agents[row.item])),
            row.begun,
            row.anchor,
            row.category,
        )
        for row in {row.item: row for row in rows}.values()
    ]


@lru_cache(maxsize=64)
def _select_open_slots(
    suite: str, left_out: tuple[str, ...], priorities: tuple[tuple[str, int], ...]
) -> Select[tuple[str, str, str, str, bool, bool]]:
    """Select a person's next open slots of one priority, in the order of judging."""
    judged_slots = slots.alias("other")
    slot_priority = case(*((is_in_scope(scope, suite), n) for scope, n in priorities), else_=0)
    return (
        select(
            slots.c.item,
            items.c.continuation,
            items.c.scenario,
            items.c.category,
            or_(
                slots.c.annotator.is_not(None),
                exists().where(judged_slots.c.item == slots.c.item, judged_slots.c.judged == 1),
            ).label("begun"),
            exists()
            .where(anchors.c.item == slots.c.item, anchors.c.slot == slots.c.slot)
            .label("anchor"),
        )
        .join(items, items.c.id == slots.c.item)
        .where(
            IS_UNJUDGED,
            *(~is_in_scope(scope, suite) for scope in left_out),
            *([slot_priority == bindparam("priority")] if priorities else []),
            *IS_FREE,
            IS_WANTED,
            is_in_suite(SUITE),
            NOT_EXCLUDED,
            *_iter_availability(slots.c.item),
        )
        .order_by(slots.c.place, slots.c.item, slots.c.slot)
        .limit(bindparam("number"))
    )


def choose_reference(
    connection: Connection, claimant: Claimant, recent: Collection[str], withheld: Collection[str]
) -> Candidate | None:
    """Choose a reference that is new to a person, if possible of a scenario not shown recently.

    In the categories `withheld`, which they judge by the instruction alone, its truth must come
    from people.
    """
    factor, offset = claimant.order
    values = claimant.parameters(
        recent=[*recent], withheld=[*withheld], factor=factor, offset=offset
    )
    row = connection.execute(_REFERENCE, values).one_or_none()
    if row is None:
        return None
    return Candidate(row.id, row.continuation, row.scenario, (), category=row.category)


_REFERENCE = (
    select(items.c.id, items.c.continuation, items.c.scenario, items.c.category)
    .join(reference_items, reference_items.c.item == items.c.id)
    .where(
        or_(
            reference_items.c.source == PEOPLE,
            items.c.category.not_in(bindparam("withheld", expanding=True)),
        ),
        NOT_EXCLUDED,
        *_iter_availability(items.c.id),
    )
    .order_by(
        items.c.scenario.in_(bindparam("recent", expanding=True)),
        (items.c.draw * bindparam("factor") + bindparam("offset")) % HASH_MODULUS,
        items.c.id,
    )
    .limit(1)
)
