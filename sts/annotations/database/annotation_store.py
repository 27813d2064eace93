"""The annotation store: a workspace's database, study settings and clock."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from sqlalchemy import Connection as Connection

from sts.annotations.database.database import Database
from sts.annotations.database.opening import open_postgresql, open_sqlite, parse_url
from sts.annotations.database.presence import DATABASE_FILE, URL_VARIABLE, has_study
from sts.annotations.study import StudySettings, load_study
from sts.errors import StoreError
from sts.storage.workspace import Workspace


class AnnotationStore:
    """Owner of the database of one workspace; safe to share between threads.

    Several processes, such as the app and the command line, may have it open at once. The functions
    of this package use it inside a transaction:

        with store.read() as connection:
            progress.load_progress(connection, "mysuite@1")

    Attributes:
      database: the open database.
      study: the study's settings.
      now: function that returns the time of the store's clock in UTC seconds.
    """

    def __init__(
        self, database: Database, *, study: StudySettings, clock: Callable[[], float]
    ) -> None:
        """Take ownership of an open database; `clock` returns UTC seconds."""
        self.database, self.study, self.now = database, study, clock

    @classmethod
    def open(
        cls, workspace: Workspace, *, clock: Callable[[], float] = time.time
    ) -> AnnotationStore:
        """Open the workspace's store, creating it if necessary.

        It is `annotations.sqlite3` in the workspace, or the PostgreSQL database at
        `STS_DATABASE_URL`. SQLite needs a local disk.

        Raises:
          ArgumentError: `STS_DATABASE_URL` is not the URL of a PostgreSQL database.
          DamagedData: a setting of the workspace is invalid.
          MissingExtra: psycopg is not installed.
          NewerFormat: a later version created the database.
          StoreError: the database is lost, locked, damaged, read-only, or belongs to an earlier
            version, another program or another workspace.
        """
        settings, url = load_study(workspace), os.environ.get(URL_VARIABLE)
        if url:
            parse_url(url)  # before anything is written
        try:
            identity = workspace.identity()
        except OSError as error:
            raise StoreError(
                f"annotation database needs the folder {workspace.root}, which cannot be created "
                f"or written: {error.strerror}"
            ) from None
        if url:
            database = open_postgresql(url, identity, workspace.root)
        else:
            database = open_sqlite(workspace.path(DATABASE_FILE), identity)
        return cls(database, study=settings, clock=clock)

    @classmethod
    def find(cls, workspace: Workspace) -> AnnotationStore | None:
        """Open the workspace's store like `open`; return None if it does not exist yet."""
        return cls.open(workspace) if has_study(workspace) else None

    @classmethod
    @contextmanager
    def read_existing(cls, workspace: Workspace) -> Iterator[Connection | None]:
        """Open a read-only transaction on the workspace's store, or yield None without one."""
        store = cls.find(workspace)
        if store is None:
            yield None
        else:
            with store, store.read() as connection:
                yield connection

    def read(self) -> AbstractContextManager[Connection]:
        """Open a read-only transaction; see `Database.read`."""
        return self.database.read()

    def write(self, *, exclusive: bool = False) -> AbstractContextManager[Connection]:
        """Open a transaction that is committed completely or not at all; see `Database.write`.

        Use `exclusive` for functions whose connection "must be the only writer".
        """
        return self.database.write(exclusive=exclusive)

    def close(self) -> None:
        """Close all connections."""
        self.database.close()

    def __enter__(self) -> AnnotationStore:
        """Return the store, which is closed at the end of the block."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the store."""
        self.close()
