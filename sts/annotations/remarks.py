"""What people have said of clips and still stands: verdicts, decisions, reviews and notes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, Subquery, exists, func, select

from sts.annotations.events import JUDGEMENT_KINDS
from sts.annotations.schema import annotators, events, item_suites, items


class Remark(NamedTuple):
    """What somebody has said of a clip.

    Attributes:
      item: the clip's opaque identifier.
      continuation: one that shows it.
      clip: hash of what there is to be seen and heard of it.
      scenario: identifier of the scenario that it continues.
      category: of that scenario.
      person: the number of who said it, which reaches no page.
      by: their name.
      pseudonym: what exports call them.
      uuid: of the event.
      kind: one of `events.KINDS`.
      verdict: success, failure, not_done or cannot_judge; None of a review or a note.
      step: of its marker, 1..horizon from takeover, for success and failure, else None.
      reason: why it cannot be judged, else "".
      label: of a review, what kind of error; else "".
      text: in words, or "".
      received: UTC seconds.
    """

    item: str
    continuation: str
    clip: str
    scenario: str
    category: str
    person: int
    by: str
    pseudonym: str
    uuid: str
    kind: str
    verdict: str | None
    step: int | None
    reason: str
    label: str
    text: str
    received: float


_COLUMNS = (
    *(items.c[name] for name in ("id", "continuation", "clip", "scenario", "category")),
    *(annotators.c[name] for name in ("id", "name", "pseudonym")),
    *(events.c[name] for name in Remark._fields[8:]),
)


def select_current(kinds: Collection[str] = JUDGEMENT_KINDS, *, by: bool = True) -> Subquery:
    """Return the events that stand: the last one of these kinds of each person, or of anyone."""
    group = (events.c.item, events.c.annotator) if by else (events.c.item,)
    return (
        select(func.max(events.c.id).label("id"))
        .where(events.c.kind.in_(kinds))
        .group_by(*group)
        .subquery("standing")
    )


def load_current_events(
    connection: Connection,
    *which: ColumnElement[bool],
    kinds: Collection[str] = JUDGEMENT_KINDS,
    by: bool = True,
    suite: str | None = None,
    latest: int | None = None,
) -> list[Remark]:
    """Return what stands of these kinds on the clips of a suite, or on all, the earlier first.

    `which` are conditions on events, clips and people. With `latest`, only so many of the last come
    back, and these first. See `current`.
    """
    standing = select_current(kinds, by=by)
    query = (
        select(*_COLUMNS)
        .join(events, events.c.item == items.c.id)
        .join(standing, standing.c.id == events.c.id)
        .join(annotators, annotators.c.id == events.c.annotator)
        .where(*which)
        .order_by(events.c.id if latest is None else events.c.id.desc())
        .limit(latest)
    )
    if suite is not None:
        kept = exists().where(item_suites.c.suite == suite, item_suites.c.item == events.c.item)
        query = query.where(kept)
    rows: list[Row[*tuple[Any, ...]]] = list(connection.execute(query).all())
    return [Remark(*row) for row in rows]
