"""The websocket of live sessions: JSON messages of one person in one session."""

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from sts.annotations.records import Annotator
from sts.errors import StsError
from sts_annotator_app.auth.browser_sessions import BrowserSessions
from sts_annotator_app.live.rooms import FAILED, Refused, Room

MAX_MESSAGE_CHARS = 4096
MAX_MESSAGES_PER_S = 50
BEAT_S = 5.0
"""Time from beat to beat, by which a page notices that its connection was lost without a word."""
SEND_TIMEOUT_S = 5.0
"""Time after which a connection that takes no data is dropped, so that it delays no one else."""
_LOG = logging.getLogger(__name__)
Find = Callable[[str, Annotator], Awaitable[tuple[Room, int]]]
"""Returns the room of a session, and which participant a person is.

`Refused` says why they may not enter; other errors are for the log.
"""


class BrowserConnection:
    """The websocket of a person's page."""

    def __init__(self, websocket: WebSocket) -> None:
        """Wrap an accepted websocket."""
        self._websocket = websocket

    async def send(self, message: dict[str, Any]) -> None:
        """Send a message; a connection that is lost or takes no data is closed."""
        text = json.dumps(message, separators=(",", ":"))  # ASCII: no half of a character can fail
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await self._websocket.send_text(text)
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            with contextlib.suppress(RuntimeError):
                await self._websocket.close(4000)

    async def close(self, reason: str) -> None:
        """Tell the page why, and close."""
        await self.send({"type": "closed", "text": reason})
        with contextlib.suppress(RuntimeError):
            await self._websocket.close(4000)


def serve_live(sessions: BrowserSessions, find: Find) -> Callable[[WebSocket], Awaitable[None]]:
    """Return the endpoint of the websocket of the session that its path names."""

    async def endpoint(websocket: WebSocket) -> None:
        await websocket.accept()
        connection = BrowserConnection(websocket)
        person = await asyncio.to_thread(sessions.find_person, websocket)
        if person is None:
            await connection.close("Your session has ended. Open your invitation again.")
            return
        try:
            room, participant = await find(websocket.path_params["session"], person)
        except Refused as error:
            await connection.close(str(error))
            return
        except StsError as error:  # which may name files and agents
            _LOG.error("live session: %s", error)
            await connection.close(FAILED)
            return
        await room.enter(participant, connection)
        beats = asyncio.create_task(_send_beats(connection))
        try:
            await _read_messages(websocket, connection, room, participant)
        finally:
            beats.cancel()
            await room.leave(participant, connection)

    return endpoint


async def _send_beats(connection: BrowserConnection) -> None:
    while True:
        await asyncio.sleep(BEAT_S)
        await connection.send({"type": "beat"})


async def _read_messages(
    websocket: WebSocket, connection: BrowserConnection, room: Room, participant: int
) -> None:
    """Handle messages until the connection is lost, or sends what no page does."""
    allowance, before = float(MAX_MESSAGES_PER_S), time.monotonic()
    while True:
        try:
            text = await websocket.receive_text()
        except (WebSocketDisconnect, KeyError, RuntimeError):
            return
        now = time.monotonic()
        allowance = min(MAX_MESSAGES_PER_S, allowance + (now - before) * MAX_MESSAGES_PER_S) - 1
        before = now
        if allowance < 0:
            await connection.close("This page sent too many messages. Reload it to go on.")
            return
        try:
            message = json.loads(text) if len(text) <= MAX_MESSAGE_CHARS else None
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            _LOG.warning("live session: ignored a message of %d characters", len(text))
            continue
        answer = await room.receive(participant, message)
        if answer["type"] != "key":
            await connection.send(answer)
