"""What there is to judge: items, the suites that keep them, their slots, and references."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeVar

from sqlalchemy import Connection, func, insert, select, update

from sts.annotations.schema import (
    events,
    item_players,
    item_suites,
    items,
    reference_episodes,
    slots,
)
from sts.annotations.types import Item, Reference
from sts.errors import ArgumentError, DamagedData, UnknownName
from sts.ratings import MARKED, VERDICTS

T = TypeVar("T")

PRIME = 2**31 - 1
"""Modulus of the hash that orders each annotator's items; see `claims`."""
MOST_REQUIRED = 1000
_BATCH = 500


def enqueue(connection: Connection, every: Iterable[Item], *, required: int, now: float) -> int:
    """Adds continuations to be judged `required` times each; returns how many are new.

    A known continuation keeps its judgements: it gains the suite, its players, and the slots that
    it lacks.

    Raises:
      ArgumentError: `required` is below 1.
      DamagedData: a known continuation comes back with another scenario, horizon or takeover.
    """
    _check_required(required)
    added = 0
    for batch in _batches(every):
        before = _insert_missing(connection, batch, now)
        added += len(batch) - before
        ids = _ids(connection, [item.continuation for item in batch])
        _relate(connection, batch, ids)
        _raise_required(connection, list(ids.values()), required)
    return added


def set_required(connection: Connection, suite: str, required: int) -> int:
    """Raises how often each item of `suite` is judged; returns how many slots were added.

    It never lowers: a slot that was offered may be held.

    Raises:
      ArgumentError: `required` is below 1.
      UnknownName: nothing of that suite is enqueued.
    """
    _check_required(required)
    members = connection.scalars(
        select(item_suites.c.item).where(item_suites.c.suite == suite)
    ).all()
    if not members:
        raise UnknownName("enqueued suite", suite, suites(connection))
    return sum(_raise_required(connection, list(batch), required) for batch in _batches(members))


def enqueued(connection: Connection, continuations: Iterable[str]) -> set[str]:
    """Returns those of `continuations` that are enqueued, or are references."""
    return {one for batch in _batches(continuations) for one in _ids(connection, batch)}


def suites(connection: Connection) -> list[str]:
    """Every suite of which something is enqueued, sorted."""
    return sorted(connection.scalars(select(item_suites.c.suite).distinct()))


def add_reference(
    connection: Connection, item: Item, *, truth: str, step: int | None, note: str, now: float
) -> None:
    """Puts a continuation whose verdict is known into the pool that is served silently.

    Adding the same once more changes nothing. A reference asks for no judgements of its own; if
    its continuation is enqueued as well, it stays so.

    Raises:
      ArgumentError: the truth is not a verdict, its step is outside 1..horizon, or another truth
        is already there.
    """
    check_truth(truth, step, item.horizon)
    _insert_missing(connection, [item], now)
    number = _ids(connection, [item.continuation])[item.continuation]
    row = connection.execute(
        select(reference_episodes).where(reference_episodes.c.item == number)
    ).one_or_none()
    if row is None:
        _add_players(connection, [item], {item.continuation: number})
        connection.execute(
            insert(reference_episodes).values(
                item=number, truth=truth, step=step, note=note, added=now
            )
        )
    elif (row.truth, row.step) != (truth, step):
        raise ArgumentError(
            f"reference {item.continuation} already has the truth {_mark(row.truth, row.step)},"
            f" not {_mark(truth, step)}; a truth is not changed once people were measured by it"
        )


def check_truth(truth: str, step: int | None, horizon: int) -> None:
    """Raises ArgumentError unless the truth can be one: success, failure or not_done."""
    truths = [verdict for verdict in VERDICTS if verdict != "cannot_judge"]
    if truth not in truths:
        raise UnknownName("truth", truth, truths)
    if step is not None and truth not in MARKED:
        raise ArgumentError(f"a truth of {truth} carries no step, found {step}; leave it out")
    if step is not None and not 1 <= step <= horizon:
        raise ArgumentError(
            f"expected a step of 1 to {horizon}, counted from takeover, found {step}"
        )


def references(connection: Connection) -> list[Reference]:
    """The whole pool, in the order it was filled."""
    judged = (
        select(func.count(events.c.annotator.distinct()))
        .where(events.c.item == reference_episodes.c.item)
        .scalar_subquery()
    )
    rows = connection.execute(
        select(
            items.c.continuation,
            reference_episodes.c.truth,
            reference_episodes.c.step,
            reference_episodes.c.note,
            judged,
        )
        .join(items, items.c.id == reference_episodes.c.item)
        .order_by(reference_episodes.c.added, items.c.continuation)
    )
    return [Reference(*row) for row in rows]


