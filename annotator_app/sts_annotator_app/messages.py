"""Checks of what a browser sends: messages of pages, and those on Streamlit's websocket.

Invalid component states are emptied, and a page that outlived its server is run in full.
"""

import json
import logging
from itertools import chain

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

MAX_CHARS = 2**20
"""Size limit of a component's state; the outbox of a day without connection is smaller."""
MAX_DEPTH = 8
"""Limit of nested lists and objects in a state; an outbox has four levels."""
_EMPTY_STATES = {"json_value": "{}", "json_trigger_value": "[]"}
_LOG = logging.getLogger(__name__)


class MessageFilter:
    """ASGI middleware of a websocket that empties invalid component states and logs them.

    Streamlit parses a state wherever it is read; an invalid one would end the page silently.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Wrap `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the messages of a websocket through `sanitise`."""
        has_run = False

        async def receive_sanitised() -> Message:
            nonlocal has_run
            message = await receive()
            if message.get("bytes"):
                raw, runs_page = sanitise(message["bytes"], is_first_run=not has_run)
                has_run = has_run or runs_page
                message = {**message, "bytes": raw}
            return message

        await self._app(scope, receive_sanitised, send)


def sanitise(raw: bytes, *, is_first_run: bool = False) -> tuple[bytes, bool]:
    """Return a message without invalid states, and True if it asks for a run of the page.

    On the first run of a page, a request for one fragment becomes a request for the whole page: a
    restarted server does not know the fragments of a page that it has never run.
    """
    try:
        message = BackMsg.FromString(raw)
    except DecodeError:
        return raw, False  # not a message: Streamlit closes the connection
    changed = is_first_run and bool(message.rerun_script.fragment_id)
    if changed:
        message.rerun_script.fragment_id = ""
    for widget in message.rerun_script.widget_states.widgets:
        kind = widget.WhichOneof("value")
        if kind in _EMPTY_STATES and not is_valid_message(state := getattr(widget, kind)):
            _LOG.warning("ignored an invalid state of %d characters", len(state))
            setattr(widget, kind, _EMPTY_STATES[kind])
            changed = True
    runs_page = message.WhichOneof("type") == "rerun_script"
    return (message.SerializeToString() if changed else raw), runs_page


def is_valid_message(text: str) -> bool:
    """Return True if a message or state is a JSON object or list within the limits."""
    if len(text) > MAX_CHARS:
        return False
    try:
        state = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(state, dict | list):
        return False
    level = [state]
    for _ in range(MAX_DEPTH):
        children = (node.values() if isinstance(node, dict) else node for node in level)
        level = [child for child in chain.from_iterable(children) if isinstance(child, dict | list)]
        if not level:
            return True
    return False
