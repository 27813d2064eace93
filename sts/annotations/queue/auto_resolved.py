"""Auto-resolved clips, which need no annotator; human judgements override the automatic verdict."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, delete, exists, insert, select, update

from sts.annotations.database.database import iter_batches
from sts.annotations.database.schema import auto_resolved, items, slots
from sts.annotations.records import Item


def record_settled(connection: Connection, run: Sequence[Item], ids: Mapping[str, str]) -> int:
    """Record which clips of a run are auto-resolved by now; return the number of changes.

    The open slots of auto-resolved clips without a judgement are deleted.
    """
    rules = {
        ids[item.continuation]: item.auto_resolve_rule
        for item in run
        if item.auto_resolve_rule is not None
    }
    batches = iter_batches(sorted(rules.items()))
    return sum(_record_batch(connection, dict(batch)) for batch in batches)


def _record_batch(connection: Connection, rules: Mapping[str, str]) -> int:
    recorded = set(
        connection.scalars(select(auto_resolved.c.item).where(auto_resolved.c.item.in_(rules)))
    )
    new = sorted(item for item, rule in rules.items() if rule and item not in recorded)
    gone = sorted(item for item in recorded if not rules[item])
    if new:
        connection.execute(
            insert(auto_resolved), [{"item": item, "setting": rules[item]} for item in new]
        )
        open_ = slots.alias("open")
        judged = exists().where(open_.c.item == items.c.id, open_.c.judged == 1)
        waiting = select(items.c.id).where(items.c.id.in_(new), ~judged)
        connection.execute(delete(slots).where(slots.c.item.in_(waiting)))
        connection.execute(
            update(items).where(items.c.id.in_(new), ~judged).values(annotations_required=0)
        )
    if gone:
        connection.execute(delete(auto_resolved).where(auto_resolved.c.item.in_(gone)))
    return len(new) + len(gone)
