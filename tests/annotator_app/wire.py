"""A page without a browser: what it says to the server and hears, message by message."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from annotator_app.auth import cookie_name
from tests.annotator_app.conftest import PATIENCE, Server


@contextlib.contextmanager
def wired(server: Server, name: str) -> Iterator[Wire]:
    """A page of a person, who is added when new."""
    with connect(
        server.url("/_stcore/stream").replace("http", "ws"),
        additional_headers={"Cookie": f"{cookie_name(server.place)}={server.secret(name)}"},
        origin=Origin(server.url("")),
        subprotocols=[Subprotocol("streamlit")],
        max_size=None,
    ) as socket:
        yield Wire(socket)


class Wire:
    """The websocket of one page."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.component = self.fragment = ""

    def ask(self, state: str | None = None) -> list[dict[str, Any]]:
        """Has the page run, with `state` as its component's; returns what that is then sent."""
        message = BackMsg()
        message.rerun_script.query_string = ""
        if state is not None:
            message.rerun_script.fragment_id = self.fragment
            one = message.rerun_script.widget_states.widgets.add()
            one.id, one.json_value = self.component, state
        self.socket.send(message.SerializeToString())
        data = []
        while True:
            heard = ForwardMsg.FromString(self.socket.recv(PATIENCE, decode=False))
            element = heard.delta.new_element
            if element.WhichOneof("type") == "bidi_component":
                self.component = element.bidi_component.id
                self.fragment = heard.delta.fragment_id
                data.append(json.loads(element.bidi_component.json))
            if heard.WhichOneof("type") == "script_finished":
                return data
