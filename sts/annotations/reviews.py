"""What reviewers have said: the kind of error of an episode, and who is right about a clip."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, exists, select

from sts.annotations.events import ADJUDICATION, JUDGEMENTS, NOTE, REVIEW, REVIEWERS, Event, judges
from sts.annotations.schema import annotators, events, item_players, item_suites, items
from sts.annotations.schema import reference_episodes as references
from sts.annotations.views import current


class Remark(NamedTuple):
    """What somebody has said of a clip beside judging it.

    Attributes:
      item: the clip's opaque identifier.
      continuation: one that shows it.
      by: whose event it is.
      kind: review, adjudication or note.
      verdict: of an adjudication, else None.
      step: of its marker, 1..horizon, for success and failure, else None.
      reason: why it cannot be judged, else "".
      label: of a review, what kind of error; else "".
      text: in words, or "".
      received: UTC seconds.
    """

    item: str
    continuation: str
    by: str
    kind: str
    verdict: str | None
    step: int | None
    reason: str
    label: str
    text: str
    received: float


def adjudications(connection: Connection, suite: str | None = None) -> dict[str, Remark]:
    """Returns the adjudication that stands of each clip that has one.

    Args:
      connection: to the store.
      suite: of whose clips; None for all.
    """
    return {one.item: one for one in _remarks(connection, ADJUDICATION, suite, by=False)}


def reviews(connection: Connection, suite: str | None = None) -> dict[str, list[Remark]]:
    """Returns each reviewer's review that stands, by clip, the earlier first."""
    return _by_item(_remarks(connection, REVIEW, suite))


def notes(connection: Connection, suite: str | None = None) -> dict[str, list[Remark]]:
    """Returns each person's note that stands, by clip, the earlier first."""
    return _by_item(_remarks(connection, NOTE, suite))


def obstacle(connection: Connection, annotator_id: int, event: Event) -> str:
    """Returns why a person may not add this event to what a clip has, or "".

    Who looks at what judges have said is none of them, before or after.
    """
    own = events.c.annotator == annotator_id, events.c.item == event.item
    if event.kind in JUDGEMENTS:
        decided = select(exists().where(*own, events.c.kind.in_(REVIEWERS)))
        return (
            "this annotator has reviewed this item, and so does not judge it"
            if connection.execute(decided).scalar_one()
            else ""
        )
    if event.kind not in REVIEWERS:
        return ""
    name = select(annotators.c.name).where(annotators.c.id == annotator_id).scalar_subquery()
    played = item_players.c.item == event.item, item_players.c.name == name
    for words, found in (
        ("is a reference, whose verdict is known", exists().where(references.c.item == event.item)),
        ("was judged by this reviewer; another decides", exists().where(*own, judges())),
        ("was played by this reviewer; another decides", exists().where(*played)),
    ):
        if connection.execute(select(found)).scalar_one():
            return f"this item {words}"
    judged = select(exists().where(events.c.item == event.item, judges()))
    return "" if connection.execute(judged).scalar_one() else "nobody has judged this item yet"


def _remarks(
    connection: Connection, kind: str, suite: str | None, *, by: bool = True
) -> list[Remark]:
    columns = [events.c[name] for name in Remark._fields[3:]]
    query = (
        select(events.c.item, items.c.continuation, annotators.c.name, *columns)
        .join(latest := current([kind], by=by), latest.c.id == events.c.id)
        .join(items, items.c.id == events.c.item)
        .join(annotators, annotators.c.id == events.c.annotator)
        .order_by(events.c.id)
    )
    if suite is not None:
        kept = exists().where(item_suites.c.suite == suite, item_suites.c.item == events.c.item)
        query = query.where(kept)
    rows: list[Row[*tuple[Any, ...]]] = list(connection.execute(query).all())
    return [Remark(*row) for row in rows]


def _by_item(remarks: list[Remark]) -> dict[str, list[Remark]]:
    found: dict[str, list[Remark]] = {}
    for one in remarks:
        found.setdefault(one.item, []).append(one)
    return found
