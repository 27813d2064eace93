"""What a page sends, before Streamlit reads it: a state that is no message ends no page."""

from __future__ import annotations

import json
import logging
from itertools import chain

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

LONGEST = 2**20
"""Characters of a component's state; the outbox of a page that was away for a day has less."""
DEEPEST = 8
"""Levels of lists and objects in it; an outbox has four."""
_LOG = logging.getLogger(__name__)


class Messages:
    """ASGI middleware that empties each component state which is no message, and logs a line.

    Streamlit reads a state wherever it is asked for, and the page of whoever sent something that
    cannot be read would end without a word.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Stands before `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes everything on, and messages of a websocket as `readable`."""
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return

        async def heard() -> Message:
            message = await receive()
            if message.get("bytes"):
                message = {**message, "bytes": readable(message["bytes"])}
            return message

        await self._app(scope, heard, send)


def readable(raw: bytes) -> bytes:
    """Returns a page's message in which every component state can be read."""
    try:
        message = BackMsg.FromString(raw)
    except DecodeError:
        return raw  # no message at all: Streamlit closes the connection
    changed = False
    for one in message.rerun_script.widget_states.widgets:
        kind = one.WhichOneof("value")
        if kind in ("json_value", "json_trigger_value") and not _sound(getattr(one, kind)):
            _empty(one, kind)
            changed = True
    return message.SerializeToString() if changed else raw


def _empty(one: WidgetState, kind: str) -> None:
    _LOG.warning("a page sent %d characters that are no message; ignored", len(getattr(one, kind)))
    setattr(one, kind, "{}" if kind == "json_value" else "[]")


def _sound(text: str) -> bool:
    """Whether a state is JSON, short enough and not too deep to be handled."""
    if len(text) > LONGEST:
        return False
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(whole, dict | list):
        return False
    level = [whole]
    for _ in range(DEEPEST):
        inner = (one.values() if isinstance(one, dict) else one for one in level)
        level = [one for one in chain.from_iterable(inner) if isinstance(one, dict | list)]
        if not level:
            return True
    return False
