"""What a numbered step of the schema is: plain SQL for one database or the other."""

from __future__ import annotations

from typing import NamedTuple


class Migration(NamedTuple):
    """Statements for both databases, then those for one of them.

    `{serial}` stands for an integer primary key that the database numbers upwards.
    """

    both: tuple[str, ...]
    sqlite: tuple[str, ...] = ()
    postgresql: tuple[str, ...] = ()

    def statements(self, dialect: str) -> tuple[str, ...]:
        """The statements to run, in order, on `dialect` (sqlite or postgresql)."""
        own = self.sqlite if dialect == "sqlite" else self.postgresql
        return tuple(s.replace("{serial}", _SERIAL[dialect]) for s in self.both) + own


_SERIAL = {
    "sqlite": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "postgresql": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
}


def joined(*parts: Migration) -> Migration:
    """One version in several parts, each read by its subject."""
    each = {
        dialect: tuple(line for part in parts for line in part.statements(dialect))
        for dialect in _SERIAL
    }
    return Migration((), **each)
