"""A PostgreSQL cluster of the tests' own, which can be stopped at once and denied all room."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

from tests.programs import require_program

_PATIENCE = 60.0
"""Seconds in which it recovers."""
_OTHERS = (
    "SELECT {} FROM pg_stat_activity WHERE backend_type = 'client backend' "
    "AND pid <> pg_backend_pid()"
)


class Cluster:
    """A cluster that listens on a socket in a folder of its own, and the `url` of its database."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        # PostgreSQL refuses root, and a socket's path may not be long: a short folder of its own.
        self._folder = Path(tempfile.mkdtemp(prefix="sts-pg-", dir="/tmp"))
        self._owner: dict[str, Any] = {}
        if os.geteuid() == 0:
            someone = pwd.getpwnam("postgres")
            os.chown(self._folder, someone.pw_uid, someone.pw_gid)
            self._owner = {"user": someone.pw_uid, "group": someone.pw_gid, "extra_groups": []}
        self.url = f"postgresql://sts@/postgres?host={self._folder}"
        self._data = str(self._folder / "data")
        words = ("-D", self._data, "-U", "sts", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
        self._call(self._programs / "initdb", *words)
        self.start()

    def start(self) -> None:
        """Start it and wait until it answers."""
        settings = f"-k {self._folder} -c listen_addresses= -c fsync=off -c max_connections=60"
        log = str(self._folder / "log")
        self._control("start", "-w", "-t", "300", "-l", log, "-o", settings)

    def stop(self) -> None:
        """End every process of it at once, as if each had been killed."""
        self._control("stop", "-w", "-m", "immediate")

    def emptied(self) -> str:
        """Empty the database and return its URL."""
        with self._connection() as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
        return self.url

    def end_connections(self) -> None:
        """End every other connection."""
        with self._connection() as connection:
            connection.execute(_OTHERS.format("pg_terminate_backend(pid)"))

    def fill(self) -> None:
        """Let no open connection write a byte, as on a full disk.

        If the log cannot be written, PostgreSQL ends all its processes and recovers.
        """
        with self._connection() as connection:
            numbers = connection.execute(_OTHERS.format("pid")).fetchall()
        for (number,) in numbers:
            with suppress(subprocess.CalledProcessError):  # it has ended with another by now
                self._call("prlimit", "--pid", str(number), "--fsize=0:", stderr=subprocess.DEVNULL)

    def wait(self) -> None:
        """Wait until it answers, as after it has recovered."""
        self._connection().close()

    def close(self) -> None:
        """Stop it and remove its folder."""
        self.stop()
        shutil.rmtree(self._folder)

    def _connection(self) -> psycopg.Connection[tuple[Any, ...]]:
        options, until = "-c lock_timeout=300s", time.monotonic() + _PATIENCE
        while True:
            try:
                return psycopg.connect(self.url, autocommit=True, options=options)
            except psycopg.OperationalError:
                if time.monotonic() > until:
                    raise
            time.sleep(0.05)

    def _control(self, what: str, *arguments: str) -> None:
        self._call(self._programs / "pg_ctl", what, "-D", self._data, *arguments)

    def _call(self, program: str | Path, *arguments: str, stderr: int | None = None) -> None:
        options: dict[str, Any] = {
            "stdout": subprocess.DEVNULL,
            "stderr": stderr,
            "cwd": self._folder,
        }
        command = [str(program), *arguments]
        subprocess.run(command, check=True, timeout=600, **options, **self._owner)


def started_cluster() -> Iterator[Cluster]:
    """Yield a cluster of its own to a fixture; without PostgreSQL its tests are skipped."""
    cluster = Cluster(Path(require_program("postgresql")).parent)
    yield cluster
    cluster.close()
