"""Conversion of continuations to items of the annotation store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sts.annotations.records import Item
from sts.continuations import human
from sts.continuations.continuation import HUMAN

if TYPE_CHECKING:
    from sts.annotations.queue.rounds import RoundOrder
    from sts.continuations.continuation import Continuation
    from sts.continuations.index import Entry


def make_item(
    continuation: Continuation | Entry,
    suite: str,
    players: tuple[str, ...] = (),
    rubric: str | None = None,
    settled: str | None = None,
    order: RoundOrder | None = None,
) -> Item:
    """Return a continuation's item for `suite`, which is "" for a reference.

    `order` is that of the suite; without one, as for a reference, the item comes first.
    """
    place = 0
    if order is not None:
        index = continuation.identity.index
        place = order.find_place(continuation.agent, index, continuation.scenario_hash)
    return Item(
        continuation=continuation.id,
        suite=suite,
        scenario=continuation.scenario_id,
        scenario_hash=continuation.scenario_hash,
        agent=continuation.agent,
        category=continuation.category,
        kind=continuation.kind,
        horizon=continuation.horizon,
        takeover=continuation.takeover,
        clip=f"{continuation.clip}.{rubric}" if rubric else continuation.clip,
        players=players,
        sees=continuation.sees,
        rubric=rubric,
        auto_resolve_rule=settled,
        place=place,
    )


def find_players(continuation: Continuation | Entry, people: Iterable[str]) -> tuple[str, ...]:
    """Return those of the pseudonyms `people` who played a continuation, and may not judge it."""
    if continuation.agent != HUMAN:
        return ()
    fingerprint = continuation.identity.fingerprint
    return tuple(person for person in people if human.person_fingerprint(person) == fingerprint)
