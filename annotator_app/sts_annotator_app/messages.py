"""What a page sends, looked at before Streamlit reads it.

A state that is no message ends no page; and a page that outlived its server gets a new one.
"""

from __future__ import annotations

import json
import logging
from itertools import chain

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

MAX_CHARS = 2**20
"""Characters of a component's state; the outbox of a page that was away for a day has less."""
MAX_DEPTH = 8
"""Levels of lists and objects in it; an outbox has four."""
_LOG = logging.getLogger(__name__)


class MessageFilter:
    """ASGI middleware that empties each component state which is no message, and logs a line.

    Streamlit reads a state wherever it is asked for, and the page of whoever sent something that
    cannot be read would end without a word.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Stands before `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on, and messages of a websocket as `sanitise`."""
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return

        begun = False

        async def heard() -> Message:
            nonlocal begun
            message = await receive()
            if message.get("bytes"):
                raw, asks = sanitise(message["bytes"], whole=not begun)
                begun = begun or asks
                message = {**message, "bytes": raw}
            return message

        await self._app(scope, heard, send)


def sanitise(raw: bytes, *, whole: bool = False) -> tuple[bytes, bool]:
    """Return a page's message in which every state can be read, and whether it has the page run.

    With `whole`, the whole page is asked for if only a part of it was: a server that was restarted
    has no part of a page yet of which it never ran the whole.
    """
    try:
        message = BackMsg.FromString(raw)
    except DecodeError:
        return raw, False  # no message at all: Streamlit closes the connection
    changed = whole and bool(message.rerun_script.fragment_id)
    if changed:
        message.rerun_script.fragment_id = ""
    for one in message.rerun_script.widget_states.widgets:
        kind = one.WhichOneof("value")
        if kind in ("json_value", "json_trigger_value") and not _is_valid_state(getattr(one, kind)):
            _clear_state(one, kind)
            changed = True
    asks = message.WhichOneof("type") == "rerun_script"
    return (message.SerializeToString() if changed else raw), asks


def _clear_state(one: WidgetState, kind: str) -> None:
    _LOG.warning("a page sent %d characters that are no message; ignored", len(getattr(one, kind)))
    setattr(one, kind, "{}" if kind == "json_value" else "[]")


def _is_valid_state(text: str) -> bool:
    """Whether a state is JSON, short enough and not too deep to be handled."""
    if len(text) > MAX_CHARS:
        return False
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(whole, dict | list):
        return False
    level = [whole]
    for _ in range(MAX_DEPTH):
        inner = (one.values() if isinstance(one, dict) else one for one in level)
        level = [one for one in chain.from_iterable(inner) if isinstance(one, dict | list)]
        if not level:
            return True
    return False
