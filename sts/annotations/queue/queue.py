"""The annotation queue: items, the suites they belong to, and their slots."""

import hashlib
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, Row, Table, bindparam, insert, select, update

from sts.annotations.database.database import iter_batches
from sts.annotations.database.schema import copies, item_suites, items, slots
from sts.annotations.log import looks
from sts.annotations.people import deal
from sts.annotations.queue import assignment, auto_resolved, balance, places, references, rubrics
from sts.annotations.records import Item
from sts.annotations.study import StudySettings
from sts.errors import ArgumentError, DamagedData
from sts.ratings import RULE

HASH_MODULUS = 2**31 - 1
"""Modulus of the hash that orders each annotator's references; see `claims`."""
_RUN_SIZE = 50_000
"""Number of items that are added at a time."""
_ANALYZE_FROM = 1000
"""Number of added items from which PostgreSQL's table statistics are refreshed."""


def enqueue(
    connection: Connection,
    continuations: Iterable[Item],
    *,
    study: StudySettings,
    now: float,
) -> int:
    """Add continuations to the queue with their required judgements; return how many are new.

    A known continuation keeps its judgements; it gains the suite, its players and missing slots. If
    agents are new to a suite, anchors are opened; see `balance`. Clips without a judgement move to
    their item's version of the rubric; see `rubrics`.

    The connection must be the only writer.

    Raises:
      DamagedData: a known continuation comes back with another scenario, horizon or takeover.
    """
    added = 0
    touched: set[str] = set()
    references.drop_open_slots(connection)
    for run in iter_batches(continuations, _RUN_SIZE):
        deal.place_categories(connection, {item.category for item in run}, study.seed)
        requirements = _max_requirements(run, study)
        moved = rubrics.detach_continuations(connection, run)
        ids, fresh, new = _add_items(connection, run, requirements, now=now)
        rubrics.supersede_items(connection, moved, ids)
        added += new - len(moved)
        members = {(item.suite, ids[item.continuation]) for item in run}
        known = {(suite, id) for suite, id in members if id not in fresh}
        _insert_rows(connection, item_suites, sorted(members - known))
        related = _link_suites(connection, known)
        rubrics.store_players(connection, _player_pairs(run, ids))
        raised = _add_missing_slots(connection, run, requirements, ids, fresh)
        raised += auto_resolved.record_settled(connection, run, ids)
        if new or related or raised:
            touched |= {item.suite for item in run}
    for suite in sorted(touched):
        balance.refresh_balance(connection, suite, study=study, now=now)
        out = looks.load_race(connection, suite).out
        places.place_clips(connection, suite, out, out)
    if added >= _ANALYZE_FROM and connection.dialect.name == "postgresql":
        # Without statistics its plans scan whole tables to find the next clip.
        for table in (items, copies, item_suites, slots):
            connection.exec_driver_sql(f"ANALYZE {table.name}")
    return added


def _max_requirements(run: list[Item], study: StudySettings) -> dict[str, int]:
    """Return the number of judgements of each clip of a run: the largest of its items."""
    highest: dict[str, int] = {}
    for item in run:
        required = assignment.count_required(study, item)
        highest[item.clip] = max(required, highest.get(item.clip, required))
    return highest


def _add_missing_slots(
    connection: Connection,
    run: list[Item],
    requirements: Mapping[str, int],
    ids: Mapping[str, str],
    fresh: set[str],
) -> int:
    """Add the slots that known items lack; return how many."""
    members: dict[int, set[str]] = {}
    for item in run:
        if ids[item.continuation] not in fresh:
            members.setdefault(requirements[item.clip], set()).add(ids[item.continuation])
    return sum(
        _add_slots(connection, batch, required)
        for required, ids_ in members.items()
        for batch in iter_batches(sorted(ids_))
    )


def find_enqueued(connection: Connection, continuations: Iterable[str]) -> set[str]:
    """Return those of `continuations` that are enqueued or are references."""
    ids: set[str] = set()
    for batch in iter_batches(continuations):
        query = select(copies.c.continuation).where(copies.c.continuation.in_(batch))
        ids.update(connection.scalars(query))
    return ids


def list_suites(connection: Connection) -> list[str]:
    """List the suites that have enqueued items, sorted."""
    return sorted(connection.scalars(select(item_suites.c.suite).distinct()))


