"""Chains and seals what an earlier version wrote, which had neither."""

from __future__ import annotations

from sqlalchemy import Connection, Table, bindparam, func, select, true, update

from sts.annotations import events, ledger
from sts.annotations.schema import events as table
from sts.annotations.schema import totals
from sts.storage.chains import START, Link, follow

_AT_ONCE = 10_000


def adopt(connection: Connection) -> None:
    """Gives a digest to every event without, and a seal to every row, in a transaction alone."""
    _chain(connection)
    if connection.execute(select(totals.c.number).limit(1)).first() is None:
        for sealed in ledger.SEALED:
            _seal(connection, sealed)


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


def _chain(connection: Connection) -> None:
    older = connection.execute(
        select(table).where(table.c.digest == "").order_by(table.c.annotator, table.c.id)
    ).mappings()
    link, author, changes = START, None, []
    for row in older:
        if row["annotator"] != author:
            author, link = row["annotator"], START
        words = events.words(row["uuid"], row["reason"], row["text"])
        link = follow(link, events.covered({**row, "words": words}))
        changes.append({"b_id": row["id"], "words": words, **link._asdict()})
        ledger.of(connection).heads[str(author)] = link
    own = update(table).where(table.c.id == bindparam("b_id"))
    for at in range(0, len(changes), _AT_ONCE):
        connection.execute(own, changes[at : at + _AT_ONCE])


def _seal(connection: Connection, sealed: Table) -> None:
    if "seal" in sealed.columns:
        ledger.seal_rows(connection, sealed, true())
        return
    rows = connection.execute(select(*(sealed.c[name] for name in ledger.SEALED[sealed])))
    ledger.of(connection).count(sealed, rows)
