"""Backup of the annotation database to one file, with SQLite's backup function or `pg_dump`.

The file holds the database as of one moment, even while it is in use.
"""

import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from sts.annotations.database import schema, sqlite, tables
from sts.annotations.database.database import LOCK_TIMEOUT_S, Database
from sts.annotations.database.opening import (
    check_owner,
    check_present,
    check_unused,
    connect_postgresql,
    open_postgresql,
    open_sqlite,
)
from sts.annotations.database.presence import (
    DATABASE_FILE,
    NEW_RECORD,
    RECORD_FILE,
    URL_VARIABLE,
    is_present,
)
from sts.errors import DamagedData, StoreError
from sts.storage.files import write_new
from sts.storage.workspace import Workspace

DUMP_FILE = "annotations.dump"
"""Name of a PostgreSQL dump in a backup, in `pg_dump`'s custom format."""
_MAX_OUTPUT_CHARS = 300
"""Number of characters of a program's output that are shown."""


def copy_database(workspace: Workspace, target: Path) -> str | None:
    """Copy a workspace's database to a file; return its name in a backup, or None without one."""
    url, file = os.environ.get(URL_VARIABLE), workspace.path(DATABASE_FILE)
    if not url and not is_present(file):
        return None
    opened = connect_postgresql(url, workspace.root) if url else sqlite.connect(file)
    with closing(opened) as database:
        with database.read() as connection:
            if not check_present(connection, database):
                return None
            check_owner(connection, database.name, workspace.identity())
        if url:
            tables = (f"--table={name}" for name in schema.metadata.tables)
            wait = f"--lock-wait-timeout={LOCK_TIMEOUT_S}s"
            _run_client(database, "pg_dump", "--format=custom", wait, *tables, f"--file={target}")
        else:
            _copy_file(file, target)
    target.chmod(0o600)
    return DUMP_FILE if url else DATABASE_FILE


def _copy_file(file: Path, target: Path) -> None:
    try:
        with closing(sqlite3.connect(file, timeout=LOCK_TIMEOUT_S)) as source:
            with closing(sqlite3.connect(target)) as copy:
                source.backup(copy)  # in one step, so as of one moment
    except sqlite3.Error as error:
        raise StoreError(f"annotation database {file} cannot be copied: {error}") from None


def restore_database(workspace: Workspace) -> None:
    """Turn the file that `copy_database` wrote, now in the workspace, into its database."""
    file, dump = workspace.path(DATABASE_FILE), workspace.path(DUMP_FILE)
    url = os.environ.get(URL_VARIABLE)
    if url and file.exists():
        raise StoreError(
            f"{URL_VARIABLE} is set, but the backup holds a study on SQLite; unset it, restore, "
            "then run sts workspace move --to URL"
        )
    if not url and dump.exists():
        raise StoreError(
            f"{URL_VARIABLE} is not set, but the backup holds a study on PostgreSQL; set it to the "
            "URL of an empty database and restore again"
        )
    if file.exists():
        _check_tables(file)
        write_new(workspace.path(RECORD_FILE), NEW_RECORD)  # which no backup holds
        open_sqlite(file, workspace.identity()).close()
    elif url and dump.exists():
        _load_dump(url, workspace, dump)
        dump.unlink()


def _check_tables(file: Path) -> None:
    """Reject a file with unknown views or triggers before any query can execute them."""
    query = "SELECT sql FROM sqlite_master WHERE type NOT IN ('table', 'index')"
    try:
        with closing(sqlite3.connect(file)) as source:
            statements = {sql for (sql,) in source.execute(query)}
    except sqlite3.Error as error:
        raise DamagedData(f"{file.name}: expected an annotation database: {error}") from None
    if statements - {*tables.TRIGGERS["sqlite"]}:
        raise DamagedData(f"{file.name}: expected an annotation database, found views or triggers")


def _load_dump(url: str, workspace: Workspace, dump: Path) -> None:
    """Load a dump into an empty database, and empty it again if it is not the right study."""
    write_new(workspace.path(RECORD_FILE), NEW_RECORD)
    with closing(connect_postgresql(url, workspace.root)) as database:
        with database.write(exclusive=True) as connection:
            check_unused(connection, database.name)
            connection.exec_driver_sql(tables.REFUSE_CHANGE)
        _run_client(database, "pg_restore", "--single-transaction", str(dump))
        try:
            open_postgresql(url, workspace.identity(), workspace.root).close()
        except BaseException:
            with database.write(exclusive=True) as connection:
                schema.metadata.drop_all(connection)
            raise


def _run_client(database: Database, program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's client programs on a database, as the connected user."""
    from sts.annotations.database.postgresql import command_line_url

    url, secret = command_line_url(database.engine.url)
    command = [program, f"--dbname={url}", "--no-password", "--no-owner", "--no-privileges"]
    try:
        process = subprocess.run(
            [*command, *arguments],
            env=os.environ | secret,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise StoreError(
            f"{program} cannot be run ({error.strerror}): install PostgreSQL's client programs, of "
            "the server's version or a later one"
        ) from None
    if process.returncode:
        output = " ".join(process.stderr.replace(f"{program}: ", "").split())
        if "version mismatch" in output:
            output = f"it is older than the server; install {program} of its version ({output})"
        raise StoreError(
            f"annotation database {database.name}: {program} failed: {output[:_MAX_OUTPUT_CHARS]}"
        )