def _check_required(required: int) -> None:
    if not 1 <= required <= MOST_REQUIRED:
        raise ArgumentError(
            f"expected 1 to {MOST_REQUIRED} judgements for each item, found {required}"
        )


def _mark(truth: str, step: int | None) -> str:
    return truth if step is None else f"{truth} at step {step}"


def _batches(values: Iterable[T]) -> Iterator[list[T]]:
    stream = iter(values)
    while batch := list(islice(stream, _BATCH)):
        yield batch


def _insert_missing(connection: Connection, batch: list[Item], now: float) -> int:
    """Inserts what is unknown; returns how many were known."""
    rows = connection.execute(
        select(items).where(items.c.continuation.in_([item.continuation for item in batch]))
    )
    present = {row.continuation: row for row in rows}
    fresh: dict[str, Item] = {}
    for item in batch:
        if not (1 <= item.horizon <= PRIME and 0 <= item.takeover <= PRIME):
            raise DamagedData(
                f"continuation {item.continuation}: expected a horizon of 1 to {PRIME} steps and a "
                f"takeover of 0 or more, found {item.horizon} and {item.takeover}"
            )
        row = present.get(item.continuation) or fresh.setdefault(item.continuation, item)
        stored = (row.scenario_hash, row.horizon, row.takeover)
        if stored != (item.scenario_hash, item.horizon, item.takeover):
            raise DamagedData(
                f"continuation {item.continuation} was enqueued with scenario hash, horizon and "
                f"takeover {stored}, and now comes with "
                f"{(item.scenario_hash, item.horizon, item.takeover)}; run it again"
            )
    if fresh:
        connection.execute(insert(items), [_row(item, now) for item in fresh.values()])
    return len(batch) - len(fresh)


def _row(item: Item, now: float) -> dict[str, object]:
    digest = hashlib.blake2b(item.continuation.encode(), digest_size=8).digest()
    return {
        # Random, so that what reaches a browser tells neither agent nor scenario nor order.
        "id": secrets.token_urlsafe(16),
        "continuation": item.continuation,
        "scenario": item.scenario,
        "scenario_hash": item.scenario_hash,
        "agent": item.agent,
        "category": item.category,
        "kind": item.kind,
        "sees": item.sees,
        "horizon": item.horizon,
        "takeover": item.takeover,
        "required": 0,
        "draw": 1 + int.from_bytes(digest) % (PRIME - 1),
        "added": now,
    }


def _ids(connection: Connection, continuations: list[str]) -> dict[str, str]:
    rows = connection.execute(
        select(items.c.continuation, items.c.id).where(items.c.continuation.in_(continuations))
    )
    return {row.continuation: row.id for row in rows}


def _relate(connection: Connection, batch: list[Item], ids: Mapping[str, str]) -> None:
    pairs = {(item.suite, ids[item.continuation]) for item in batch}
    rows = connection.execute(
        select(item_suites.c.suite, item_suites.c.item).where(item_suites.c.item.in_(ids.values()))
    )
    missing = pairs - {(row.suite, row.item) for row in rows}
    if missing:
        connection.execute(
            insert(item_suites), [{"suite": suite, "item": item} for suite, item in sorted(missing)]
        )
    _add_players(connection, batch, ids)


def _add_players(connection: Connection, batch: list[Item], ids: Mapping[str, str]) -> None:
    pairs = {(ids[item.continuation], name) for item in batch for name in item.players}
    if not pairs:
        return
    rows = connection.execute(
        select(item_players.c.item, item_players.c.name).where(
            item_players.c.item.in_({item for item, _ in pairs})
        )
    )
    missing = pairs - {(row.item, row.name) for row in rows}
    if missing:
        connection.execute(
            insert(item_players), [{"item": item, "name": name} for item, name in sorted(missing)]
        )


def _raise_required(connection: Connection, members: list[str], required: int) -> int:
    """Adds the slots that `members` lack; returns how many."""
    below = connection.execute(
        select(items.c.id, items.c.required).where(
            items.c.id.in_(members), items.c.required < required
        )
    ).all()
    missing = [
        {"item": row.id, "slot": slot}
        for row in below
        for slot in range(row.required + 1, required + 1)
    ]
    if missing:
        connection.execute(insert(slots), missing)
        connection.execute(
            update(items).where(items.c.id.in_([row.id for row in below])).values(required=required)
        )
    return len(missing)
