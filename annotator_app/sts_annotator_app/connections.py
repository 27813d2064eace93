"""Limits on the connections of the server: how long a request may take to arrive, and how many."""

from __future__ import annotations

import asyncio
import resource
from ipaddress import ip_address, ip_network
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from sts_annotator_app.attempts import normalise_address

REQUEST_TIMEOUT_S = 10.0
"""Seconds after which a request that has not arrived whole is cut off, its body included."""
MAX_OPEN_FILES = 16_384
"""Descriptors that the server asks the system for."""
_RESERVED_FILES = 256
"""Descriptors that are left to files and to the database."""


def raise_file_limit() -> int:
    """Raise the limit of open files to `MAX_OPEN_FILES`; return how many may be connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < MAX_OPEN_FILES:
        soft = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(MAX_OPEN_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    most = MAX_OPEN_FILES if soft == resource.RLIM_INFINITY else min(MAX_OPEN_FILES, soft)
    return most - min(_RESERVED_FILES, most // 2)


class LimitedProtocol(H11Protocol):
    """uvicorn's protocol with a deadline for each request and a limit on connections.

    When a limit is reached, the connection that has waited longest for its request gives way to
    the new one; if none waits, the new one is closed. `each` limits the connections of one address
    that is not in `proxies`, addresses and networks separated by commas; `total` limits all.
    """

    def __init__(self, *given: Any, each: int, total: int, proxies: str = "", **more: Any) -> None:
        """Wait for a connection."""
        super().__init__(*given, **more)
        self._each, self._total = each, total
        self._proxies = [ip_network(one) for one in proxies.split(",") if one]
        self.deadline: asyncio.TimerHandle | None = None
        self.since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or close one if there are too many."""
        super().connection_made(transport)
        self._expect_request()
        if crowd := self._find_crowd():
            waiting = [one for one in crowd if isinstance(one, LimitedProtocol) and one.deadline]
            min(waiting, key=lambda one: one.since).cut_off()  # this one at least is waiting

    def data_received(self, data: bytes) -> None:
        """Read part of a request, and stop waiting once it is whole."""
        super().data_received(data)
        arriving = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if arriving and self in self.connections:  # a websocket is no longer among them
            self._expect_request()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def cut_off(self) -> None:
        """Close the connection at once."""
        self._stop_waiting()
        self.transport.abort()

    def _find_crowd(self) -> list[object]:
        """Return the connections of which there is one too many; none if there is room for all."""
        if len(self.connections) > self._total:
            return [*self.connections]
        if not self.client or any(ip_address(self.client[0]) in one for one in self._proxies):
            return []
        own = [
            one
            for one in self.connections
            if _client_network(one) == normalise_address(self.client[0])
        ]
        return [*own] if len(own) > self._each else []

    def _expect_request(self) -> None:
        if self.deadline is None:
            self.since = self.loop.time()
            self.deadline = self.loop.call_later(REQUEST_TIMEOUT_S, self.cut_off)

    def _stop_waiting(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None


def _client_network(connection: object) -> str:
    client = getattr(connection, "client", None)
    return normalise_address(client[0]) if client else ""
