"""Verdicts on continuations: human verdicts and automatic labels, kept separate."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sts.continuations import label_table, labels
from sts.continuations.continuation import Continuation
from sts.continuations.index import Index
from sts.storage.workspace import Workspace

if TYPE_CHECKING:
    from sqlalchemy import Connection


class Verdict(NamedTuple):
    """A verdict, and its step from takeover, 1..horizon, for success and failure, else None."""

    verdict: str
    step: int | None


def load_human_verdicts(
    connection: Connection, continuations: Collection[str]
) -> dict[str, list[Verdict]]:
    """Load everyone's current judgements of these continuations, by continuation."""
    from sqlalchemy import select  # slow to import, and without a study not needed

    from sts.annotations.answers.current_events import select_current
    from sts.annotations.database.schema import copies, events

    current = select_current()
    rows = connection.execute(
        select(copies.c.continuation, events.c.verdict, events.c.step)
        .join(events, events.c.item == copies.c.item)
        .join(current, current.c.id == events.c.id)
        .where(copies.c.continuation.in_(continuations))
        .order_by(events.c.id)
    )
    out: dict[str, list[Verdict]] = {}
    for continuation, verdict, step in rows:
        out.setdefault(continuation, []).append(Verdict(verdict, step))
    return out


def load_automatic_labels(
    workspace: Workspace, continuations: Sequence[Continuation], index: Index
) -> dict[str, dict[Verdict, list[str]]]:
    """Load the labels of these continuations that `sts label` has written.

    Each comes with the suites, NAME@VERSION, for which it was made. Only the parts that contain
    these continuations are read.

    Raises:
      DamagedData: a table of labels, or a part of it, cannot be read.
    """
    space = workspace.store
    tables = [name for name in space.list(labels.FOLDER) if label_table.is_table(name)]
    sets = {
        label_table.parse_suite(n): label_table.read_source(n, space.get(n)).set for n in tables
    }
    out: dict[str, dict[Verdict, list[str]]] = {}
    for continuation in continuations:
        for part in index.group_by_part(index.rows_with_prefix(continuation.id)):
            for suite, label_set in sets.items():
                label = labels.find_label(
                    space, labels.label_part_name(label_set, part), continuation.content_hash
                )
                if label is not None and label.verdict:
                    by_verdict = out.setdefault(continuation.id, {})
                    by_verdict.setdefault(Verdict(label.verdict, label.step), []).append(suite)
    return out
