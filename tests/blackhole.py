"""A network that loses what it carries, without a word to either end."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable


class BlackHole:
    """A proxy on the loopback interface that drops what it reads unless `delivers` is set.

    A connection that has lost something stays silent; the end of one is passed on later.
    """

    def __init__(self, connect: Callable[[], socket.socket]) -> None:
        """Listen; `connect` returns a new connection to the server behind."""
        self._connect = connect
        self.delivers = threading.Event()
        self.delivers.set()
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listening.accept()
            except OSError:
                return
            try:
                server = self._connect()
            except OSError:  # the server is down
                client.close()
                continue
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        lost = False
        try:
            while data := source.recv(2**16):
                lost = lost or not self.delivers.is_set()
                if not lost:
                    sink.sendall(data)
        except OSError:
            pass
        self.delivers.wait()
        with contextlib.suppress(OSError):  # it has ended already
            sink.shutdown(socket.SHUT_RDWR)
        source.close()
