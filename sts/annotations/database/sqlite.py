"""Connection to an annotation database in an SQLite file, readable only by its owner."""

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.pool import StaticPool

from sts.annotations.database.database import (
    LOCK_TIMEOUT_S,
    Database,
    MisreadDatabase,
    make_store_error,
)
from sts.annotations.database.presence import RECORD_FILE

_CACHE_KB = 2**16
"""Kilobytes of the page cache per connection: a queue of a million items fits."""
_READ_ERRORS = tuple(f"error code={number}" for number in ("10", "266", "522"))
"""Ends of quick-check messages about pages that the disk could not read (SQLITE_IOERR codes)."""


def connect(path: Path) -> Database:
    """Return the database in the file at `path`, creating the file if it is missing."""
    # SQLite creates its other files with the same permissions.
    with suppress(FileExistsError, FileNotFoundError, PermissionError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        poolclass=StaticPool,
        connect_args={"check_same_thread": False, "timeout": LOCK_TIMEOUT_S},
    )
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin_transaction)
    return Database(engine, str(path), path.with_name(RECORD_FILE))


def check_integrity(connection: Connection, name: str) -> None:
    """Raise MisreadDatabase if SQLite's quick check finds an error in the database `name`."""
    message = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one())
    if message == "ok":
        return
    message = message.splitlines()[-1]
    if message.endswith(_READ_ERRORS):
        raise make_store_error(name, "disk I/O error")
    raise MisreadDatabase(f"annotation database {name} is damaged ({message})")


def set_journal_mode(database: Database, mode: str, *, wait: float = LOCK_TIMEOUT_S) -> None:
    """Set the journal mode; with WAL, other processes can read while one writes.

    A database leaves WAL only while no other connection to it is open; `wait` is in seconds.
    """
    pooled = database.engine.raw_connection()
    driver = pooled.driver_connection
    assert driver is not None
    deadline = time.monotonic() + wait
    try:
        while True:
            try:
                driver.execute(f"PRAGMA journal_mode = {mode}").fetchone()
                return
            except sqlite3.OperationalError as error:
                # SQLite does not wait here, so processes that create a store at once collide.
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise make_store_error(database.name, str(error)) from error
            time.sleep(0.02)
    finally:
        pooled.close()


def _configure(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # `_begin_transaction` starts transactions
    connection.execute("PRAGMA foreign_keys = ON")
    # Acknowledged judgements must survive a power cut.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KB}")


def _begin_transaction(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
