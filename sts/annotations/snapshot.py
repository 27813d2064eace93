"""The annotation database as one file, whichever it is, and from that file to either again.

The file is an SQLite database of the same tables. It is what the database was at one moment, while
people went on judging.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Select, column, create_engine, inspect, select, table, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import IntegrityError

from sts.annotations import baseline, schema, sqlite
from sts.annotations.database import WAIT, Database
from sts.annotations.opening import (
    check_owner,
    check_present,
    connect_postgresql,
    is_present,
    open_postgresql,
    open_sqlite,
)
from sts.annotations.store import FILE, URL_VARIABLE
from sts.errors import DamagedData, StoreError
from sts.storage.workspace import Workspace

_AT_ONCE = 10_000
_OF_THE_DATABASE = (schema.versions.name, schema.workspaces.name)
"""Tables whose rows are made with them."""


def copy(workspace: Workspace, target: Path) -> bool:
    """Writes what the database of a workspace is at this moment to a file; False without any.

    Raises:
      StoreError: it is lost, locked, damaged or another workspace's.
    """
    url, file = os.environ.get(URL_VARIABLE), workspace.path(FILE)
    if url:
        with closing(connect_postgresql(url, workspace.root)) as database:
            return _from_postgresql(database, workspace.identity(), target)
    if not is_present(file):
        return False
    with closing(sqlite.connect(file)) as plain, plain.read() as connection:
        check_present(connection, plain)
    try:
        with closing(_opened(file, "rw")) as own, closing(sqlite3.connect(target)) as other:
            own.backup(other)  # in one step, which is one moment
    except sqlite3.Error as error:
        raise StoreError(f"annotation database {file} cannot be copied: {error}") from None
    shutil.copymode(file, target)
    return True


def _opened(file: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(file))}?mode={mode}", uri=True, timeout=WAIT)


def _from_postgresql(database: Database, workspace: str, target: Path) -> bool:
    with database.read() as connection:
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
        if not check_present(connection, database):
            return False
        check_owner(connection, database.name, workspace)
        engine = create_engine(URL.create("sqlite", database=str(target)))
        with engine.begin() as empty:
            baseline.create(empty)
            empty.execute(schema.versions.delete())
            names = [name for name in inspect(empty).get_table_names() if name != "sqlite_sequence"]
        engine.dispose()
        with closing(sqlite3.connect(target)) as other:
            for name in names:
                _copy_table(connection, other, name)
            other.commit()
    target.chmod(0o600)
    return True


def _copy_table(connection: Connection, other: sqlite3.Connection, name: str) -> None:
    columns = [one["name"] for one in inspect(connection).get_columns(name)]
    query: Select[*tuple[Any, ...]] = select(*map(column, columns)).select_from(table(name))
    rows = connection.execute(query, execution_options={"yield_per": _AT_ONCE})
    other.executemany(
        f"INSERT INTO {name} ({_listed(columns)}) VALUES ({', '.join('?' * len(columns))})",
        map(tuple, rows),
    )


def _listed(columns: list[str]) -> str:
    return ", ".join(f'"{one}"' for one in columns)


def settle(workspace: Workspace) -> None:
    """Makes the file that `copy` wrote, in its place in a workspace, the workspace's database.

    It stays where it is, or goes to the empty database that `STS_DATABASE_URL` names, in one
    transaction.

    Raises:
      DamagedData: it is none, or its rows are no database's of ours.
      StoreError: it is another workspace's, or there is something in the database it is to go to.
      NewerFormat: a later version made it.
    """
    file, own, url = workspace.path(FILE), workspace.identity(), os.environ.get(URL_VARIABLE)
    _check_tables(file)
    open_sqlite(file, own).close()
    if not url:
        return
    with closing(_opened(file, "ro")) as source:
        try:
            open_postgresql(
                url, own, workspace.root, lambda connection: _fill(connection, source)
            ).close()
        except (IntegrityError, sqlite3.Error) as error:
            raise DamagedData(
                f"{file.name}: expected rows of a study, found others: {error}"
            ) from None
    file.unlink()


def _check_tables(file: Path) -> None:
    """Refuses a file with a view or a trigger that is none of ours, before it is asked anything."""
    ours = {*baseline.TRIGGERS["sqlite"]}
    try:
        with closing(_opened(file, "ro")) as source:
            found = source.execute(
                "SELECT sql FROM sqlite_master WHERE type NOT IN ('table', 'index')"
            ).fetchall()
    except sqlite3.Error as error:
        raise DamagedData(f"{file.name}: expected an annotation database: {error}") from None
    if any(sql not in ours for (sql,) in found):
        raise DamagedData(f"{file.name}: expected an annotation database, found views or triggers")


def _fill(connection: Connection, source: sqlite3.Connection) -> None:
    """Copies every row; a table before those that refer to it."""
    seen = inspect(connection)
    for name, _ in seen.get_sorted_table_and_fkc_names():
        if name is None or name in _OF_THE_DATABASE or name not in schema.metadata.tables:
            continue
        columns = [one["name"] for one in seen.get_columns(name)]
        _fill_table(connection, source, name, columns)
        for one in seen.get_columns(name):
            if one.get("identity"):
                _go_on(connection, name, one["name"])


def _fill_table(
    connection: Connection, source: sqlite3.Connection, name: str, columns: list[str]
) -> None:
    values = ", ".join(f":c{number}" for number in range(len(columns)))
    put = text(f"INSERT INTO {name} ({_listed(columns)}) OVERRIDING SYSTEM VALUE VALUES ({values})")
    rows = source.execute(f"SELECT {_listed(columns)} FROM {name}")
    while some := rows.fetchmany(_AT_ONCE):
        connection.execute(put, [_bound(row) for row in some])


def _bound(row: tuple[Any, ...]) -> dict[str, Any]:
    return {f"c{number}": value for number, value in enumerate(row)}


def _go_on(connection: Connection, name: str, own: str) -> None:
    """Has a column number what comes after what is there."""
    last = connection.execute(
        select(column(own)).select_from(table(name)).order_by(column(own).desc()).limit(1)
    ).scalar()
    if last is not None:
        connection.execute(
            text("SELECT setval(pg_get_serial_sequence(:name, :own), :last)"),
            {"name": name, "own": own, "last": last},
        )
