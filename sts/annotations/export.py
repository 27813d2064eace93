"""Judgements as the ratings table that analysis and other programs read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import Connection, Row, Subquery, func, literal, select, union_all

from sts.annotations.assignment import FIRST
from sts.annotations.events import ADJUDICATION, judges
from sts.annotations.schema import (
    annotators,
    copies,
    events,
    item_suites,
    items,
    reference_episodes,
    settled,
    slots,
    superseded,
)
from sts.annotations.store import Store
from sts.annotations.views import current
from sts.ratings import columns
from sts.storage.csv_tables import to_csv
from sts.storage.files import write_atomically
from sts.storage.workspace import Workspace

_TYPES = columns(
    *("kind", "truth", "truth_step", "clip", "seconds", "source", "sees", "reason", "extra"),
    *("adjudicated", "adjudicated_step", "rubric", "order", "twice"),
)


def ratings(workspace: Workspace, suite: str | None = None, *, names: bool = False) -> pd.DataFrame:
    """Returns the current judgements of a suite's continuations, corrections applied.

    One row per judgement and continuation that it covers, which are all of one `clip`: what was
    said of a clip is said of each. A continuation that nobody has judged has one row with annotator
    and verdict empty; one that a rule has settled has the source `settled` and the verdict
    not_done. The adjudication of a clip stands in all its rows. Rows with a `truth` are
    those of reference episodes: every judgement of one is here, whichever suite its annotator was
    working on, because it measures the annotator.

    Args:
      workspace: where the store is; none is made.
      suite: `NAME@VERSION`, or None for everything in the store.
      names: whether people are called by name; else each by their pseudonym.

    Returns:
      The columns of the ratings format; text is "" and numbers are NA where they are missing.
      Without a store, or for a suite that is not enqueued, it has no rows.

    Raises:
      StoreError: the store is there and cannot be read.
    """
    store = Store.find(workspace)
    if store is None:
        rows = []
    else:
        with store, store.database.read() as connection:
            rows = _rows(connection, suite, names)
    return pd.DataFrame(rows, columns=list(_TYPES)).astype(_TYPES)


def pool(workspace: Workspace) -> set[str]:
    """Returns the continuations that serve as reference episodes, judged or not."""
    store = Store.find(workspace)
    if store is None:
        return set()
    with store:
        return {reference.continuation for reference in store.references()}


def write_csv(path: Path, table: pd.DataFrame) -> None:
    """Writes a ratings table as CSV, UTF-8 with one header line; the file is whole or absent."""
    cells = table.astype(object).where(table.notna(), None)
    write_atomically(path, to_csv(table.columns, cells.itertuples(index=False, name=None)))


def _rows(connection: Connection, suite: str | None, names: bool) -> list[tuple[object, ...]]:
    called = annotators.c.name if names else annotators.c.pseudonym
    standing = (
        select(events).join(latest := current(), latest.c.id == events.c.id).subquery("judgement")
    )
    last = current([ADJUDICATION], by=False)
    decided = select(events).join(last, last.c.id == events.c.id).subquery("adjudication")
    shown, turns = _shown(), _turns()
    query = (
        select(
            shown.c.agent,
            items.c.scenario,
            items.c.category,
            shown.c.continuation,
            called.label("annotator"),
            standing.c.verdict,
            standing.c.step,
            items.c.horizon,
            items.c.kind,
            reference_episodes.c.truth,
            reference_episodes.c.step,
            items.c.clip,
            standing.c.seconds,
            settled.c.settled_as,
            shown.c.sees,
            standing.c.reason,
            standing.c.extra,
            decided.c.verdict,
            decided.c.step,
            items.c.rubric,
            turns.c.place,
            items.c.id.in_(select(slots.c.item).where(slots.c.turn == FIRST)),
        )
        .join_from(shown, items, items.c.id == shown.c.item)
        .join(standing, standing.c.item == items.c.id, isouter=True)
        .join(annotators, annotators.c.id == standing.c.annotator, isouter=True)
        .join(
            turns,
            (turns.c.item == standing.c.item) & (turns.c.annotator == standing.c.annotator),
            isouter=True,
        )
        .join(reference_episodes, reference_episodes.c.item == items.c.id, isouter=True)
        .join(decided, decided.c.item == items.c.id, isouter=True)
        .join(settled, settled.c.item == items.c.id, isouter=True)
        .order_by(items.c.scenario, shown.c.agent, shown.c.continuation, called, shown.c.earlier)
    )
    members = select(item_suites.c.item)
    if suite is not None:
        members = members.where(item_suites.c.suite == suite)
    judged_reference = reference_episodes.c.item.is_not(None) & standing.c.id.is_not(None)
    waits = (shown.c.earlier == 0) | standing.c.id.is_not(None)
    rows = connection.execute(query.where(waits, shown.c.now.in_(members) | judged_reference))
    return _once([_row(row) for row in rows])


def _shown() -> Subquery:
    """What a judgement of an item is said of; of a superseded one, what its successor shows."""
    own = (copies.c.continuation, copies.c.agent, copies.c.sees)
    return union_all(
        select(copies.c.item, copies.c.item.label("now"), literal(0).label("earlier"), *own),
        select(superseded.c.item, copies.c.item, literal(1), *own).join(
            copies, copies.c.item == superseded.c.successor
        ),
    ).subquery("shown")


def _turns() -> Subquery:
    """The place of each judgement among those of its annotator, by when they first gave it."""
    begun = func.min(events.c.received), func.min(events.c.id)
    return (
        select(
            events.c.item,
            events.c.annotator,
            func.row_number().over(partition_by=events.c.annotator, order_by=begun).label("place"),
        )
        .where(judges())
        .group_by(events.c.item, events.c.annotator)
        .subquery("turns")
    )


def _row(row: Row[*tuple[Any, ...]]) -> tuple[object, ...]:
    settled_ = row.settled_as is not None and not row.verdict
    return (
        *row[:4],
        row.annotator or "",
        "not_done" if settled_ else row.verdict or "",
        row[6],
        row.horizon,
        row.kind,
        row.truth or "",
        row[10],
        row.clip,
        row.seconds,
        "settled" if settled_ else "human",
        row.sees,
        row.reason or "",
        row.extra or 0,
        row[17] or "",
        row[18],
        row.rubric,
        row.place,
        int(row[21]),
    )


def _once(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Returns what one person said of a continuation once: by the later rubric, where by two.

    Where somebody has judged it by an earlier one alone, no row says that nobody or a rule has.
    """
    judged = {row[3] for row in rows if row[4]}
    kept: dict[tuple[object, object], tuple[object, ...]] = {}
    for row in rows:
        if row[4] or row[3] not in judged:
            kept.setdefault((row[3], row[4]), row)
    return list(kept.values())
