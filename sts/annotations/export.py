"""Judgements as the ratings table that analysis and other programs read."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from sqlalchemy import Connection, select

from sts.annotations.events import ADJUDICATION
from sts.annotations.schema import (
    annotators,
    copies,
    events,
    item_suites,
    items,
    reference_episodes,
)
from sts.annotations.store import Store
from sts.annotations.views import current
from sts.ratings import columns
from sts.storage.csv_tables import to_csv
from sts.storage.files import write_atomically
from sts.storage.workspace import Workspace

_TYPES = columns(
    *("kind", "truth", "truth_step", "clip", "seconds", "source", "sees", "reason", "extra"),
    *("adjudicated", "adjudicated_step"),
)


def ratings(workspace: Workspace, suite: str | None = None, *, names: bool = False) -> pd.DataFrame:
    """Returns the current judgements of a suite's continuations, corrections applied.

    One row per judgement and continuation that it covers, which are all of one `clip`: what was
    said of a clip is said of each. A continuation that nobody has judged has one row with annotator
    and verdict empty. The adjudication of a clip stands in all its rows. Rows with a `truth` are
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
    query = (
        select(
            copies.c.agent,
            items.c.scenario,
            items.c.category,
            copies.c.continuation,
            called.label("annotator"),
            standing.c.verdict,
            standing.c.step,
            items.c.horizon,
            items.c.kind,
            reference_episodes.c.truth,
            reference_episodes.c.step,
            items.c.clip,
            standing.c.seconds,
            copies.c.sees,
            standing.c.reason,
            standing.c.extra,
            decided.c.verdict,
            decided.c.step,
        )
        .join_from(copies, items, items.c.id == copies.c.item)
        .join(standing, standing.c.item == items.c.id, isouter=True)
        .join(annotators, annotators.c.id == standing.c.annotator, isouter=True)
        .join(reference_episodes, reference_episodes.c.item == items.c.id, isouter=True)
        .join(decided, decided.c.item == items.c.id, isouter=True)
        .order_by(items.c.scenario, copies.c.agent, copies.c.continuation, called)
    )
    members = select(item_suites.c.item)
    if suite is not None:
        members = members.where(item_suites.c.suite == suite)
    judged_reference = reference_episodes.c.item.is_not(None) & standing.c.id.is_not(None)
    rows = connection.execute(query.where(items.c.id.in_(members) | judged_reference))
    return [
        (
            *row[:4],
            row.annotator or "",
            row.verdict or "",
            row[6],
            row.horizon,
            row.kind,
            row.truth or "",
            row[10],
            row.clip,
            row.seconds,
            "human",
            row.sees,
            row.reason or "",
            row.extra or 0,
            row[16] or "",
            row[17],
        )
        for row in rows
    ]
