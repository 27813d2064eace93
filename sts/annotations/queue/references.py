"""References: clips with a known verdict, which measure annotators' accuracy.

Judgements of a reference measure its annotators and count for no agent. So references are served
from their pool and have no open slots, which might never be filled: annotators who trained on a
reference do not get it again.

The truth comes from a rule (a label, or the person who adds the reference by the success criterion)
or from people: annotators who agreed on the clip, some of them by the instruction alone. Judgements
that made the truth measure no one.

References form a chain of the study's own: each has a digest of the previous one, its clip, its
truth and the source, and `last_reference` holds the number and the digest of the last.
"""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, exists, func, insert, select, update

from sts.annotations.database.schema import events, items, last_reference, reference_items, slots
from sts.annotations.log.events import is_judgement
from sts.annotations.records import Reference
from sts.errors import ArgumentError, UnknownName
from sts.ratings import MARKED_VERDICTS, UNABLE, VERDICTS
from sts.storage.chains import START, Link, next_link


def is_reference(item_id: ColumnElement[str] | str) -> ColumnElement[bool]:
    """Select items that are references."""
    return exists().where(reference_items.c.item == item_id)


def drop_open_slots(connection: Connection) -> None:
    """Delete the open slots of references; judgements are kept."""
    waiting = slots.c.judged == 0, is_reference(slots.c.item)
    waiting_items = set(connection.scalars(select(slots.c.item).where(*waiting)))
    if waiting_items:
        connection.execute(
            delete(slots).where(slots.c.judged == 0, slots.c.item.in_(waiting_items))
        )
        slot_count = select(func.count()).where(slots.c.item == items.c.id).scalar_subquery()
        connection.execute(
            update(items)
            .where(items.c.id.in_(waiting_items))
            .values(annotations_required=slot_count)
        )


def check_truth(truth: str, step: int | None, horizon: int) -> None:
    """Raise ArgumentError unless a truth is success, failure or not_done, with a step that fits."""
    truths = [verdict for verdict in VERDICTS if verdict != UNABLE]
    if truth not in truths:
        raise UnknownName("verdict", truth, truths)
    if step is not None and truth not in MARKED_VERDICTS:
        raise ArgumentError(f"the verdict {truth} has no step, found {step}; leave it out")
    if step is not None and not 1 <= step <= horizon:
        raise ArgumentError(
            f"expected a step of 1 to {horizon}, counted from takeover, found {step}"
        )


def find_reference(connection: Connection, item_id: str) -> Row[*tuple[Any, ...]] | None:
    """Return the row of a reference, or None if the clip is not one."""
    query = select(reference_items).where(reference_items.c.item == item_id)
    return connection.execute(query).one_or_none()


def append_reference(
    connection: Connection,
    item_id: str,
    truth: str,
    step: int | None,
    source: str,
    note: str,
    *,
    now: float,
) -> None:
    """Append a reference to the study's chain; the transaction must be the only writer."""
    end = chain_tip(connection)
    clip = connection.execute(select(items.c.clip).where(items.c.id == item_id)).scalar_one()
    link = next_link(end, digested_values(item_id, clip, truth, step, source))
    row = {
        "item": item_id,
        "truth": truth,
        "step": step,
        "source": source,
        "note": note,
        "added": now,
    }
    connection.execute(insert(reference_items), row | link._asdict())
    connection.execute(delete(last_reference))
    connection.execute(insert(last_reference).values(link._asdict()))


def chain_tip(connection: Connection) -> Link:
    """Return the last link of the chain of references."""
    row = connection.execute(select(last_reference)).one_or_none()
    return START if row is None else Link(*row)


def digested_values(
    item_id: str, clip: str, truth: str, step: int | None, source: str
) -> list[object]:
    """Return the values that a reference's digest covers, which do not include its note."""
    return [item_id, clip, truth, step, source]


def set_note(connection: Connection, item_id: str, note: str) -> None:
    """Replace the note of a reference."""
    statement = update(reference_items).where(reference_items.c.item == item_id)
    connection.execute(statement.values(note=note))


def list_references(connection: Connection) -> list[Reference]:
    """List all references, in the order in which they were added."""
    judged = (
        select(func.count(events.c.annotator.distinct()))
        .where(events.c.item == reference_items.c.item, is_judgement())
        .scalar_subquery()
    )
    rows = connection.execute(
        select(
            items.c.continuation,
            reference_items.c.truth,
            reference_items.c.step,
            reference_items.c.source,
            reference_items.c.note,
            judged,
        )
        .join(items, items.c.id == reference_items.c.item)
        .order_by(reference_items.c.added, items.c.continuation)
    )
    return [Reference(*row) for row in rows]


def format_truth(truth: str, step: int | None) -> str:
    """Format a truth and its step for messages."""
    return truth if step is None else f"{truth} at step {step}"
