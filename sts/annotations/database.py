"""A connection to the annotation database, SQLite or PostgreSQL, and words for its failures."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, func, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError as MalformedUrl
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import StaticPool

from sts.annotations import baseline, schema
from sts.errors import ArgumentError, MissingExtra, StoreError
from sts.storage.files import put_new

WAIT = 30
"""Seconds to wait for another process's transaction before giving up."""

RECORD = "annotations.json"
"""The record that a study began, by which a lost database is noticed."""

_ADVISORY_LOCK = 0x535453
"""PostgreSQL's key for work that only one connection may do at a time: "STS" in ASCII."""


class Database:
    """Owns an engine; every statement runs inside `read` or `write`.

    Attributes:
      name: what messages call it: a path, or a URL without its password.
      record: the file that says that a study began.
    """

    def __init__(self, engine: Engine, name: str, record: Path) -> None:
        """Takes over `engine`; `close` ends its connections.

        Args:
          engine: of the database.
          name: what messages call it.
          record: the file that says that a study began; it is made with the database.
        """
        self.name = name
        self.record = record
        self._engine = engine
        self._file: os.stat_result | None = None
        self._sqlite = engine.dialect.name == "sqlite"
        # SQLite keeps one connection for all threads, since opening one costs hundreds of saves.
        # Re-entrant, so that a transaction inside a transaction fails instead of waiting for ever.
        self._turn: AbstractContextManager[Any] = (
            threading.RLock() if self._sqlite else nullcontext()
        )

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that changes nothing.

        Raises:
          StoreError: the database is lost, locked or damaged.
        """
        with self._translated(), self._turn, self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self, *, alone: bool = False) -> Iterator[Connection]:
        """A transaction that is kept whole, or not at all when its body raises.

        On SQLite it holds the write lock from its first statement (BEGIN IMMEDIATE), so that what
        it reads cannot change before it writes. On PostgreSQL rows are locked where they are
        read; with `alone`, transactions that also ask for it come one after another.

        Raises:
          StoreError: the database is lost, locked, read-only, full or damaged.
        """
        with self._translated(), self._turn, self._engine.connect() as plain:
            connection = plain.execution_options(writes=True)
            with connection.begin():
                if alone and not self._sqlite:
                    connection.execute(select(func.pg_advisory_xact_lock(_ADVISORY_LOCK)))
                yield connection

    def hold(self, file: Path) -> None:
        """Takes `file` for what is open: nothing is read or written once it is not there."""
        with self._translated():
            self._file = file.stat()

    def close(self) -> None:
        """Ends every connection; the database stays."""
        self._engine.dispose()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            self._check_there()
            yield
        except IntegrityError:
            raise  # a broken rule of ours, not the reader's database: never hidden
        except DBAPIError as error:
            raise StoreError(_in_words(self.name, str(error.orig))) from error
        except PoolTimeout:
            raise StoreError(
                f"annotation database {self.name} had no connection free within {WAIT} s; "
                "wait for other work on it to end and try again"
            ) from None

    def _check_there(self) -> None:
        """Raises StoreError where the open file is not at its path: its work would be lost."""
        if self._file is None:
            return
        try:
            there = os.path.samestat(self._file, os.stat(self.name))
        except OSError:
            there = False
        if not there:
            raise StoreError(
                f"annotation database {self.name} was moved, removed or replaced while it was in "
                "use; put it back, or start again what uses it"
            )


def is_lost(path: Path) -> bool:
    """Return True if a study began next to `path` and there is no database at it."""
    # In this order, as another process may be making both.
    return path.with_name(RECORD).exists() and not path.exists()


def open_sqlite(path: Path, workspace: str) -> Database:
    """Returns the database in the file at `path`, which is made when it is absent.

    Args:
      path: of the file; the record that its study began stands next to it.
      workspace: the id of the workspace whose it is, or will be.

    Raises:
      NewerFormat: it was made by a later version.
      StoreError: it is lost, an earlier version's, another program's or another workspace's,
        damaged, or cannot be opened or written.
    """
    if path.exists() and not path.is_file():
        raise StoreError(f"annotation database {path} is no file; move away what stands there")
    if is_lost(path):
        raise StoreError(
            f"annotation database {path}, of which {RECORD} is a record, is not there; put it back "
            "or restore a backup; where it is PostgreSQL's, set STS_DATABASE_URL; to begin anew, "
            f"move {RECORD} away"
        )
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        poolclass=StaticPool,
        connect_args={"check_same_thread": False, "timeout": WAIT},
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    database = Database(engine, str(path), path.with_name(RECORD))
    _ready(database, workspace, lambda: _enter_wal(engine, str(path)))
    database.hold(path)
    return database


def open_postgresql(
    url: str, workspace: str, folder: Path, fill: Callable[[Connection], None] | None = None
) -> Database:
    """Returns the database at `url`, `postgresql://user:password@host:port/name`.

    Args:
      url: of the database.
      workspace: the id of the workspace whose it is, or will be.
      folder: of the workspace, which keeps the record that its study began.
      fill: gives the tables their rows in the transaction that makes them; there are none yet.

    Raises:
      ArgumentError: `url` is not one of PostgreSQL.
      MissingExtra: psycopg is not installed.
      NewerFormat: it was made by a later version.
      StoreError: it does not answer, its tables are not ours, or it is an earlier version's or
        another workspace's; or
        there are tables of ours already, and it was to be filled.
    """
    return _ready(connect_postgresql(url, folder), workspace, lambda: None, fill)


def connect_postgresql(url: str, folder: Path) -> Database:
    """Returns the database at `url`, whatever is in it; see `open_postgresql`.

    Raises:
      ArgumentError: `url` is not one of PostgreSQL.
      MissingExtra: psycopg is not installed.
    """
    try:
        parsed = make_url(url)
    except (MalformedUrl, ValueError):
        parsed = None
    if parsed is None or parsed.drivername.partition("+")[0] not in ("postgresql", "postgres"):
        raise ArgumentError(
            "expected STS_DATABASE_URL like postgresql://user:password@host:5432/name, found "
            + (repr(parsed.render_as_string()) if parsed else "something that is not a URL")
        )
    try:
        engine = create_engine(
            parsed.set(drivername="postgresql+psycopg"),
            pool_pre_ping=True,
            pool_timeout=WAIT,
            connect_args={"connect_timeout": 10, "options": f"-c lock_timeout={WAIT}s"},
        )
    except ImportError:
        raise MissingExtra(
            "PostgreSQL needs psycopg, which is not installed: "
            "pip install 'standardised-test-suite[postgresql]'"
        ) from None
    return Database(engine, parsed.render_as_string(), folder / RECORD)


_CACHE = 2**16
"""Kilobytes of an SQLite database that a connection may keep: a queue of a million fits."""


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # transactions begin where `_begin_sqlite` says
    connection.execute("PRAGMA foreign_keys = ON")
    # An acknowledged judgement has to outlive a power cut as well as a killed process.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA cache_size = -{_CACHE}")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _enter_wal(engine: Engine, name: str) -> None:
    """Lets readers and the writer work side by side, for as long as the file lives."""
    pooled = engine.raw_connection()
    driver = pooled.driver_connection
    assert driver is not None
    deadline = time.monotonic() + WAIT
    try:
        while True:
            try:
                driver.execute("PRAGMA journal_mode = WAL").fetchone()
                return
            except sqlite3.OperationalError as error:
                # SQLite waits for no lock here, so processes that make a store together collide.
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise StoreError(_in_words(name, str(error))) from error
            time.sleep(0.02)
    finally:
        pooled.close()


def _ready(
    database: Database,
    workspace: str,
    prepare: Callable[[], None],
    fill: Callable[[Connection], None] | None = None,
) -> Database:
    try:
        with database.read() as connection:
            there = baseline.exists(connection, database.name)
            damage = _damage(connection)
        if damage:
            raise StoreError(
                f"annotation database {database.name} is damaged ({damage}); "
                "restore it from a copy, or move it away to begin a new one"
            )
        prepare()
        if not there:
            with database.write(alone=True) as connection:
                there = baseline.exists(connection, database.name)
                if not there:
                    baseline.create(connection)
                    connection.execute(schema.workspaces.insert().values(id=workspace))
                    if fill is not None:
                        fill(connection)
        if there and fill is not None:
            raise StoreError(
                f"expected an empty database at {database.name} to restore to, found one that is "
                "in use: name another by STS_DATABASE_URL, or empty it"
            )
        with database.read() as connection:
            check_owner(connection, database.name, workspace)
        put_new(database.record, b"{}\n")
    except BaseException:
        database.close()
        raise
    return database


def check_owner(connection: Connection, name: str, workspace: str) -> None:
    """Raise StoreError if a database belongs to another workspace."""
    owner = connection.execute(select(schema.workspaces.c.id)).scalar()
    if owner != workspace:
        raise StoreError(
            f"annotation database {name} is of the workspace with the id {owner}, and "
            f"this one has the id {workspace}: give it a database of its own, or, where this "
            f'is its own, write id = "{owner}" into its workspace.toml'
        )


def _damage(connection: Connection) -> str:
    if connection.dialect.name != "sqlite":
        return ""
    found = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one())
    return "" if found == "ok" else found.splitlines()[-1]


def _in_words(name: str, found: str) -> str:
    """One line for what a driver said."""
    said = next((line.strip() for line in found.splitlines() if line.strip()), "no reason given")
    for symptom, words in _SYMPTOMS.items():
        if symptom in found:
            return f"annotation database {name} {words}"
    return f"annotation database {name} failed: {said}; check that it is there and reachable"


_SYMPTOMS = {
    "file is not a database": "is not an SQLite file; move it away, or name another workspace",
    "malformed": "is damaged; restore it from a copy, or move it away to begin a new one",
    "unable to open database file": "cannot be opened; its folder must exist and be writable",
    "readonly database": "is read-only; make the file and its folder writable",
    "disk is full": "could not be written, the disk is full; free some space and send again",
    "disk I/O error": "could not be read or written (disk I/O error); check the disk",
    "database is locked": f"was busy for {WAIT} s; end the program that holds it and try again",
    "lock timeout": f"was busy for {WAIT} s; end the program that holds it and try again",
}
