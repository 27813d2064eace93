"""One clip with its verdicts, for people who may see them."""

import re
from typing import NamedTuple

from sqlalchemy import Connection, exists, select

from sts.annotations.answers.current_events import load_current_events
from sts.annotations.database.schema import claims, events, items, reference_items, slots
from sts.annotations.log.events import ADJUDICATION
from sts.annotations.people import deal
from sts.annotations.records import Annotator, ShownVerdict
from sts.errors import ArgumentError
from sts.ratings import PEOPLE, RULE

_ITEM = re.compile(r"[0-9A-Za-z_-]{22}")
_ROLES_SEEING_ALL = {"reviewer", "lead"}
NOT_FOUND = "This clip does not exist, or you may not view it."
NOT_JUDGED_YET = (
    "You have not judged this clip yet. Other people's verdicts are shown once you have submitted "
    "yours."
)


class ClipView(NamedTuple):
    """A clip as one person may see it: a continuation that shows it, and its verdicts in order.

    `rubric_shown` is False if the person must not see its success criterion and edge cases.
    """

    item: str
    continuation: str
    verdicts: tuple[ShownVerdict, ...]
    rubric_shown: bool


def load_clip(connection: Connection, person: Annotator, item: object) -> ClipView:
    """Load a clip with all its verdicts for reviewers and leads, or else with the person's own.

    Raise ArgumentError if they may not see it, or still have to judge it.
    """
    if not isinstance(item, str) or not _ITEM.fullmatch(item):
        raise ArgumentError(NOT_FOUND)
    continuation = connection.execute(
        select(items.c.continuation).where(items.c.id == item)
    ).scalar_one_or_none()
    own_verdicts = _load_verdicts(connection, person, item, everybody=False)
    if not own_verdicts and _has_open_claim(connection, person.id, item):
        raise ArgumentError(NOT_JUDGED_YET)
    sees_all = bool(_ROLES_SEEING_ALL & {*person.roles})
    if continuation is None or not (own_verdicts or sees_all):
        raise ArgumentError(NOT_FOUND)
    verdicts = own_verdicts
    if sees_all:
        verdicts = _load_verdicts(connection, person, item, everybody=True)
        verdicts += _load_truth(connection, item)
    return ClipView(
        item, continuation, tuple(verdicts), deal.sees_rubric(connection, person.id, item)
    )


def _load_verdicts(
    connection: Connection, person: Annotator, item: str, *, everybody: bool
) -> list[ShownVerdict]:
    """Load a clip's current judgements and, with `everybody`, its adjudication."""
    of_item = events.c.item == item
    current = load_current_events(connection, of_item)
    if everybody:
        current += load_current_events(connection, of_item, kinds=[ADJUDICATION], per_person=False)
    return [
        ShownVerdict(
            "you" if event.author_id == person.id else event.pseudonym,
            event.kind,
            str(event.verdict),
            event.step,
            event.reason,
        )
        for event in current
        if everybody or event.author_id == person.id
    ]


def _load_truth(connection: Connection, item: str) -> list[ShownVerdict]:
    rows = connection.execute(
        select(
            reference_items.c.source,
            reference_items.c.truth,
            reference_items.c.step,
            reference_items.c.note,
        ).where(reference_items.c.item == item)
    )
    names = {PEOPLE: "known", RULE: "known by a rule"}
    return [ShownVerdict(names[source], "reference", *truth) for source, *truth in rows]


def _has_open_claim(connection: Connection, annotator_id: int, item: str) -> bool:
    """Return True if a person has been assigned a clip and has not judged it."""
    query = select(
        exists().where(slots.c.item == item, slots.c.annotator == annotator_id, slots.c.judged == 0)
        | exists().where(
            claims.c.item == item, claims.c.annotator == annotator_id, claims.c.pool == 1
        )
    )
    return bool(connection.execute(query).scalar_one())


def load_items_by_clip(connection: Connection) -> dict[str, str]:
    """Return the item identifier of each clip, by the hash of its appearance.

    The stored name of a clip with a rubric is `HASH.VERSION`; of several versions one is returned.
    """
    rows = connection.execute(select(items.c.clip, items.c.id).order_by(items.c.id))
    return {clip.partition(".")[0]: item for clip, item in rows if clip}
