"""Limits on the server's connections: request time and number."""

import asyncio
import resource
from ipaddress import ip_address, ip_network
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from sts_annotator_app.auth.rate_limiter import normalise_address

REQUEST_TIMEOUT_S = 10.0
"""Time within which a request and its body must have arrived."""
MAX_OPEN_FILES = 16_384
"""File descriptors requested from the system."""
_RESERVED_FILES = 256
"""Descriptors reserved for files and the database."""


def raise_file_limit() -> int:
    """Raise the limit of open files to `MAX_OPEN_FILES`; return how many may be connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < MAX_OPEN_FILES:
        soft = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(MAX_OPEN_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    limit = MAX_OPEN_FILES if soft == resource.RLIM_INFINITY else min(MAX_OPEN_FILES, soft)
    return limit - min(_RESERVED_FILES, limit // 2)


class LimitedProtocol(H11Protocol):
    """uvicorn's protocol with a deadline for each request and limits on connections.

    At a limit, the connection that has waited longest for its request is closed in favour of the
    new one; if none waits, the new one is closed. `each` limits the connections of one address
    outside `proxies` (comma-separated addresses and networks); `total` limits all connections.
    """

    def __init__(self, *given: Any, each: int, total: int, proxies: str = "", **more: Any) -> None:
        """Set the limits."""
        super().__init__(*given, **more)
        self._each, self._total = each, total
        self._proxies = [ip_network(text) for text in proxies.split(",") if text]
        self.deadline: asyncio.TimerHandle | None = None
        self.waiting_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, or close one if there are too many."""
        super().connection_made(transport)
        self._expect_request()
        if crowd := self._find_crowd():
            ours = [peer for peer in crowd if isinstance(peer, LimitedProtocol)]
            waiting = [peer for peer in ours if peer.deadline]
            longest = min(waiting, key=lambda peer: peer.waiting_since)  # at least this one waits
            longest.close_connection()

    def data_received(self, data: bytes) -> None:
        """Read part of a request, and cancel the deadline once it is complete."""
        super().data_received(data)
        arriving = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if arriving and self in self.connections:  # a websocket is no longer among them
            self._expect_request()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadline."""
        self._stop_waiting()
        super().connection_lost(exc)

    def close_connection(self) -> None:
        """Close the connection immediately."""
        self._stop_waiting()
        self.transport.abort()

    def _find_crowd(self) -> list[object]:
        """Return the connections that exceed a limit by one; empty within the limits."""
        if len(self.connections) > self._total:
            return [*self.connections]
        if not self.client or any(
            ip_address(self.client[0]) in network for network in self._proxies
        ):
            return []
        address = normalise_address(self.client[0])
        clients = ((peer, getattr(peer, "client", None)) for peer in self.connections)
        peers = [peer for peer, at in clients if at and normalise_address(at[0]) == address]
        return [*peers] if len(peers) > self._each else []

    def _expect_request(self) -> None:
        if self.deadline is None:
            self.waiting_since = self.loop.time()
            self.deadline = self.loop.call_later(REQUEST_TIMEOUT_S, self.close_connection)

    def _stop_waiting(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None