def add_reference(
    connection: Connection,
    item: Item,
    truth: str,
    step: int | None = None,
    note: str = "",
    *,
    source: str = RULE,
    study: StudySettings,
    now: float,
) -> None:
    """Add a continuation with a known verdict to the pool of references.

    Adding it again changes only its note, if the new one is not empty. References need no
    judgements of their own: open slots of an enqueued clip are removed; see `references`, also for
    the `source` of the verdict.

    Raises:
      ArgumentError: the truth is not a verdict, its step is outside 1..horizon, or another truth
        is already stored.
    """
    references.check_truth(truth, step, item.horizon)
    deal.place_categories(connection, {item.category}, study.seed)
    ids, _, _ = _add_items(connection, [item], {item.clip: 0}, now=now)
    number = ids[item.continuation]
    row = references.find_reference(connection, number)
    if row is None:
        rubrics.store_players(connection, _player_pairs([item], ids))
        references.append_reference(connection, number, truth, step, source, note, now=now)
        references.drop_open_slots(connection)
    elif (row.truth, row.step) != (truth, step):
        old = references.format_truth(row.truth, row.step)
        new = references.format_truth(truth, step)
        raise ArgumentError(
            f"reference {item.continuation} already has the truth {old}, not {new}; truths "
            "cannot be changed after people were measured by them"
        )
    elif note:
        references.set_note(connection, number, note)


def _add_items(
    connection: Connection, run: list[Item], requirements: Mapping[str, int], *, now: float
) -> tuple[dict[str, str], set[str], int]:
    """Add unknown continuations of a run, and their items with slots where these are new.

    Return the items by continuation, the new ones among them, and the number of new continuations.
    """
    continuations, clips = _find_existing(connection, run)
    fresh: dict[str, Item] = {}
    unknown: dict[str, Item] = {}
    for item in run:
        if not (1 <= item.horizon <= HASH_MODULUS and 0 <= item.takeover <= HASH_MODULUS):
            raise DamagedData(
                f"continuation {item.continuation}: expected a horizon of 1 to {HASH_MODULUS} "
                f"steps and a takeover of 0 or more, found {item.horizon} and {item.takeover}"
            )
        if item.continuation not in continuations:
            unknown.setdefault(item.continuation, item)
        row: Row[*tuple[Any, ...]] | Item = (
            continuations.get(item.continuation)
            or clips.get(item.clip)
            or fresh.setdefault(item.clip, item)
        )
        stored = (row.scenario_hash, row.horizon, row.takeover)
        if stored != (item.scenario_hash, item.horizon, item.takeover):
            raise DamagedData(
                f"continuation {item.continuation} was enqueued with scenario hash, horizon and "
                f"takeover {stored}, and now comes with "
                f"{(item.scenario_hash, item.horizon, item.takeover)}; run it again"
            )
    first: dict[str, int] = {}
    for item in unknown.values():
        first[item.clip] = min(item.place, first.get(item.clip, item.place))
    # Sorted by id, so that indices are extended in order.
    rows = sorted(
        _item_row(item, requirements[item.clip], first[item.clip], now) for item in fresh.values()
    )
    _insert_rows(connection, items, rows)
    new_slots = [
        (row.id, number, row.place, row.category)
        for row in rows
        for number in range(1, requirements[row.clip] + 1)
    ]
    _insert_rows(connection, slots, new_slots)
    of_clip = {clip: row.id for clip, row in clips.items()} | {row.clip: row.id for row in rows}
    new_copies = [
        (item.continuation, of_clip[item.clip], item.agent, item.sees, item.place)
        for item in unknown.values()
    ]
    _insert_rows(connection, copies, sorted(new_copies))
    _move_forward(connection, {of_clip[clip]: first[clip] for clip in first.keys() - fresh.keys()})
    ids = {name: row.id for name, row in continuations.items()} | {
        name: of_clip[item.clip] for name, item in unknown.items()
    }
    return ids, {row.id for row in rows}, len(new_copies)


def _move_forward(connection: Connection, places: Mapping[str, int]) -> None:
    """Move known clips to these places, by item, where a new continuation is to come earlier."""
    parameters = [{"which": item, "earlier": place} for item, place in places.items()]
    for statement in _MOVE_FORWARD if parameters else ():
        connection.execute(statement, parameters)


_MOVE_FORWARD = [
    update(table)
    .where(of == bindparam("which"), table.c.place > bindparam("earlier"))
    .values(place=bindparam("earlier"))
    for table, of in ((items, items.c.id), (slots, slots.c.item))
]

_Rows = dict[str, Row[*tuple[Any, ...]]]


