"""A study that people judge: a server, the network before it, its database and its people."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import psycopg

from sts.annotations.store import DATABASE_FILE, URL_VARIABLE
from sts.continuations.run import run
from tests.annotator_app.serving import AGENTS, Server, empty_workspace, quiet
from tests.clusters import Cluster, programs
from tests.examples import small
from tests.faults.judging.network import Network
from tests.faults.trials import Setting

MOST_WANTED = 3


class Study(NamedTuple):
    """What a trial has.

    Attributes:
      server: `sts annotate`, running.
      network: by which people come to it.
      cluster: where its database is; None where that is a file.
    """

    server: Server
    network: Network
    cluster: Cluster | None

    @property
    def address(self) -> str:
        """Where its people go."""
        return f"http://127.0.0.1:{self.network.port}"

    @contextlib.contextmanager
    def connection(self) -> Iterator[Any]:
        """A connection to the database past the store."""
        if self.cluster is None:
            with contextlib.closing(
                sqlite3.connect(self.server.folder / DATABASE_FILE)
            ) as connection:
                yield connection
        else:
            with psycopg.connect(self.cluster.url) as connection:
                yield connection


@contextlib.contextmanager
def opened(setting: Setting) -> Iterator[Study]:
    """A study that is served, of which each clip is wanted once, twice or three times."""
    cluster = _cluster() if setting.database == "postgresql" else None
    folder = shutil.copytree(_recorded(), setting.folder / "workspace")
    settings = folder / "workspace.toml"
    wanted = int(setting.random.integers(1, MOST_WANTED + 1))
    settings.write_text(re.sub("required = 40 ", f"required = {wanted} ", settings.read_text()))
    with patch.dict(os.environ, {URL_VARIABLE: cluster.emptied() if cluster else ""}):
        server = Server(folder)
        network = Network(server.port)
        try:
            server.start()
            yield Study(server, network, cluster)
        finally:
            network.close()
            server.close()


@cache
def _recorded() -> Path:
    """A workspace in which two agents have continued a small suite."""
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    workspace = empty_workspace(folder)
    scenarios = small(workspace).scenarios
    run(workspace, scenarios, AGENTS, count=1, seed=0, workers=1, progress=quiet)
    return folder


@cache
def _cluster() -> Cluster:
    """A cluster that lasts as long as this process."""
    found = programs()
    assert found is not None, "PostgreSQL's programs are not installed"
    made = Cluster(found)
    atexit.register(made.close)
    return made
