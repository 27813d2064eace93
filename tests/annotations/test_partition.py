"""A network to PostgreSQL that stops delivering, without closing a connection."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sts.annotations import people
from sts.annotations.store import Store
from sts.errors import StoreError
from sts.storage.workspace import Workspace
from tests.stores import add_person, ask

LIMIT = 2
"""Seconds to wait for an answer in this test."""


class BlackHole:
    """A proxy on the loopback interface that forwards bytes until it is told to swallow them."""

    def __init__(self, target: str) -> None:
        """Listen on a port of its own, and forward to the socket file `target`."""
        self._target = target
        self._delivers = threading.Event()
        self._delivers.set()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def swallow(self) -> None:
        """Forward nothing from now on, and close nothing."""
        self._delivers.clear()

    def forward(self) -> None:
        """Forward what new connections send; those from before stay silent."""
        self._delivers.set()

    def close(self) -> None:
        """Stop listening."""
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._target)
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        lost = False
        try:
            while data := source.recv(2**16):
                lost = lost or not self._delivers.is_set()
                if not lost:
                    sink.sendall(data)
        except OSError:
            pass
        sink.close()


@pytest.fixture
def proxy(postgresql: Callable[[], str]) -> Iterator[BlackHole]:
    folder = postgresql().partition("host=")[2]
    made = BlackHole(str(Path(folder, ".s.PGSQL.5432")))
    yield made
    made.close()


@pytest.mark.postgresql
def test_silent_partition_fails_in_time_and_the_pool_recovers(
    proxy: BlackHole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sts.annotations import postgresql

    monkeypatch.setattr(postgresql, "RESPONSE_TIMEOUT_S", LIMIT)
    monkeypatch.setattr(postgresql, "_CONNECT_TIMEOUT_S", LIMIT)
    monkeypatch.setenv("STS_DATABASE_URL", f"postgresql://sts@127.0.0.1:{proxy.port}/postgres")
    with Store.open(Workspace.open(str(tmp_path / "workspace"))) as store:
        add_person(store, "Ana")
        proxy.swallow()
        start = time.monotonic()
        with pytest.raises(StoreError) as error:
            add_person(store, "Bo")
        assert time.monotonic() - start < 10 * LIMIT and "\n" not in str(error.value)
        proxy.forward()
        assert [one.name for one in ask(store, people.everybody)] == ["Ana"]


@pytest.mark.postgresql
def test_server_limits_statements_and_idle_transactions(
    postgresql: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STS_DATABASE_URL", postgresql())
    with Store.open(Workspace.open(str(tmp_path / "workspace"))) as store:
        with store.database.read() as connection:
            for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
                assert connection.exec_driver_sql(f"SHOW {name}").scalar() not in (None, "0")
