"""Current events about clips: the latest verdicts, adjudications, reviews and notes."""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, Subquery, exists, func, or_, select

from sts.annotations.database.schema import annotators, events, item_suites, items
from sts.annotations.log.events import JUDGEMENT_KINDS, is_judgement
from sts.annotations.people.exclusions import is_counted


class CurrentEvent(NamedTuple):
    """A current event, with its clip and its author."""

    item: str  # the clip's opaque identifier
    continuation: str  # one that shows the clip
    clip: str  # hash of the clip's appearance
    scenario: str  # identifier of the continued scenario
    category: str  # of that scenario
    author_id: int  # the author's number, which is never sent to a browser
    author: str  # the author's name
    pseudonym: str  # the author's name in exports
    uuid: str  # of the event
    kind: str  # one of `events.KINDS`
    verdict: str | None  # success, failure, not_done or cannot_judge; None for a review or a note
    step: int | None  # of its marker, 1..horizon from takeover, for success and failure, else None
    reason: str  # why the clip cannot be judged, else ""
    error_type: str  # error type of a review, else ""
    text: str  # comment, or ""
    received: float  # UTC seconds
    rubric_shown: int | None = None  # 0 for a judgement by the instruction alone


_COLUMNS = (
    *(items.c[name] for name in ("id", "continuation", "clip", "scenario", "category")),
    *(annotators.c[name] for name in ("id", "name", "pseudonym")),
    *(events.c[name] for name in CurrentEvent._fields[8:]),
)


def select_current(
    kinds: Collection[str] = JUDGEMENT_KINDS, *, per_person: bool = True, excluded: bool = False
) -> Subquery:
    """Select each item's last event of these kinds, per person or, without `per_person`, overall.

    Judgements of excluded people are left out unless `excluded` is True.
    """
    counted = [] if excluded else [or_(~is_judgement(), is_counted())]
    group = (events.c.item, events.c.annotator) if per_person else (events.c.item,)
    return (
        select(func.max(events.c.id).label("id"))
        .where(events.c.kind.in_(kinds), *counted)
        .group_by(*group)
        .subquery("standing")
    )


def load_current_events(
    connection: Connection,
    *conditions: ColumnElement[bool],
    kinds: Collection[str] = JUDGEMENT_KINDS,
    per_person: bool = True,
    suite: str | None = None,
    latest: int | None = None,
) -> list[CurrentEvent]:
    """Load the current events of these kinds about the clips of a suite, or all, earliest first.

    The conditions are on events, clips and people. With `latest`, load only that many of the
    most recent events, latest first. For `per_person` see `select_current`.
    """
    current = select_current(kinds, per_person=per_person)
    query = (
        select(*_COLUMNS)
        .join(events, events.c.item == items.c.id)
        .join(current, current.c.id == events.c.id)
        .join(annotators, annotators.c.id == events.c.annotator)
        .where(*conditions)
        .order_by(events.c.id if latest is None else events.c.id.desc())
        .limit(latest)
    )
    if suite is not None:
        in_suite = exists().where(item_suites.c.suite == suite, item_suites.c.item == events.c.item)
        query = query.where(in_suite)
    return [CurrentEvent(*row) for row in connection.execute(query)]
