"""Move of a study to another database, between SQLite and PostgreSQL in either direction."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Table, TextClause, func, select, text
from sqlalchemy.exc import IntegrityError

from sts.annotations.database import schema, sqlite
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.database import Database
from sts.annotations.database.opening import open_postgresql, open_sqlite, parse_url
from sts.annotations.database.presence import DATABASE_FILE, URL_VARIABLE
from sts.annotations.vault import history
from sts.errors import ArgumentError, DamagedData, StoreError, StsError, Unavailable
from sts.storage.files import link_new, open_part_folder
from sts.storage.workspace import Workspace

SQLITE = "sqlite"
"""Command-line name of the database in the workspace's own file."""
MOVED_FILE = f"{DATABASE_FILE}.moved"
"""New name of that file once its study has moved to PostgreSQL."""
_BATCH_SIZE = 10_000
_OTHER_CONNECTIONS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
    "AND usename = current_user AND pid <> pg_backend_pid()"
)


def move_database(workspace: Workspace, to: str) -> history.History:
    """Copy a study to an empty database in one transaction, and verify every chain there.

    The old database is kept: a file under the name `MOVED_FILE`, so that no command opens it as the
    study; a PostgreSQL database until its administrator removes it.

    Args:
      workspace: of the study; no other program may be using its database.
      to: the URL of a PostgreSQL database, or "sqlite" for the workspace's own file.

    Returns:
      The history as read from the new database.

    Raises:
      ArgumentError: `to` is invalid, or is the current database.
      Unavailable: a file exists that the move would overwrite.
      DamagedData: the study was altered; the new database is left empty.
      StoreError: a database cannot be used, is used by another program, or is not empty.
      StsError: no study has started here.
    """
    file, away = workspace.path(DATABASE_FILE), workspace.path(MOVED_FILE)
    from_file = not os.environ.get(URL_VARIABLE)
    if to != SQLITE:
        parse_url(to, "--to")
    elif from_file:
        raise ArgumentError(f"--to: expected another database than {file}, which holds the study")
    new = away if from_file else file
    if os.path.lexists(new):
        raise Unavailable(f"{new} already exists; move it away first")
    store = AnnotationStore.find(workspace)
    if store is None:
        raise StsError(f"no study has started in {workspace.root}; nothing to move")
    with store, _open_exclusively(store.database) as rows:
        record = _fill_database(workspace, to, rows)
        if from_file:
            os.rename(file, away)
    return record


@contextmanager
def _open_exclusively(database: Database) -> Iterator[Connection]:
    """Open a transaction on one state of a database that no other program is using."""
    message = f"annotation database {database.name} is in use; stop the programs that use it first"
    if database.engine.dialect.name == "sqlite":
        try:
            sqlite.set_journal_mode(database, "DELETE", wait=0)  # fails while it is open elsewhere
        except StoreError:
            raise StoreError(message) from None
    with database.read() as connection:
        history.set_snapshot_isolation(connection)
        if (
            connection.dialect.name == "postgresql"
            and connection.execute(_OTHER_CONNECTIONS).scalar_one()
        ):
            raise StoreError(message)
        yield connection


def _fill_database(workspace: Workspace, to: str, rows: Connection) -> history.History:
    """Create the new database from the rows of the old one; return the history read from it."""
    file, identity, record = workspace.path(DATABASE_FILE), workspace.identity(), history.History()

    def fill(connection: Connection) -> None:
        nonlocal record
        _copy_rows(rows, connection)
        record = history.read_history(connection)
        if record.findings:
            raise DamagedData(f"annotation database: {record.findings[0]}; nothing was moved")

    try:
        if to != SQLITE:
            open_postgresql(to, identity, workspace.root, fill).close()
        else:
            with open_part_folder(file) as part:
                open_sqlite(part / DATABASE_FILE, identity, fill).close()
                link_new(part / DATABASE_FILE, file)
    except IntegrityError as error:
        raise DamagedData(
            f"{DATABASE_FILE}: expected rows of a study, found others: {error.orig}"
        ) from None
    return record


def _copy_rows(source: Connection, target: Connection) -> None:
    """Copy all rows, each table before those that refer to it."""
    for table in schema.metadata.sorted_tables:
        if table in (schema.versions, schema.workspaces):  # filled when the tables are created
            continue
        statement = _insert_statement(table, target.dialect.name)
        rows = source.execute(select(table), execution_options={"yield_per": _BATCH_SIZE})
        for batch in rows.mappings().partitions():
            target.execute(statement, [dict(row) for row in batch])
        identity = table.c.get("id")
        if target.dialect.name == "postgresql" and identity is not None and identity.identity:
            sequence = func.pg_get_serial_sequence(table.name, "id")
            # The next new row gets a number after the copied ones.
            target.execute(select(func.setval(sequence, func.max(identity))).select_from(table))


def _insert_statement(table: Table, dialect: str) -> TextClause:
    """Return an INSERT statement that keeps the rows' numbers."""
    names = table.c.keys()
    numbered = "OVERRIDING SYSTEM VALUE" if dialect == "postgresql" else ""
    values = ", ".join(f":{name}" for name in names)
    return text(f"INSERT INTO {table.name} ({', '.join(names)}) {numbered} VALUES ({values})")
