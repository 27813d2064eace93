"""What one transaction adds to the chains: events by author, and the totals of what is assigned.

The rows that say which clip is which agent's, in what suite, and who somebody is, have a seal each,
a digest of what in them reaches a ratings table. The number of rows and the sum of their seals are
the total of a table; after each transaction that changes one, the totals are a new record of a
chain of their own.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, bindparam, delete, insert, select, update

from sts.annotations.schema import (
    annotators,
    copies,
    item_suites,
    items,
    reference_episodes,
    settled,
    superseded,
    totals,
)
from sts.storage.chains import START, Link, follow
from sts.storage.files import parsed_json

SEALED: dict[Table, tuple[str, ...]] = {
    annotators: ("id", "name", "pseudonym"),
    items: (
        *("id", "continuation", "scenario", "scenario_hash", "category", "kind"),
        *("horizon", "takeover", "clip", "rubric"),
    ),
    copies: ("continuation", "item", "agent", "sees"),
    reference_episodes: ("item", "truth", "step"),
    item_suites: ("suite", "item"),
    settled: ("item", "settled_as"),
    superseded: ("item", "successor"),
}
"""The columns of each table that reach a ratings table."""
ASSIGNMENT = "assignment"
"""Whose chain the totals are; the others are those of people's numbers."""
_AT_ONCE = 10_000

Totals = dict[str, tuple[int, int]]
"""Rows of each table, of `item_suites` those of each suite, and the sum of their seals."""


class Ledger:
    """What a transaction has added so far.

    Attributes:
      heads: the ends of the chains that it has lengthened.
    """

    def __init__(self) -> None:
        """Has nothing as yet."""
        self.heads: dict[str, Link] = {}
        self._change: Counter[str] = Counter()
        self._sum: Counter[str] = Counter()

    def count(self, table: Table, rows: Iterable[Sequence[Any]], sign: int = 1) -> list[int]:
        """Counts rows in or out; returns the seal of each.

        Args:
          table: of `SEALED`.
          rows: its columns there, in that order.
          sign: 1 for rows that come, -1 for rows that go.
        """
        seals = []
        for row in rows:
            one, name = seal(row), total_of(table, row)
            self._change[name] += sign
            self._sum[name] += sign * one
            seals.append(one)
        return seals

    def close(self, connection: Connection) -> None:
        """Appends the new totals to their chain, where there are any."""
        if not self._change:
            return
        end, every = last_totals(connection)
        for name, count in self._change.items():
            before = every.get(name, (0, 0))
            every[name] = before[0] + count, modulo(before[1] + self._sum[name])
        text = json.dumps(every, sort_keys=True)
        link = follow(end, [text])
        connection.execute(insert(totals).values(**link._asdict(), totals=text))
        self.heads[ASSIGNMENT] = link


def of(connection: Connection) -> Ledger:
    """Returns the ledger of a transaction that writes."""
    ledger: Ledger = connection.get_execution_options()["ledger"]
    return ledger


def sealed(
    connection: Connection, table: Table, names: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> tuple[Sequence[str], Sequence[tuple[Any, ...]]]:
    """Counts rows that are about to be inserted; returns them with their seals, and the columns.

    Args:
      connection: in a transaction that writes.
      table: any; one that is not of `SEALED` is left as it is.
      names: its columns that `rows` has.
      rows: to be inserted.
    """
    if table not in SEALED:
        return names, rows
    chosen = itemgetter(*(names.index(column) for column in SEALED[table]))
    seals = of(connection).count(table, map(chosen, rows))
    if "seal" not in table.columns:
        return names, rows
    return [*names, "seal"], [(*row, one) for row, one in zip(rows, seals, strict=True)]


def remove(connection: Connection, table: Table, which: ColumnElement[bool]) -> None:
    """Deletes rows of a table of `SEALED`; the totals follow."""
    chosen = [table.c[name] for name in SEALED[table]]
    rows = connection.execute(delete(table).where(which).returning(*chosen)).all()
    of(connection).count(table, map(tuple, rows), sign=-1)


def rewrite(
    connection: Connection, table: Table, which: ColumnElement[bool], **values: object
) -> None:
    """Changes rows of a table of `SEALED` that has seals; their seals and the totals follow.

    Args:
      connection: in a transaction that writes.
      table: whose rows; its key stays as it is.
      which: rows of it.
      values: what they become.
    """
    (key,) = table.primary_key
    chosen = [table.c[name] for name in SEALED[table]]
    before = connection.execute(select(key, *chosen).where(which)).all()
    keys = [row[0] for row in before]
    of(connection).count(table, [tuple(row)[1:] for row in before], sign=-1)
    connection.execute(update(table).where(key.in_(keys)).values(values))
    seal_rows(connection, table, key.in_(keys))


def seal_rows(connection: Connection, table: Table, which: ColumnElement[bool]) -> None:
    """Counts rows in and gives them their seals."""
    (key,) = table.primary_key
    chosen = [table.c[name] for name in SEALED[table]]
    rows = connection.execute(select(key, *chosen).where(which)).all()
    seals = of(connection).count(table, [tuple(row)[1:] for row in rows])
    changes = [{"b_key": row[0], "seal": one} for row, one in zip(rows, seals, strict=True)]
    own = update(table).where(key == bindparam("b_key"))
    for at in range(0, len(changes), _AT_ONCE):
        connection.execute(own, changes[at : at + _AT_ONCE])


def last_totals(connection: Connection) -> tuple[Link, Totals]:
    """Returns the end of the chain of totals, and what it says."""
    row = connection.execute(select(totals).order_by(totals.c.number.desc()).limit(1)).one_or_none()
    if row is None:
        return START, {}
    return Link(row.number, row.digest), read_totals(row.totals)


def read_totals(text: str) -> Totals:
    """Returns the totals that a record holds.

    Raises:
      ValueError: it holds none.
    """
    return {
        name: (int(count), int(sum_)) for name, (count, sum_) in parsed_json(text, dict).items()
    }


def total_of(table: Table, row: Sequence[Any]) -> str:
    """Returns what the total is called that a row counts in."""
    return f"suite {row[0]}" if table is item_suites else table.name


def modulo(total: int) -> int:
    """Returns a sum of seals as a total keeps it: 63 bits."""
    return total % 2**63


def seal(row: Sequence[Any]) -> int:
    """Returns 63 bits of BLAKE2b over the values of a row; none of them holds a NUL."""
    text = "\0".join(map(str, row))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) >> 1
