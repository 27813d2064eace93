"""What one person may be given: the open slots that an index finds, and references."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    case,
    exists,
    literal_column,
    or_,
    select,
)

from sts.annotations.assignment import FIRST, ORDINARY, Candidate
from sts.annotations.controls import Standing
from sts.annotations.queue import PRIME
from sts.annotations.schema import (
    anchors,
    annotators,
    claims,
    copies,
    events,
    item_players,
    item_suites,
    items,
    reference_episodes,
    slots,
    training,
)
from sts.annotations.study import whole

CANDIDATES = 96
"""Items looked at in one claim: more than other transactions can have locked at one moment."""


class Person(NamedTuple):
    """For whom something is claimed, and where.

    Attributes:
      id: the annotator's number.
      suite: what they judge.
      order: the factor and offset of their random order.
      offered: what may be shown to anybody.
      standing: what the lead has said.
      until: until when what they claim is kept for them.
      now: UTC seconds.
    """

    id: int
    suite: str
    order: tuple[int, int]
    offered: ColumnElement[bool]
    standing: Standing
    until: float
    now: float

    def key(self, draw: int) -> int:
        """Returns the place of an item in their random order."""
        factor, offset = self.order
        return (draw * factor + offset) % PRIME


def in_suite(suite: str) -> ColumnElement[bool]:
    """Whether a slot's clip is kept by a suite."""
    return exists().where(item_suites.c.suite == suite, item_suites.c.item == slots.c.item)


def waits() -> ColumnElement[bool]:
    """Where no judgement is in; in the words of the index, which no bound value would meet."""
    return literal_column("slots.judged = 0")


def is_free(now: float) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Whether a slot waits for a judgement and is held by nobody any more."""
    return slots.c.judged == 0, or_(slots.c.annotator.is_(None), slots.c.lease_until <= now)


def _unmet(annotator_id: int, item: ColumnElement[str]) -> Iterator[ColumnElement[bool]]:
    """What a person may be given: not held, served from the pool, judged, trained on, or played."""
    name = select(annotators.c.name).where(annotators.c.id == annotator_id).scalar_subquery()
    own = slots.alias("own")
    yield ~exists().where(own.c.item == item, own.c.annotator == annotator_id)
    yield ~exists().where(
        claims.c.item == item, claims.c.annotator == annotator_id, claims.c.pool == 1
    )
    for table in (events, training):
        yield ~exists().where(table.c.item == item, table.c.annotator == annotator_id)
    yield ~exists().where(item_players.c.item == item, item_players.c.name == name)


def inside(scope: str, suite: str) -> ColumnElement[bool]:
    """Whether a slot is of a scope inside the suite."""
    name, slash, category = scope.partition("/")
    parts = [slots.c.category == category] if slash else []
    if name not in (suite, whole(suite)):
        parts.append(in_suite(name))
    return and_(*parts)


def recent_scenarios(connection: Connection, annotator_id: int, number: int) -> list[str]:
    """The scenarios that a person met last, the latest at the end."""
    rows = connection.scalars(
        select(items.c.scenario)
        .join(claims, claims.c.item == items.c.id)
        .where(claims.c.annotator == annotator_id)
        .order_by(claims.c.position.desc())
        .limit(number)
    )
    return [*rows][::-1]


def candidates(
    connection: Connection, person: Person, level: int, turn: int, coin: float
) -> list[Candidate]:
    """Items open for a person: the first of the queue in the first turn, else from any place on."""
    open_ = _open_slots(person, level, turn).order_by(slots.c.draw, slots.c.item)
    place = int(coin * PRIME) if turn == ORDINARY else 0
    rows = connection.execute(open_.where(slots.c.draw >= place).limit(CANDIDATES)).all()
    if place and len(rows) < CANDIDATES:
        before = open_.where(slots.c.draw < place).limit(CANDIDATES - len(rows))
        rows = [*rows, *connection.execute(before)]
    agents: dict[str, set[str]] = {}
    named = {row.item for row in rows}
    of_items = copies.c.item.in_(named)
    for item, agent in connection.execute(select(copies.c.item, copies.c.agent).where(of_items)):
        agents.setdefault(item, set()).add(agent)
    return [
        Candidate(
            row.item,
            row.continuation,
            row.scenario,
            tuple(sorted(agents[row.item])),
            person.key(row.draw),
            turn == FIRST and row.judged,
            row.anchor,
        )
        for row in {row.item: row for row in rows}.values()
    ]


def _open_slots(
    person: Person, level: int, turn: int
) -> Select[tuple[str, int, str, str, bool, bool]]:
    """The open slots of one turn and priority that a person may be given."""
    standing, other = person.standing, slots.alias("other")
    priority = case(
        *((inside(scope, person.suite), number) for scope, number in standing.first), else_=0
    )
    return (
        select(
            slots.c.item,
            slots.c.draw,
            items.c.continuation,
            items.c.scenario,
            exists().where(other.c.item == slots.c.item, other.c.judged == 1).label("judged"),
            exists()
            .where(anchors.c.item == slots.c.item, anchors.c.slot == slots.c.slot)
            .label("anchor"),
        )
        .join(items, items.c.id == slots.c.item)
        .where(
            waits(),
            slots.c.turn == turn,
            *(~inside(scope, person.suite) for scope in standing.left_out),
            *([priority == level] if standing.first else []),
            *is_free(person.now),
            in_suite(person.suite),
            person.offered,
            *_unmet(person.id, slots.c.item),
        )
    )


def reference(connection: Connection, person: Person, recent: Collection[str]) -> Candidate | None:
    """A reference that a person has not met, of no scenario met just now where there is one."""
    row = connection.execute(
        select(items.c.id, items.c.continuation, items.c.scenario)
        .where(
            items.c.id.in_(select(reference_episodes.c.item)),
            person.offered,
            *_unmet(person.id, items.c.id),
        )
        .order_by(items.c.scenario.in_(recent), _key(person.order), items.c.id)
        .limit(1)
    ).one_or_none()
    return None if row is None else Candidate(row.id, row.continuation, row.scenario, (), 0)


def _key(order: tuple[int, int]) -> ColumnElement[int]:
    factor, offset = order
    return (items.c.draw * factor + offset) % PRIME
