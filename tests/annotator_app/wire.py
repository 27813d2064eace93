"""A page without a browser: its messages to and from the server."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from sts_annotator_app.auth import cookie_name
from tests.annotator_app.serving import PATIENCE, Server


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
        yield Wire(socket, patience)


class Wire:
    """The websocket of one page."""

    def __init__(self, socket: ClientConnection, patience: float = PATIENCE) -> None:
        self.socket, self.patience = socket, patience
        self.component = self.fragment = ""

    def ask(self, state: str | None = None) -> list[dict[str, Any]]:
        """Run the page, with `state` as its component's; return the data that it is then sent."""
        self.say(state)
        data = []
        while True:
            heard = ForwardMsg.FromString(self.socket.recv(self.patience, decode=False))
            element = heard.delta.new_element
            if element.WhichOneof("type") == "bidi_component":
                self.component = element.bidi_component.id
                self.fragment = heard.delta.fragment_id
                data.append(json.loads(element.bidi_component.json))
            if heard.WhichOneof("type") == "script_finished":
                return data

    def say(self, state: str | None = None) -> None:
        """Run the page without waiting for the answer."""
        message = BackMsg()
        message.rerun_script.query_string = ""
        if state is not None:
            message.rerun_script.fragment_id = self.fragment
            one = message.rerun_script.widget_states.widgets.add()
            one.id, one.json_value = self.component, state
        self.socket.send(message.SerializeToString())
