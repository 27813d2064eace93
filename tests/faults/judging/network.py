"""A way to a server that can be cut, so that a request never arrives or its answer is lost."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Collection

REQUESTS, ANSWERS = WAYS = ("requests", "answers")


class Network:
    """Passes on what comes to `port` of this machine to another port of it, and what is answered.

    Attributes:
      port: a free one.
      lost: which of WAYS are cut; a connection ends with the first that it loses.
    """

    def __init__(self, to: int) -> None:
        """Begins to listen.

        Args:
          to: the port of the server, which may be down.
        """
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
        """End every connection and listens no more."""
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
