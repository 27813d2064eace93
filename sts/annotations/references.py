"""Reference episodes: clips whose verdict is known, by which annotators are measured.

What people say of one measures them and counts for no agent, so none of its judgements is waited
for: it is served from the pool alone. A slot of one would hang for ever, too, where everybody has
trained on it and is not given it again.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, delete, exists, func, select, update

from sts.annotations.events import judges
from sts.annotations.schema import events, items, reference_episodes, slots
from sts.annotations.types import Reference
from sts.errors import ArgumentError, UnknownName
from sts.ratings import MARKED, UNABLE, VERDICTS


def is_one(item: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether an item is a reference."""
    return exists().where(reference_episodes.c.item == item)


def free(connection: Connection) -> None:
    """Has no judgement of a reference waited for; those that are in stay."""
    waiting = slots.c.judged == 0, is_one(slots.c.item)
    found = set(connection.scalars(select(slots.c.item).where(*waiting)))
    if found:
        connection.execute(delete(slots).where(slots.c.judged == 0, slots.c.item.in_(found)))
        there = select(func.count()).where(slots.c.item == items.c.id).scalar_subquery()
        connection.execute(update(items).where(items.c.id.in_(found)).values(required=there))


def check_truth(truth: str, step: int | None, horizon: int) -> None:
    """Raises ArgumentError unless the truth can be one: success, failure or not_done."""
    truths = [verdict for verdict in VERDICTS if verdict != UNABLE]
    if truth not in truths:
        raise UnknownName("truth", truth, truths)
    if step is not None and truth not in MARKED:
        raise ArgumentError(f"a truth of {truth} carries no step, found {step}; leave it out")
    if step is not None and not 1 <= step <= horizon:
        raise ArgumentError(
            f"expected a step of 1 to {horizon}, counted from takeover, found {step}"
        )


def every(connection: Connection) -> list[Reference]:
    """The whole pool, in the order it was filled."""
    judged = (
        select(func.count(events.c.annotator.distinct()))
        .where(events.c.item == reference_episodes.c.item, judges())
        .scalar_subquery()
    )
    rows = connection.execute(
        select(
            items.c.continuation,
            reference_episodes.c.truth,
            reference_episodes.c.step,
            reference_episodes.c.note,
            judged,
        )
        .join(items, items.c.id == reference_episodes.c.item)
        .order_by(reference_episodes.c.added, items.c.continuation)
    )
    return [Reference(*row) for row in rows]


def marked(truth: str, step: int | None) -> str:
    """Returns a truth in words."""
    return truth if step is None else f"{truth} at step {step}"
