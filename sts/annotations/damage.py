"""Texts of an SQLite database that cannot be read, named by table, row and column."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, Table, Text

from sts.annotations import schema


def unreadable(connection: Connection) -> Iterator[str]:
    """Yield a line for each text that is not UTF-8, as a flipped bit leaves one."""
    if connection.dialect.name != "sqlite":
        return
    for table in schema.metadata.sorted_tables:
        for column in table.columns:
            if isinstance(column.type, Text):
                yield from _of_column(connection, table, column.name)


def _of_column(connection: Connection, table: Table, column: str) -> Iterator[str]:
    author = "annotator" if "annotator" in table.columns else "NULL"
    query = f"SELECT rowid, {author}, CAST({column} AS BLOB) FROM {table.name}"
    for row, person, raw in connection.exec_driver_sql(f"{query} WHERE {column} IS NOT NULL"):
        try:
            raw.decode()
        except UnicodeDecodeError:
            whose = f" of person {person}" if person is not None else ""
            yield f"table {table.name}, row {row}{whose}: {column} is damaged: it is not UTF-8 text"
