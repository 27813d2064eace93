"""A study that people judge: a server, the network before it, its database and its people."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import socket
import sqlite3
import tempfile
import threading
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import psycopg

from sts.annotations.database.presence import DATABASE_FILE, URL_VARIABLE
from sts.continuations.run import run
from tests.annotator_app.serving import AGENTS, Server, empty_workspace, quiet
from tests.clusters import Cluster
from tests.examples import small
from tests.faults.trials import Setting
from tests.programs import find_program

MOST_WANTED = 3
WAYS = ("requests", "answers")


class Network:
    """Passes on what comes to a free `port` of this machine to another port, and what is answered.

    `lost` are those of WAYS that are cut; a connection ends with the first that it loses.
    """

    def __init__(self, to: int) -> None:
        """Begin to listen; the server at the port `to` may be down."""
        self.lost: Collection[str] = ()
        self._to = to
        self._links: set[socket.socket] = set()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def drop(self) -> None:
        """End every connection; new ones can be made."""
        for link in tuple(self._links):
            _end(link)

    def close(self) -> None:
        """End every connection and listen no more."""
        _end(self._socket)
        self._socket.close()
        self.drop()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._socket.accept()
                try:
                    far = socket.create_connection(("127.0.0.1", self._to))
                except OSError:
                    near.close()
                    continue
                for way, ends in zip(WAYS, ((near, far), (far, near)), strict=True):
                    threading.Thread(target=self._pass_on, args=(way, *ends), daemon=True).start()

    def _pass_on(self, way: str, source: socket.socket, sink: socket.socket) -> None:
        self._links.add(source)
        with contextlib.suppress(OSError):
            while (data := source.recv(2**16)) and way not in self.lost:
                sink.sendall(data)
        _end(source)
        _end(sink)
        self._links.discard(source)
        source.close()


def _end(link: socket.socket) -> None:
    with contextlib.suppress(OSError):
        link.shutdown(socket.SHUT_RDWR)


class Study(NamedTuple):
    """A running `sts annotate`, the way to it, and its database's cluster, None if it is a file."""

    server: Server
    network: Network
    cluster: Cluster | None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.network.port}"

    def connection(self) -> Any:
        """Return a connection to the database past the store, which its context closes."""
        if self.cluster is not None:
            return psycopg.connect(self.cluster.url)
        return contextlib.closing(sqlite3.connect(self.server.folder / DATABASE_FILE))


@contextlib.contextmanager
def open_study(setting: Setting) -> Iterator[Study]:
    """Yield a study that is served, of which each clip is wanted once, twice or three times."""
    cluster = _cluster() if setting.database == "postgresql" else None
    folder = shutil.copytree(_recorded(), setting.folder / "workspace")
    settings = folder / "workspace.toml"
    wanted = int(setting.random.integers(1, MOST_WANTED + 1))
    settings.write_text(re.sub("clip = 40\n", f"clip = {wanted}\n", settings.read_text()))
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
    """Return a workspace in which two agents have continued a small suite."""
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    workspace = empty_workspace(folder)
    scenarios = small(workspace).scenarios
    run(workspace, scenarios, AGENTS, count=1, seed=0, workers=1, progress=quiet)
    return folder


@cache
def _cluster() -> Cluster:
    """Return a cluster that lasts as long as this process."""
    found = find_program("postgresql")
    assert found is not None, "PostgreSQL's programs are not installed"
    made = Cluster(Path(found).parent)
    atexit.register(made.close)
    return made
