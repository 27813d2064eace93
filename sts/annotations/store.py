"""The annotation store: the database of a workspace, how it is judged, and the time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType

from sqlalchemy import Connection as Connection

from sts.annotations.database import Database
from sts.annotations.opening import is_present, open_postgresql, open_sqlite, parse_url
from sts.annotations.study import USUAL, Study, load_study
from sts.errors import StoreError
from sts.storage.workspace import Workspace

DATABASE_FILE = "annotations.sqlite3"
URL_VARIABLE = "STS_DATABASE_URL"


class Store:
    """Owns the database of one workspace; safe to share between threads.

    Several processes, the app's and the command line's, may have it open at once. The functions of
    this package read and change it inside a transaction:

        with store.read() as connection:
            views.progress(connection, "mysuite@1")

    Attributes:
      database: where `export` reads.
      study: how continuations are judged.
      now: the time by the store's clock, UTC seconds.
    """

    def __init__(
        self,
        database: Database,
        *,
        study: Study = USUAL,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take over an open database; `clock` gives UTC seconds."""
        self.database, self.study, self.now = database, study, clock

    @classmethod
    def open(cls, workspace: Workspace, *, clock: Callable[[], float] = time.time) -> Store:
        """Open the workspace's store, and make it if there is none.

        It is `annotations.sqlite3` in the workspace, or the PostgreSQL database that
        `STS_DATABASE_URL` names. SQLite wants a local disk.

        Raises:
          ArgumentError: `STS_DATABASE_URL` is not a URL of PostgreSQL.
          DamagedData: a setting of the workspace is not what it should be.
          MissingExtra: psycopg is not installed.
          NewerFormat: a later version made the database.
          StoreError: it is lost, locked, damaged, read-only, an earlier version's, another
            program's or another workspace's.
        """
        asked, url = load_study(workspace), os.environ.get(URL_VARIABLE)
        if url:
            parse_url(url)  # before anything is written
        try:
            own = workspace.identity()
        except OSError as error:
            raise StoreError(
                f"annotation database needs the folder {workspace.root}, which cannot be made or "
                f"written: {error.strerror}"
            ) from None
        if url:
            database = open_postgresql(url, own, workspace.root)
        else:
            database = open_sqlite(workspace.path(DATABASE_FILE), own)
        return cls(database, study=asked, clock=clock)

    @classmethod
    def find(cls, workspace: Workspace) -> Store | None:
        """Open the workspace's store like `open`; return None if there is none yet."""
        if not os.environ.get(URL_VARIABLE) and not is_present(workspace.path(DATABASE_FILE)):
            return None
        return cls.open(workspace)

    @classmethod
    @contextmanager
    def read_existing(cls, workspace: Workspace) -> Iterator[Connection | None]:
        """Open a transaction that reads the workspace's store; yield None if there is none yet."""
        store = cls.find(workspace)
        if store is None:
            yield None
        else:
            with store, store.read() as connection:
                yield connection

    def read(self) -> AbstractContextManager[Connection]:
        """Open a transaction that changes nothing; see `Database.read`."""
        return self.database.read()

    def write(self, *, alone: bool = False) -> AbstractContextManager[Connection]:
        """Open a transaction that is kept whole or not at all; see `Database.write`.

        Functions that ask for a connection "alone in writing" need `alone`.
        """
        return self.database.write(alone=alone)

    def close(self) -> None:
        """End the connections."""
        self.database.close()

    def __enter__(self) -> Store:
        """Return itself; the block's end closes it."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the store."""
        self.close()
