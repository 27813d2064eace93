"""A page without a browser: its messages to and from the server."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from sts_annotator_app.auth.browser_sessions import cookie_name
from tests.annotator_app.serving import Server
from tests.waiting import PATIENCE


@contextlib.contextmanager
def wired(server: Server, name: str) -> Iterator[Wire]:
    """Open a page of a person, who is added when new."""
    with connected(server.url(""), cookie(server, server.secret(name))) as wire:
        yield wire


def cookie(server: Server, secret: str) -> str:
    """Return the cookie of a browser that holds the secret of a session."""
    return f"{cookie_name(server.place)}={secret}"


@contextlib.contextmanager
def connected(address: str, cookie: str, patience: float = PATIENCE) -> Iterator[Wire]:
    """Open a page of the server at an address, which waits at most `patience` seconds."""
    with connect(
        address.replace("http", "ws", 1) + "/_stcore/stream",
        additional_headers={"Cookie": cookie},
        origin=Origin(address),
        subprotocols=[Subprotocol("streamlit")],
        max_size=None,
        open_timeout=patience,
        close_timeout=min(patience, 10),
    ) as socket:
        yield Wire(socket, address, cookie, patience)


class Wire:
    """One page: the websocket on which it is mounted, and the messages that it posts.

    Attributes:
      mounted: what its component was mounted with; empty before, and if the person may not use it.
      hear: is passed each answer's bytes.
    """

    def __init__(
        self, socket: ClientConnection, address: str, cookie: str, patience: float = PATIENCE
    ) -> None:
        self._socket, self._patience = socket, patience
        self._server, self._headers = urlsplit(address), {"Cookie": cookie, "Origin": address}
        self.mounted: dict[str, str] = {}
        self.hear: Callable[[bytes], None] = lambda raw: None

    def ask(self, message: str = "null") -> list[dict[str, Any]]:
        """Post a message, mounting the page before its first; return the data that it is sent."""
        with self._post(message) as connection, connection.getresponse() as answer:
            raw = answer.read()
        self.hear(str(answer.headers).encode() + raw)
        return [json.loads(raw)] if answer.status == 200 else []

    def say(self, message: str) -> None:
        """Post a message without waiting for the answer."""
        with self._post(message):
            pass

    @contextlib.contextmanager
    def _post(self, message: str) -> Iterator[http.client.HTTPConnection]:
        if not self.mounted:
            self._mount()
        place = str(self._server.hostname), self._server.port
        address = self.mounted.get("address", "/messages/player")
        with contextlib.closing(
            http.client.HTTPConnection(*place, timeout=self._patience)
        ) as connection:
            connection.request("POST", address, message.encode(), self._headers)
            yield connection

    def _mount(self) -> None:
        message = BackMsg()
        message.rerun_script.query_string = ""
        self._socket.send(message.SerializeToString())
        while True:
            raw = self._socket.recv(self._patience, decode=False)
            self.hear(raw)
            heard = ForwardMsg.FromString(raw)
            element = heard.delta.new_element
            if element.WhichOneof("type") == "bidi_component":
                self.mounted = json.loads(element.bidi_component.json)
            if heard.WhichOneof("type") == "script_finished":
                return
