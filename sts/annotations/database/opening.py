"""Opening of a workspace's annotation database, with creation, ownership and loss checks."""

from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, exists, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError as MalformedUrl

from sts.annotations.database import schema, sqlite, tables
from sts.annotations.database.database import Database, MisreadDatabase
from sts.annotations.database.presence import (
    DELETED_RECORD,
    NEW_RECORD,
    RECORD_FILE,
    is_present,
    lost_error,
)
from sts.errors import ArgumentError, MissingExtra, StoreError
from sts.storage.files import write_new

Fill = Callable[[Connection], None]
"""Function that inserts rows into new tables, in the transaction that creates them."""


def open_sqlite(path: Path, workspace: str, fill: Fill | None = None) -> Database:
    """Open the database in the file at `path`; create it if no study has started.

    Errors are those of `AnnotationStore.open`. With `fill` the database must be new.
    """
    try:
        return _open_sqlite(path, workspace, fill)
    except MisreadDatabase:  # perhaps a temporary disk error: retry with a new connection
        pass
    try:
        return _open_sqlite(path, workspace, fill)
    except MisreadDatabase:
        raise StoreError(
            f"annotation database {path} is damaged or not an SQLite file, as two checks found; "
            f"restore a backup, or move it and {RECORD_FILE} away to start a new study"
        ) from None


def _open_sqlite(path: Path, workspace: str, fill: Fill | None) -> Database:
    is_present(path)
    database = sqlite.connect(path)

    def prepare() -> None:
        with database.read() as connection:
            sqlite.check_integrity(connection, database.name)
        sqlite.set_journal_mode(database, "WAL")

    _prepare_database(database, workspace, prepare, fill)
    database.watch_file(path)
    return database


def open_postgresql(url: str, workspace: str, folder: Path, fill: Fill | None = None) -> Database:
    """Open the database at `url`; the file that records that a study has started is in `folder`.

    Errors are those of `AnnotationStore.open`. With `fill` the database must be new.
    """
    return _prepare_database(connect_postgresql(url, folder), workspace, lambda: None, fill)


def connect_postgresql(url: str, folder: Path) -> Database:
    """Return the database at `url`, without checking its content."""
    parsed = parse_url(url)
    try:
        from sts.annotations.database import postgresql
    except ImportError:
        raise MissingExtra(
            "PostgreSQL needs psycopg, which is not installed: "
            "pip install 'standardised-test-suite[postgresql]'"
        ) from None
    return postgresql.connect(parsed, folder)


def parse_url(url: str, name: str = "STS_DATABASE_URL") -> URL:
    """Parse the URL of a PostgreSQL database; `name` is the setting or option, for messages."""
    try:
        parsed = make_url(url)
    except (MalformedUrl, ValueError):
        parsed = None
    if parsed is None or parsed.drivername.partition("+")[0] not in ("postgresql", "postgres"):
        raise ArgumentError(
            f"expected {name} like postgresql://user:password@host:5432/name, found "
            + (repr(parsed.render_as_string()) if parsed else "something that is not a URL")
        )
    return parsed


def check_present(connection: Connection, database: Database) -> bool:
    """Return True if a database holds a study; raise StoreError if it was lost."""
    recorded = database.record_file.exists()  # first, as another process may be creating both
    present = tables.has_tables(connection, database.name)
    if recorded and not present:
        raise lost_error(database.name, database.record_file, "does not contain it")
    return present


def check_owner(connection: Connection, name: str, workspace: str) -> None:
    """Raise StoreError if a database belongs to another workspace."""
    owner = connection.execute(select(schema.workspaces.c.id)).scalar()
    if owner != workspace:
        raise StoreError(
            f"annotation database {name} belongs to the workspace with the id {owner}, and "
            f"this workspace has the id {workspace}; use a separate database or, if this one "
            f'belongs here, set id = "{owner}" in workspace.toml'
        )


def check_unused(connection: Connection, name: str) -> None:
    """Raise StoreError if a database that is to be filled already holds a study."""
    if tables.has_tables(connection, name):
        raise StoreError(
            f"expected an empty database at {name}, found one with a study; use another or empty it"
        )


def _prepare_database(
    database: Database, workspace: str, prepare: Callable[[], None], fill: Fill | None
) -> Database:
    """Return a database that holds the study of a workspace; close it if that fails."""
    try:
        recorded = database.record_file.exists()
        with database.read() as connection:
            present = fill is None and check_present(connection, database)
        prepare()
        if not present:
            _create_tables(database, workspace, fill)
        with database.read() as connection:
            check_owner(connection, database.name, workspace)
            has_people = connection.scalar(select(exists(select(schema.annotators))))
        if not recorded:  # without people, another process has just created it
            write_new(database.record_file, DELETED_RECORD if has_people else NEW_RECORD)
    except BaseException:
        database.close()
        raise
    return database


def _create_tables(database: Database, workspace: str, fill: Fill | None) -> None:
    """Create the tables if they are missing, in only one of the processes that try."""
    with database.write(exclusive=True) as connection:
        if fill is not None:
            check_unused(connection, database.name)
        if not tables.has_tables(connection, database.name):
            tables.create_tables(connection)
            connection.execute(schema.workspaces.insert().values(id=workspace))
            if fill is not None:
                fill(connection)
