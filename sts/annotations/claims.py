"""Which item waits for whom: slots, leases, and the order in which a person meets items."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    exists,
    func,
    insert,
    or_,
    select,
    union_all,
    update,
)

from sts.annotations import people
from sts.annotations.events import judges
from sts.annotations.queue import PRIME
from sts.annotations.schema import (
    annotators,
    claims,
    events,
    item_players,
    item_suites,
    items,
    reference_episodes,
    slots,
)
from sts.annotations.types import Claim
from sts.errors import UnknownName

_CANDIDATES = 64
"""Items looked at in one claim: more than other transactions can have locked at one moment."""

LEASE = 15 * 60
"""Seconds that an item is kept for the person who claimed it."""


def claim(
    connection: Connection,
    annotator_id: int,
    *,
    suite: str,
    count: int,
    without: Collection[str],
    seed: int,
    reference_rate: float,
    now: float,
) -> list[Claim]:
    """Returns up to `count` items for one person, in the order to be shown.

    What they already hold comes first and its lease is renewed, so a reload keeps the queue; an
    expired lease that nobody took is still theirs. Fewer than `count`, or none, come back when no
    slot is free for them. Continuations in `without` are passed over, and what they hold of them is
    given back.

    Their k-th item is a reference when hash(seed, annotator, k) falls under `reference_rate` and
    the pool has one that they have not met. Items are met in the order of the hash
    (a x + b) mod p of the item's own draw x, with a and b from (seed, annotator): pairwise
    independent between annotators (Carter and Wegman 1979), and computed by either database.

    Raises:
      UnknownName: there is no such person, or they have retired or do not judge.
    """
    person = people.lock(connection, annotator_id)
    if not person.judges:
        current = [a.name for a in people.everybody(connection) if a.judges]
        raise UnknownName("current annotator", person.name, current)
    until, offered = now + LEASE, items.c.continuation.not_in(without)
    mine = (slots.c.annotator == annotator_id, slots.c.judged == 0, _in_suite(suite))
    if without:
        back = exists().where(items.c.id == slots.c.item, items.c.continuation.in_(without))
        connection.execute(
            update(slots).where(*mine, back).values(annotator=None, lease_until=None)
        )
    connection.execute(update(slots).where(*mine).values(lease_until=until))
    held = _held(connection, annotator_id, suite, offered, until)
    order = _order(seed, annotator_id)
    position = _next_position(connection, annotator_id)
    taken = _take_slots(connection, annotator_id, suite, order, offered, held, now)
    while len(held) < count:
        pooled = None
        if _share(seed, annotator_id, position) < reference_rate:
            pooled = _next_reference(connection, annotator_id, order, offered)
        item = pooled or next(taken, None)
        if item is None:
            break
        _note_claim(connection, annotator_id, item[0], position, pooled is not None, now)
        held.append(Claim(*item, until))
        position += 1
    return held


def renew(connection: Connection, annotator_id: int, held: list[str], *, now: float) -> list[str]:
    """Keeps items for another lease; returns those that are still the annotator's.

    An item that expired and was taken by somebody else is not; its late judgement is accepted
    all the same.
    """
    people.lock(connection, annotator_id)
    mine = (slots.c.annotator == annotator_id, slots.c.item.in_(held))
    connection.execute(
        update(slots).where(*mine, slots.c.judged == 0).values(lease_until=now + LEASE)
    )
    kept = set(connection.scalars(select(slots.c.item).where(*mine)))
    kept.update(
        connection.scalars(
            select(claims.c.item).where(
                claims.c.annotator == annotator_id, claims.c.item.in_(held), claims.c.pool == 1
            )
        )
    )
    return [item for item in held if item in kept]


def _in_suite(suite: str) -> ColumnElement[bool]:
    return exists().where(item_suites.c.suite == suite, item_suites.c.item == slots.c.item)


def _met(annotator_id: int) -> CompoundSelect[str]:
    """The items a person may not be given: held, served from the pool, judged, or played."""
    name = select(annotators.c.name).where(annotators.c.id == annotator_id).scalar_subquery()
    return union_all(
        select(slots.c.item).where(slots.c.annotator == annotator_id),
        select(claims.c.item).where(claims.c.annotator == annotator_id, claims.c.pool == 1),
        select(events.c.item).where(events.c.annotator == annotator_id),
        select(item_players.c.item).where(item_players.c.name == name),
    )


def _held(
    connection: Connection,
    annotator_id: int,
    suite: str,
    offered: ColumnElement[bool],
    until: float,
) -> list[Claim]:
    holds = exists().where(
        slots.c.item == claims.c.item, slots.c.annotator == annotator_id, _in_suite(suite)
    )
    rows = connection.execute(
        select(claims.c.item, items.c.continuation)
        .join(items, items.c.id == claims.c.item)
        .where(
            claims.c.annotator == annotator_id,
            or_(claims.c.pool == 1, holds),
            offered,
            ~exists().where(
                events.c.item == claims.c.item, events.c.annotator == annotator_id, judges()
            ),
        )
        .order_by(claims.c.position)
    )
    return [Claim(row.item, row.continuation, until) for row in rows]


def _take_slots(
    connection: Connection,
    annotator_id: int,
    suite: str,
    order: tuple[int, int],
    offered: ColumnElement[bool],
    held: list[Claim],
    now: float,
) -> Iterator[tuple[str, str]]:
    """Takes one free slot after another in the annotator's order; yields item and continuation.

    It passes over what `held` has got from elsewhere meanwhile.
    """
    free = exists().where(slots.c.item == items.c.id, *_is_free(now))
    rows = connection.execute(
        select(items.c.id, items.c.continuation)
        .join(item_suites, item_suites.c.item == items.c.id)
        .where(item_suites.c.suite == suite, free, offered, items.c.id.not_in(_met(annotator_id)))
        .order_by(_key(order), items.c.id)
        .limit(_CANDIDATES)
    ).all()
    for item, continuation in rows:
        if any(claim.item == item for claim in held):
            continue
        slot = connection.execute(
            select(slots.c.id)
            .where(slots.c.item == item, *_is_free(now))
            .order_by(slots.c.slot)
            .limit(1)
            .with_for_update(skip_locked=True)
        ).scalar_one_or_none()
        if slot is not None:
            connection.execute(
                update(slots)
                .where(slots.c.id == slot)
                .values(annotator=annotator_id, lease_until=now + LEASE)
            )
            yield item, continuation


def _is_free(now: float) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return slots.c.judged == 0, or_(slots.c.annotator.is_(None), slots.c.lease_until <= now)


def _next_reference(
    connection: Connection,
    annotator_id: int,
    order: tuple[int, int],
    offered: ColumnElement[bool],
) -> tuple[str, str] | None:
    row = connection.execute(
        select(items.c.id, items.c.continuation)
        .join(reference_episodes, reference_episodes.c.item == items.c.id)
        .where(offered, items.c.id.not_in(_met(annotator_id)))
        .order_by(_key(order), items.c.id)
        .limit(1)
    ).one_or_none()
    return None if row is None else (row.id, row.continuation)


def _note_claim(
    connection: Connection, annotator_id: int, item: str, position: int, pool: bool, now: float
) -> None:
    values = {"position": position, "pool": int(pool), "claimed": now}
    again = connection.execute(
        update(claims)
        .where(claims.c.annotator == annotator_id, claims.c.item == item)
        .values(values)
    )
    if again.rowcount == 0:
        connection.execute(insert(claims).values(annotator=annotator_id, item=item, **values))


def _next_position(connection: Connection, annotator_id: int) -> int:
    last = connection.execute(
        select(func.max(claims.c.position)).where(claims.c.annotator == annotator_id)
    ).scalar_one()
    return 0 if last is None else int(last) + 1


def _order(seed: int, annotator_id: int) -> tuple[int, int]:
    digest = hashlib.blake2b(f"order {seed} {annotator_id}".encode(), digest_size=16).digest()
    return 1 + int.from_bytes(digest[:8]) % (PRIME - 1), int.from_bytes(digest[8:]) % PRIME


def _key(order: tuple[int, int]) -> ColumnElement[int]:
    factor, offset = order
    return (items.c.draw * factor + offset) % PRIME


def _share(seed: int, annotator_id: int, position: int) -> float:
    text = f"reference {seed} {annotator_id} {position}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) / 2**64
