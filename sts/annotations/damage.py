"""Detection of corruption in SQLite databases."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, Table, Text

from sts.annotations import schema

_MAX_LINES = 20
"""Maximum number of errors that SQLite is asked to report."""


def iter_integrity_errors(connection: Connection) -> Iterator[str]:
    """Yield the errors that SQLite's integrity check reports, such as an index that lacks a row."""
    if connection.dialect.name != "sqlite":
        return
    for line in connection.exec_driver_sql(f"PRAGMA integrity_check({_MAX_LINES})").scalars():
        if line != "ok":
            yield f"database: {' '.join(str(line).split())}"


def iter_undecodable(connection: Connection) -> Iterator[str]:
    """Yield a finding for each text that is not valid UTF-8, for example after a bit flip."""
    if connection.dialect.name != "sqlite":
        return
    for table in schema.metadata.sorted_tables:
        for column in table.columns:
            if isinstance(column.type, Text):
                yield from _iter_undecodable_rows(connection, table, column.name)


def _iter_undecodable_rows(connection: Connection, table: Table, column: str) -> Iterator[str]:
    author = "annotator" if "annotator" in table.columns else "NULL"
    query = f"SELECT rowid, {author}, CAST({column} AS BLOB) FROM {table.name}"
    for row, person, raw in connection.exec_driver_sql(f"{query} WHERE {column} IS NOT NULL"):
        try:
            raw.decode()
        except UnicodeDecodeError:
            owner = f" of person {person}" if person is not None else ""
            yield f"table {table.name}, row {row}{owner}: {column} is damaged: it is not UTF-8 text"
