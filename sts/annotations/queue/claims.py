"""Assignment of items to annotators: slots, leases, and the order in which items are shown."""

import hashlib
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from sqlalchemy import (
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

from sts.annotations.database.schema import claims, events, items, slots
from sts.annotations.draws import unit_hash
from sts.annotations.log.closings import find_closing
from sts.annotations.log.events import JUDGEMENT_KINDS, is_judgement
from sts.annotations.people import deal, people
from sts.annotations.queue import assignment, balance, controls
from sts.annotations.queue.assignment import Candidate
from sts.annotations.queue.candidates import (
    IS_FREE,
    IS_UNJUDGED,
    NOT_EXCLUDED,
    PERSON,
    SUITE,
    Claimant,
    choose_reference,
    is_in_scope,
    is_in_suite,
    load_candidates,
    load_recent_scenarios,
    lock_free_slot,
)
from sts.annotations.queue.places import IS_WANTED
from sts.annotations.queue.queue import HASH_MODULUS
from sts.annotations.records import Claim
from sts.annotations.study import StudySettings, base_suite
from sts.errors import UnknownName

_MAX_COUNTED = 10 * assignment.MAX_BATCH_SIZE
"""Number of open slots to count; batches do not grow beyond it."""

LEASE_DURATION_S = 15 * 60
"""Seconds for which an item is reserved for the person who claimed it."""


def claim_items(
    connection: Connection,
    annotator_id: int,
    *,
    suite: str,
    count: int = 3,
    without: Collection[str] = (),
    study: StudySettings,
    now: float,
) -> list[Claim]:
    """Claim up to `count` items for a person, and return them in the order in which to show them.

    The items they already hold come first and their leases are renewed, so reloading the page keeps
    the queue; an expired lease is renewed unless someone else took the item. The result is shorter
    than `count`, or empty, if no slot is free for them or they have reached the study's
    `daily_limit` or `clips_per_person`. Items whose continuation is in `without` are skipped and
    released. Items that the lead has paused are released except the first, which the person may be
    watching.

    The k-th item is a reference if hash(seed, annotator, k) is below `reference_rate` and the pool
    has one that they have not met: the first by the hash (a x + b) mod p of its own draw x, with a
    and b from (seed, annotator), pairwise independent between annotators (Carter and Wegman 1979).
    Otherwise it comes from the next open slots in the order of judging; see `rounds`. The highest
    priority wins, then scenarios not shown recently, then `assignment.choose_next`. The first item
    of a category fixes whether they see its texts; see `deal`.

    Raises:
      UnknownName: there is no such person, or they are deactivated or not an annotator.
    """
    annotator = people.lock_person(connection, annotator_id)
    if not annotator.is_annotator:
        current = [a.name for a in people.list_people(connection) if a.is_annotator]
        raise UnknownName("current annotator", annotator.name, current)
    settings = controls.effective_settings(connection, study, suite, annotator_id)
    order = _random_order(study.seed, annotator_id)
    claimant = Claimant(
        annotator_id, suite, order, tuple(without), settings, now + LEASE_DURATION_S, now
    )
    if without:
        excluded = exists().where(items.c.id == slots.c.item, items.c.continuation.in_(without))
        people.release_slots(connection, annotator_id, excluded)
    renewal = {"person": annotator_id, "suite": suite, "until": claimant.until}
    connection.execute(_RENEW_LEASES, renewal)
    room = _count_room(connection, claimant, study)
    own_claims = _retain_claims(connection, claimant, room)
    if settings.paused or min(count, room) <= len(own_claims):
        return own_claims
    return own_claims + _claim_new(
        connection, claimant, study, min(count, room) - len(own_claims), own_claims
    )


# Built once: building a statement takes longer than running it.
_RENEW_LEASES = (
    update(slots)
    .where(slots.c.annotator == PERSON, slots.c.judged == 0, is_in_suite(SUITE))
    .values(lease_until=bindparam("until"))
)
_COUNT_OPEN = select(func.count()).select_from(
    select(slots.c.id)
    .where(IS_UNJUDGED, *IS_FREE, IS_WANTED, is_in_suite(SUITE))
    .limit(_MAX_COUNTED)
    .subquery()
)
_TAKE_SLOT = (
    update(slots)
    .where(slots.c.id == bindparam("number"))
    .values(annotator=PERSON, lease_until=bindparam("until"))
)
_INSERT_CLAIM = insert(claims)
_UPDATE_CLAIM = update(claims).where(
    claims.c.annotator == PERSON, claims.c.item == bindparam("which")
)
_NEXT_POSITION = select(func.coalesce(func.max(claims.c.position) + 1, 0)).where(
    claims.c.annotator == PERSON
)


def _retain_claims(connection: Connection, claimant: Claimant, room: int) -> list[Claim]:
    """Return the claims that a person keeps, at most `room`, and release the others."""
    settings = claimant.settings
    query = _select_held(claimant.suite, settings.paused_scopes)
    rows = connection.execute(query, claimant.parameters()).all()
    released = [
        row.item
        for place, row in enumerate(rows)
        if place >= room or (place > 0 and (settings.paused or row.left_out))
    ]
    if released:
        people.release_slots(connection, claimant.id, slots.c.item.in_(released))
    remaining = (row for row in rows if row.item not in released)
    return [Claim(row.item, row.continuation, row.category) for row in remaining]


def _claim_new(
    connection: Connection,
    claimant: Claimant,
    study: StudySettings,
    number: int,
    own_claims: Sequence[Claim],
) -> list[Claim]:
    """Claim up to `number` slots and references for a person; return them in the order to show."""
    shares = balance.load_balance(connection, claimant.id, base_suite(claimant.suite))
    position = connection.execute(_NEXT_POSITION, {"person": claimant.id}).scalar_one()
    recent = load_recent_scenarios(connection, claimant.id, study.min_gap)
    queue = _OpenSlots(connection, claimant, {claim.item for claim in own_claims})
    conditions = deal.load_conditions(connection, claimant.id, study)
    withheld = [category for category, shown in conditions.items() if not shown]
    claims_: list[Claim] = []
    while len(claims_) < number:
        coin = unit_hash("order", study.seed, claimant.id, position)
        # Both are searched for, so that the response time does not reveal references.
        pooled = (
            choose_reference(connection, claimant, recent, withheld)
            if study.reference_rate
            else None
        )
        draw = unit_hash("reference", study.seed, claimant.id, position)
        pooled = pooled if draw < study.reference_rate else None
        best = queue.choose_next(shares, recent, coin)
        candidate = pooled or queue.take_next(best, shares, recent, coin)
        if candidate is None:
            break
        new = _record_claim(connection, claimant, candidate.item, position, pooled is not None)
        if pooled is None and new:
            balance.count_clip(
                connection, claimant.id, base_suite(claimant.suite), candidate.agents
            )
        shares.add(() if pooled else candidate.agents)
        recent = [*recent, candidate.scenario][-study.min_gap :] if study.min_gap else []
        queue.claimed.add(candidate.item)
        claims_.append(Claim(candidate.item, candidate.continuation, candidate.category))
        position += 1
    new_categories = {claim.category for claim in claims_}
    deal.store_conditions(
        connection, claimant.id, {name: conditions[name] for name in new_categories}
    )
    return claims_


class _OpenSlots:
    """The open slots for a person, as loaded during one claim."""

    def __init__(self, connection: Connection, claimant: Claimant, claimed: set[str]) -> None:
        """Load nothing yet; the person has already claimed the items in `claimed`."""
        self.claimed = claimed
        self._connection, self._claimant = connection, claimant
        self._priorities = sorted({0, *(p for _, p in claimant.settings.priorities)}, reverse=True)
        self._seen: dict[int, list[Candidate]] = {}

    def choose_next(
        self, shares: assignment.Balance, recent: Collection[str], coin: float
    ) -> Candidate | None:
        """Choose the best candidate; return None if nothing is open for them.

        Recently shown scenarios are repeated only if no others are open.
        """
        for scenarios in (recent, ()) if recent else ((),):
            for priority in self._priorities:
                candidate = assignment.choose_next(
                    self._list_unclaimed(priority), shares, scenarios, coin
                )
                if candidate is not None:
                    return candidate
        return None

    def take_next(
        self,
        best: Candidate | None,
        shares: assignment.Balance,
        recent: Collection[str],
        coin: float,
    ) -> Candidate | None:
        """Take a slot of the best candidate, or of the next best that still has one."""
        while best is not None:
            self.claimed.add(best.item)
            if _take_slot(self._connection, self._claimant, best.item):
                break
            best = self.choose_next(shares, recent, coin)
        return best

    def _list_unclaimed(self, priority: int) -> list[Candidate]:
        """Return a priority's candidates that are not claimed yet, reloading if none is left."""
        if priority not in self._seen:
            self._seen[priority] = load_candidates(self._connection, self._claimant, priority)
        unclaimed = [item for item in self._seen[priority] if item.item not in self.claimed]
        if not unclaimed and self._seen[priority]:
            self._seen[priority] = load_candidates(self._connection, self._claimant, priority)
            unclaimed = [item for item in self._seen[priority] if item.item not in self.claimed]
        return unclaimed


def batch_size(connection: Connection, suite: str, *, now: float) -> int:
    """Return how many items to assign to a person at a time: a tenth of the open ones, 3 to 20."""
    return assignment.batch_size(
        connection.execute(_COUNT_OPEN, {"suite": suite, "now": now}).scalar_one()
    )


@lru_cache(maxsize=64)
def _select_held(suite: str, left_out: tuple[str, ...]) -> Select[tuple[str, str, str, bool]]:
    """Select the unjudged items that a person holds in a suite, flagging those in paused scopes."""
    holds = and_(slots.c.item == claims.c.item, slots.c.annotator == PERSON)
    paused = or_(False, *(is_in_scope(scope, suite) for scope in left_out))
    return (
        select(
            claims.c.item,
            items.c.continuation,
            items.c.category,
            exists().where(holds, paused).label("left_out"),
        )
        .join(items, items.c.id == claims.c.item)
        .where(
            claims.c.annotator == PERSON,
            or_(claims.c.pool == 1, exists().where(holds, is_in_suite(SUITE))),
            NOT_EXCLUDED,
            ~exists().where(
                events.c.item == claims.c.item, events.c.annotator == PERSON, is_judgement()
            ),
        )
        .order_by(claims.c.position)
    )


def has_finished(
    connection: Connection, annotator_id: int, suite: str, *, study: StudySettings, now: float
) -> bool:
    """Return True if a person to whom no item can be assigned has done what they were asked for.

    They have judged the study's `clips_per_person`. Or they have judged something, the suite is
    closed or nothing in it is left for them, and they are neither paused nor at the `daily_limit`.
    """
    done = balance.count_judged(connection, annotator_id, suite)
    if study.clips_per_person and done >= study.clips_per_person:
        return True
    paused = controls.effective_settings(connection, study, suite, annotator_id).paused
    is_available = find_closing(connection, suite) is not None or not paused
    day_is_full = study.daily_limit and study.daily_limit <= _count_judged_today(
        connection, annotator_id, now
    )
    return done > 0 and is_available and not day_is_full


def _count_room(connection: Connection, claimant: Claimant, study: StudySettings) -> int:
    """Count the items that a person may still be assigned today."""
    room = HASH_MODULUS
    if study.daily_limit:
        room = study.daily_limit - _count_judged_today(connection, claimant.id, claimant.now)
    if study.clips_per_person:
        done = balance.count_judged(connection, claimant.id, claimant.suite)
        room = min(room, study.clips_per_person - done)
    return max(room, 0)


def _count_judged_today(connection: Connection, annotator_id: int, now: float) -> int:
    """Count the items that a person has judged for the first time since midnight, UTC."""
    day = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    earlier = events.alias("earlier")
    return connection.execute(
        select(func.count(events.c.item.distinct())).where(
            events.c.annotator == annotator_id,
            is_judgement(),
            events.c.received >= day.timestamp(),
            ~exists().where(
                earlier.c.item == events.c.item,
                earlier.c.annotator == annotator_id,
                earlier.c.kind.in_(JUDGEMENT_KINDS),
                earlier.c.received < day.timestamp(),
            ),
        )
    ).scalar_one()


def _take_slot(connection: Connection, claimant: Claimant, item: str) -> bool:
    """Take a free slot of an item for a person; return False without one."""
    slot = lock_free_slot(connection, item, claimant.now)
    if slot is None:
        return False
    parameters = {"number": slot, "person": claimant.id, "until": claimant.until}
    connection.execute(_TAKE_SLOT, parameters)
    return True


def _record_claim(
    connection: Connection, claimant: Claimant, item: str, position: int, pool: bool
) -> bool:
    """Store the position at which a person gets an item; return True if it is new to them."""
    values = {"position": position, "pool": int(pool), "claimed": claimant.now}
    parameters = {"person": claimant.id, "which": item, **values}
    if connection.execute(_UPDATE_CLAIM, parameters).rowcount:
        return False
    connection.execute(_INSERT_CLAIM, {"annotator": claimant.id, "item": item, **values})
    return True


def _random_order(seed: int, annotator_id: int) -> tuple[int, int]:
    digest = hashlib.blake2b(f"order {seed} {annotator_id}".encode(), digest_size=16).digest()
    factor, offset = int.from_bytes(digest[:8]), int.from_bytes(digest[8:])
    return 1 + factor % (HASH_MODULUS - 1), offset % HASH_MODULUS
