"""Which item waits for whom: slots, leases, and the order in which a person meets items."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from sts.annotations import assignment, balance, controls, people
from sts.annotations.assignment import FIRST, ORDINARY, Candidate
from sts.annotations.candidates import (
    FREE,
    OFFERED,
    PERSON,
    SUITE,
    Person,
    candidates,
    free_slot,
    in_suite,
    inside,
    recent_scenarios,
    reference,
    waits,
)
from sts.annotations.events import JUDGEMENTS, judges
from sts.annotations.queue import PRIME
from sts.annotations.schema import claims, events, items, slots
from sts.annotations.study import Study, whole
from sts.annotations.types import Claim
from sts.errors import UnknownName

_COUNTED = 10 * assignment.AHEAD
"""Open slots that are counted: with more, no more are given ahead."""

LEASE = 15 * 60
"""Seconds that an item is kept for the person who claimed it."""


def claim(
    connection: Connection,
    annotator_id: int,
    *,
    suite: str,
    count: int = 3,
    without: Collection[str] = (),
    study: Study,
    now: float,
) -> list[Claim]:
    """Return up to `count` items for one person, in the order to be shown.

    What they already hold comes first and its lease is renewed, so a reload keeps the queue; an
    expired lease that nobody took is still theirs. Fewer than `count`, or none, come back when no
    slot is free for them, or they have judged what the study's `cap` allows for today.
    Continuations in `without` are passed over, and what they hold of them is given back. So is,
    but for the first, which may be before their eyes, what the lead has paused.

    Their k-th item is a reference when hash(seed, annotator, k) falls under `reference_rate` and
    the pool has one that they have not met. Else it is one of the open slots that follow a random
    place of the queue, or, among what is judged twice first, its beginning: what has the highest
    priority, is of no scenario that they met just now, and which `assignment.best` chooses. Ties
    are broken by the hash (a x + b) mod p of the item's own draw x, with a and b from (seed,
    annotator): pairwise independent between annotators (Carter and Wegman 1979).

    Raises:
      UnknownName: there is no such person, or they have retired or do not judge.
    """
    one = people.lock(connection, annotator_id)
    if not one.judges:
        current = [a.name for a in people.everybody(connection) if a.judges]
        raise UnknownName("current annotator", one.name, current)
    standing = controls.standing(connection, study, suite, annotator_id)
    order = _order(study.seed, annotator_id)
    person = Person(annotator_id, suite, order, tuple(without), standing, now + LEASE, now)
    if without:
        _give_back(connection, annotator_id, items.c.continuation.in_(without))
    mine = {"person": annotator_id, "suite": suite, "until": person.until}
    connection.execute(_KEEP, mine)
    room = study.cap - _judged_today(connection, person) if study.cap else PRIME
    held = _kept(connection, person, room)
    if standing.paused or min(count, room) <= len(held):
        return held
    return held + _take(connection, person, study, min(count, room) - len(held), held)


# Made once: to put a statement together costs more than to run it.
_KEEP = (
    update(slots)
    .where(slots.c.annotator == PERSON, slots.c.judged == 0, in_suite(SUITE))
    .values(lease_until=bindparam("until"))
)
_OPEN = select(func.count()).select_from(
    select(slots.c.id).where(waits(), *FREE, in_suite(SUITE)).limit(_COUNTED).subquery()
)
_TAKE_SLOT = (
    update(slots)
    .where(slots.c.id == bindparam("number"))
    .values(annotator=PERSON, lease_until=bindparam("until"))
)
_CLAIM = insert(claims)
_CLAIM_AGAIN = update(claims).where(
    claims.c.annotator == PERSON, claims.c.item == bindparam("which")
)
_LAST_POSITION = select(func.max(claims.c.position)).where(claims.c.annotator == PERSON)


def _kept(connection: Connection, person: Person, room: int) -> list[Claim]:
    """Return what a person goes on with, `room` at most; gives back what should not wait."""
    standing, held = person.standing, _held(connection, person)
    back = [
        one.claim.item
        for place, one in enumerate(held)
        if place >= room or (place > 0 and (standing.paused or one.left_out))
    ]
    if back:
        _give_back(connection, person.id, items.c.id.in_(back))
    return [one.claim for one in held if one.claim.item not in back]


def _give_back(connection: Connection, annotator_id: int, which: ColumnElement[bool]) -> None:
    mine = slots.c.annotator == annotator_id, slots.c.judged == 0
    connection.execute(
        update(slots)
        .where(*mine, exists().where(items.c.id == slots.c.item, which))
        .values(annotator=None, lease_until=None)
    )


def _take(
    connection: Connection, person: Person, study: Study, number: int, held: Sequence[Claim]
) -> list[Claim]:
    """Take up to so many slots and references for a person; return them in their order."""
    shares = balance.of(connection, person.id, whole(person.suite))
    position = _next_position(connection, person.id)
    recent = recent_scenarios(connection, person.id, study.spacing)
    queue = _Queue(connection, person, study.seed, {one.item for one in held})
    taken: list[Claim] = []
    while len(taken) < number:
        coin = assignment.share("order", study.seed, person.id, position)
        # Both are looked for, or the time that it takes would tell which it is.
        pooled = reference(connection, person, recent) if study.reference_rate else None
        if assignment.share("reference", study.seed, person.id, position) >= study.reference_rate:
            pooled = None
        best = queue.best(shares, recent, coin)
        found = pooled or queue.taken(best, shares, recent, coin)
        if found is None:
            break
        new = _note_claim(connection, person, found.item, position, pooled is not None)
        if pooled is None and new:
            balance.note(connection, person.id, whole(person.suite), found.agents)
        shares.add(() if pooled else found.agents)
        recent = [*recent, found.scenario][-study.spacing :] if study.spacing else []
        queue.passed.add(found.item)
        taken.append(Claim(found.item, found.continuation, person.until))
        position += 1
    return taken


class _Queue:
    """The open slots that a person may be given, as far as one claim looks at them."""

    def __init__(self, connection: Connection, person: Person, seed: int, passed: set[str]) -> None:
        """Look at nothing yet; items in `passed` are theirs already."""
        self.passed = passed
        self._connection, self._person, self._seed = connection, person, seed
        levels = sorted({0, *(number for _, number in person.standing.first)}, reverse=True)
        self._turns = [(level, turn) for level in levels for turn in (FIRST, ORDINARY)]
        self._seen: dict[tuple[int, int], list[Candidate]] = {}

    def best(
        self, shares: assignment.Balance, recent: Collection[str], coin: float
    ) -> Candidate | None:
        """Return the best candidate; None where nothing is open for them.

        A scenario that they met just now comes again only where all that is open is of such.
        """
        for scenarios in (recent, ()) if recent else ((),):
            for turn in self._turns:
                found = assignment.best(self._open(turn, coin), shares, scenarios, coin)
                if found is not None:
                    return found
        return None

    def taken(
        self,
        best: Candidate | None,
        shares: assignment.Balance,
        recent: Collection[str],
        coin: float,
    ) -> Candidate | None:
        """Take a slot of the best candidate, or of the next that has one yet."""
        while best is not None:
            self.passed.add(best.item)
            if _take_slot(self._connection, self._person, best.item):
                break
            best = self.best(shares, recent, coin)
        return best

    def _open(self, turn: tuple[int, int], coin: float) -> list[Candidate]:
        """Return the candidates of a turn that were not passed."""
        if turn not in self._seen:
            self._seen[turn] = candidates(self._connection, self._person, *turn, coin)
        left = [one for one in self._seen[turn] if one.item not in self.passed]
        if not left and self._seen[turn]:
            self._seen[turn] = candidates(self._connection, self._person, *turn, coin)
            left = [one for one in self._seen[turn] if one.item not in self.passed]
        return left


def ahead(connection: Connection, suite: str, *, now: float) -> int:
    """Return how many items a person should have at a time: a tenth of what is open, 3 to 20."""
    return assignment.ahead(connection.execute(_OPEN, {"suite": suite, "now": now}).scalar_one())


class _Held(NamedTuple):
    """An item that waits for a person, and whether the lead has paused what it is of."""

    claim: Claim
    left_out: bool


def _held(connection: Connection, person: Person) -> list[_Held]:
    holding = _holding(person.suite, person.standing.left_out)
    return [
        _Held(Claim(r.item, r.continuation, person.until), bool(r.left_out))
        for r in connection.execute(holding, person.values())
    ]


@lru_cache(maxsize=64)
def _holding(suite: str, left_out: tuple[str, ...]) -> Select[tuple[str, str, bool]]:
    """What waits for a person who judges a suite of which some scopes are left out."""
    holds = and_(slots.c.item == claims.c.item, slots.c.annotator == PERSON)
    paused = or_(False, *(inside(scope, suite) for scope in left_out))
    return (
        select(
            claims.c.item,
            items.c.continuation,
            exists().where(holds, paused).label("left_out"),
        )
        .join(items, items.c.id == claims.c.item)
        .where(
            claims.c.annotator == PERSON,
            or_(claims.c.pool == 1, exists().where(holds, in_suite(SUITE))),
            OFFERED,
            ~exists().where(events.c.item == claims.c.item, events.c.annotator == PERSON, judges()),
        )
        .order_by(claims.c.position)
    )


def _judged_today(connection: Connection, person: Person) -> int:
    """How many items a person has judged for the first time since midnight, UTC."""
    day = datetime.fromtimestamp(person.now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    earlier = events.alias("earlier")
    return connection.execute(
        select(func.count(events.c.item.distinct())).where(
            events.c.annotator == person.id,
            judges(),
            events.c.received >= day.timestamp(),
            ~exists().where(
                earlier.c.item == events.c.item,
                earlier.c.annotator == person.id,
                earlier.c.kind.in_(JUDGEMENTS),
                earlier.c.received < day.timestamp(),
            ),
        )
    ).scalar_one()


def _take_slot(connection: Connection, person: Person, item: str) -> bool:
    """Take a free slot of an item for a person; return whether there was one."""
    slot = free_slot(connection, item, person.now)
    if slot is None:
        return False
    taken = {"number": slot, "person": person.id, "until": person.until}
    connection.execute(_TAKE_SLOT, taken)
    return True


def _note_claim(
    connection: Connection, person: Person, item: str, position: int, pool: bool
) -> bool:
    """Keep what a person was given at which place; return whether it is given the first time."""
    own = {"annotator": person.id, "item": item}
    values = {"position": position, "pool": int(pool), "claimed": person.now}
    again = {"person": person.id, "which": item, **values}
    if connection.execute(_CLAIM_AGAIN, again).rowcount:
        return False
    connection.execute(_CLAIM, own | values)
    return True


def _next_position(connection: Connection, annotator_id: int) -> int:
    last = connection.execute(_LAST_POSITION, {"person": annotator_id}).scalar_one()
    return 0 if last is None else int(last) + 1


def _order(seed: int, annotator_id: int) -> tuple[int, int]:
    digest = hashlib.blake2b(f"order {seed} {annotator_id}".encode(), digest_size=16).digest()
    return 1 + int.from_bytes(digest[:8]) % (PRIME - 1), int.from_bytes(digest[8:]) % PRIME