def _find_existing(connection: Connection, run: list[Item]) -> tuple[_Rows, _Rows]:
    """Return the existing items of a run: by continuation, and by clip."""
    if connection.execute(select(items.c.id).limit(1)).first() is None:
        return {}, {}
    columns = (items.c.id, items.c.scenario_hash, items.c.horizon, items.c.takeover)
    continuations: _Rows = {}
    for batch in iter_batches(item.continuation for item in run):
        query = select(copies.c.continuation, *columns).join(items, items.c.id == copies.c.item)
        rows = connection.execute(query.where(copies.c.continuation.in_(batch)))
        continuations |= {row.continuation: row for row in rows}
    clips: _Rows = {}
    for batch in iter_batches(
        {item.clip for item in run if item.continuation not in continuations}
    ):
        by_clip = select(items.c.clip, *columns).where(items.c.clip.in_(batch))
        clips |= {row.clip: row for row in connection.execute(by_clip)}
    new = {i for i in run if i.continuation not in continuations and i.clip not in clips}
    return continuations, clips | _find_lookalikes(connection, new, columns)


def _find_lookalikes(
    connection: Connection, run: Collection[Item], columns: Sequence[Column[Any]]
) -> _Rows:
    """Return items by the clip of new ones that look the same under another rubric version.

    People cannot see which agent made a clip. So a new continuation that looks like a reference
    joins it, and a new reference joins the queued clip that it looks like.
    """
    versions = connection.scalars(select(items.c.rubric).distinct()).all()
    looks: dict[str, Item] = {}
    for item in run:
        shown = item.clip.removesuffix(f".{item.rubric}") if item.rubric else item.clip
        looks |= {f"{shown}.{v}" if v else shown: item for v in versions}
    found: _Rows = {}
    for batch in iter_batches(looks):
        query = select(items.c.clip, *columns, references.is_reference(items.c.id).label("known"))
        for row in connection.execute(query.where(items.c.clip.in_(batch)).order_by(items.c.added)):
            item = looks[row.clip]
            if row.known or item.rubric is None:
                found[item.clip] = row
    return found


class _ItemRow(NamedTuple):
    """A new row of `items`."""

    id: str
    continuation: str
    scenario: str
    scenario_hash: str
    category: str
    kind: str
    horizon: int
    takeover: int
    annotations_required: int
    draw: int
    place: int
    added: float
    clip: str
    rubric: str


_COLUMNS = {table: table.columns.keys() for table in (copies, item_suites)} | {
    items: [*_ItemRow._fields],
    slots: ["item", "slot", "place", "category"],
}


def _insert_rows(connection: Connection, table: Table, rows: Sequence[tuple[object, ...]]) -> None:
    """Insert rows of `_COLUMNS`, on SQLite without SQLAlchemy, which takes most of the time."""
    if not rows:
        return
    names = _COLUMNS[table]
    if connection.dialect.positional:
        compiled = insert(table).compile(dialect=connection.dialect, column_keys=names)
        connection.exec_driver_sql(str(compiled), list(rows))
    else:
        connection.execute(insert(table), [dict(zip(names, row, strict=True)) for row in rows])


def _item_row(item: Item, required: int, place: int, now: float) -> _ItemRow:
    digest = hashlib.blake2b(item.continuation.encode(), digest_size=8).digest()
    return _ItemRow(
        # Random, so that the id reveals neither agent nor scenario nor order to a browser.
        secrets.token_urlsafe(16),
        item.continuation,
        item.scenario,
        item.scenario_hash,
        item.category,
        item.kind,
        item.horizon,
        item.takeover,
        required,
        1 + int.from_bytes(digest) % (HASH_MODULUS - 1),
        place,
        now,
        item.clip,
        item.rubric or "",
    )


def _link_suites(connection: Connection, pairs: set[tuple[str, str]]) -> int:
    """Add missing links between suites and items; return how many were added."""
    count = 0
    for suite in {suite for suite, _ in pairs}:
        for batch in iter_batches(item for name, item in pairs if name == suite):
            linked = connection.scalars(
                select(item_suites.c.item).where(
                    item_suites.c.suite == suite, item_suites.c.item.in_(batch)
                )
            )
            missing = sorted(set(batch) - set(linked))
            _insert_rows(connection, item_suites, [(suite, item) for item in missing])
            count += len(missing)
    return count


def _player_pairs(run: list[Item], ids: Mapping[str, str]) -> set[tuple[str, str]]:
    return {(ids[item.continuation], name) for item in run for name in item.players}


def _add_slots(connection: Connection, members: list[str], required: int) -> int:
    """Add the slots that `members` lack; return how many."""
    below = connection.execute(
        select(items.c.id, items.c.annotations_required, items.c.place, items.c.category).where(
            items.c.id.in_(members),
            items.c.annotations_required < required,
            ~references.is_reference(items.c.id),
        )
    ).all()
    missing = [
        (row.id, slot, row.place, row.category)
        for row in below
        for slot in range(row.annotations_required + 1, required + 1)
    ]
    if missing:
        _insert_rows(connection, slots, missing)
        connection.execute(
            update(items)
            .where(items.c.id.in_([row.id for row in below]))
            .values(annotations_required=required)
        )
    return len(missing)
