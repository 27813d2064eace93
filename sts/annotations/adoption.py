"""The ends of the chains in a database beside which no file keeps them yet."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from sts.annotations import ledger
from sts.annotations.schema import events as table
from sts.storage.chains import START, Link


def ends(connection: Connection) -> dict[str, Link]:
    """Returns the end of every chain, by whose it is."""
    last = select(func.max(table.c.id)).group_by(table.c.annotator)
    rows = connection.execute(
        select(table.c.annotator, table.c.number, table.c.digest)
        .where(table.c.id.in_(last))
        .order_by(table.c.annotator)
    )
    found = {str(row.annotator): Link(row.number, row.digest) for row in rows}
    end, _ = ledger.last_totals(connection)
    return found if end == START else found | {ledger.ASSIGNMENT: end}
