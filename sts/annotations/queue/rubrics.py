"""Transfer of clips to a new version of their rubric.

A clip without a judgement moves to the new version: its continuations get a new clip, and the old
one is no longer queued. Annotators who are watching the old one may still submit a verdict, which
is kept with the old version. Judged clips keep their version.
"""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, delete, exists, func, insert, select, update

from sts.annotations.database.database import iter_batches
from sts.annotations.database.schema import copies, events, item_players, item_suites, items, slots
from sts.annotations.log.events import is_judgement
from sts.annotations.queue.references import is_reference
from sts.annotations.records import Item


def detach_continuations(connection: Connection, run: Sequence[Item]) -> dict[str, str]:
    """Detach continuations from unjudged clips of another rubric version.

    Return the former item of each continuation; call `supersede_items` afterwards.
    """
    versions = {item.continuation: item.rubric for item in run if item.rubric is not None}
    moved: dict[str, str] = {}
    for batch in iter_batches(versions):
        rows = connection.execute(
            select(copies.c.continuation, items.c.id, items.c.rubric)
            .join(items, items.c.id == copies.c.item)
            .where(
                copies.c.continuation.in_(batch),
                ~exists().where(events.c.item == items.c.id, is_judgement()),
                ~is_reference(items.c.id),
            )
        )
        moved |= {
            row.continuation: row.id for row in rows if row.rubric != versions[row.continuation]
        }
    for batch in iter_batches(moved):
        connection.execute(delete(copies).where(copies.c.continuation.in_(batch)))
        # An item is named after one of its continuations, and its successor needs that name.
        name = items.c.continuation + "." + items.c.rubric
        olds = items.c.id.in_({moved[continuation] for continuation in batch})
        old = update(items).where(olds & _is_current())
        connection.execute(old.values(continuation=name))
    return moved


def supersede_items(
    connection: Connection, moved: Mapping[str, str], ids: Mapping[str, str]
) -> None:
    """Replace items that `detach_continuations` has emptied with their successors."""
    successor = {old: ids[continuation] for continuation, old in moved.items()}
    for batch in iter_batches(sorted(successor.items())):
        _supersede_batch(connection, dict(batch))


def _supersede_batch(connection: Connection, successor: Mapping[str, str]) -> None:
    olds = list(successor)
    for old in connection.scalars(
        select(copies.c.item).where(copies.c.item.in_(olds)).distinct()
    ).all():
        statement = update(copies).where(copies.c.item == old)
        connection.execute(statement.values(item=successor[old]))
    connection.execute(delete(slots).where(slots.c.item.in_(olds)))
    connection.execute(update(items).where(items.c.id.in_(olds)).values(annotations_required=0))
    connection.execute(delete(item_suites).where(item_suites.c.item.in_(olds)))
    played = select(item_players).where(item_players.c.item.in_(olds))
    pairs = {(successor[row.item], row.pseudonym) for row in connection.execute(played)}
    store_players(connection, pairs)
    _restore_continuation(connection, [*successor.values()])


def _restore_continuation(connection: Connection, current: Sequence[str]) -> None:
    """Name clips of the current version after one of their own continuations again."""
    continuation = select(func.min(copies.c.continuation)).where(copies.c.item == items.c.id)
    statement = update(items).where(items.c.id.in_(current), ~_is_current())
    connection.execute(statement.values(continuation=continuation.scalar_subquery()))


def _is_current() -> ColumnElement[bool]:
    """Select items that are named after a continuation, without the suffix of superseded ones."""
    return ~items.c.continuation.endswith("." + items.c.rubric)


def store_players(connection: Connection, players: Collection[tuple[str, str]]) -> None:
    """Store missing pairs of an item and the pseudonym of a person who played it."""
    for batch in iter_batches(sorted(players)):
        query = select(item_players).where(item_players.c.item.in_({item for item, _ in batch}))
        stored = {(row.item, row.pseudonym) for row in connection.execute(query)}
        rows = [{"item": i, "pseudonym": p} for i, p in batch if (i, p) not in stored]
        if rows:
            connection.execute(insert(item_players), rows)
