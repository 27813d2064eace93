"""Connection to the annotation database, SQLite or PostgreSQL, with readable error messages."""

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from sts.errors import StoreError

T = TypeVar("T")

LOCK_TIMEOUT_S = 30
"""Seconds to wait for another process's transaction."""
STATEMENT_TIMEOUT_S = 60
"""Seconds that PostgreSQL may spend on one statement."""

_ADVISORY_LOCK = 0x535453
"""PostgreSQL's key of the lock held by a transaction that must run alone: "STS" in ASCII."""


class Database:
    """Owner of an engine; every statement runs inside `read` or `write`.

    Attributes:
      engine: of the database.
      name: a path, or a URL without its password, for messages.
      record_file: the file that records that a study has started.
    """

    def __init__(self, engine: Engine, name: str, record: Path) -> None:
        """Take ownership of `engine`; `close` closes its connections."""
        self.name = name
        self.record_file = record
        self.engine = engine
        self._file: os.stat_result | None = None
        self._sqlite = engine.dialect.name == "sqlite"
        # On SQLite all threads share one connection: opening one takes as long as many saves.
        # Re-entrant, so that a nested transaction fails instead of deadlocking.
        self._turn: AbstractContextManager[Any] = (
            threading.RLock() if self._sqlite else nullcontext()
        )

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a read-only transaction; raise StoreError if the database fails."""
        with self._translate_errors(), self._turn, self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self, *, exclusive: bool = False) -> Iterator[Connection]:
        """Open a transaction that is committed, or rolled back if its body raises.

        On SQLite it holds the write lock from its first statement (BEGIN IMMEDIATE), so that what
        it reads cannot change before it writes. On PostgreSQL rows are locked where they are read;
        with `exclusive`, transactions that also ask for it run one after another. If the database
        fails, raise StoreError.
        """
        with self._translate_errors(), self._turn, self.engine.connect() as plain:
            connection = plain.execution_options(writes=True)
            with connection.begin():
                if exclusive and not self._sqlite:
                    connection.execute(select(func.pg_advisory_xact_lock(_ADVISORY_LOCK)))
                yield connection

    def watch_file(self, file: Path) -> None:
        """Make later reads and writes fail if the open `file` is moved, removed or replaced."""
        with self._translate_errors():
            self._file = file.stat()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            self._check_file_in_place()
            yield
        except IntegrityError:
            raise  # a bug in this program rather than a problem of the database
        except DBAPIError as error:
            raise make_store_error(self.name, str(error.orig)) from error
        except PoolTimeout:
            raise StoreError(
                f"annotation database {self.name} had no free connection within {LOCK_TIMEOUT_S} "
                "s; wait for other work on it to finish and try again"
            ) from None

    def _check_file_in_place(self) -> None:
        """Raise StoreError if the open file is not at its path: changes would be lost."""
        if self._file is None:
            return
        try:
            in_place = os.path.samestat(self._file, os.stat(self.name))
        except OSError:
            in_place = False
        if not in_place:
            raise StoreError(
                f"annotation database {self.name} was moved, removed or replaced while it was in "
                "use; put it back, or restart the program that uses it"
            )


def iter_batches(values: Iterable[T], size: int = 500) -> Iterator[list[T]]:
    """Yield values in lists that fit into one query; a database limits its parameters."""
    stream = iter(values)
    while batch := list(islice(stream, size)):
        yield batch


class MisreadDatabase(StoreError):
    """An SQLite file that looked damaged once; only a second read can confirm it."""


def make_store_error(name: str, message: str) -> StoreError:
    """Turn a driver's message about a database into a one-line error."""
    for symptom, problem in _UNREADABLE.items():
        if symptom in message:
            return MisreadDatabase(f"annotation database {name} {problem}")
    for symptom, problem in _SYMPTOMS.items():
        if symptom in message:
            return StoreError(f"annotation database {name} {problem}")
    lines = (line.strip() for line in message.splitlines())
    reason = next(filter(None, lines), "no reason given")
    return StoreError(
        f"annotation database {name} failed: {reason}; check that it exists and is reachable"
    )


_UNREADABLE = {
    "file is not a database": "could not be read as an SQLite file; check the disk and try again",
    "malformed": "could not be read; check the disk and try again",
}
_BUSY = f"was busy for {LOCK_TIMEOUT_S} s; stop the program that locks it and try again"
_SYMPTOMS = {
    "unable to open database file": "cannot be opened; its folder must exist and be writable",
    "readonly database": "is read-only; make the file and its folder writable",
    "disk is full": "could not be written, the disk is full; free some space and send again",
    "disk I/O error": "could not be read or written; check the disk and try again",
    "database is locked": _BUSY,
    "lock timeout": _BUSY,
    "statement timeout": f"spent {STATEMENT_TIMEOUT_S} s on one statement; stop other work on it "
    "and try again",
}
