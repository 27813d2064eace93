"""The websocket of live sessions: who gets in, and what happens to messages of no page."""

import contextlib
import json
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import pytest
import uvicorn
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from sts.annotations.records import Annotator
from sts.errors import DamagedData
from sts_annotator_app.auth.browser_sessions import BrowserSessions
from sts_annotator_app.auth.entrances import Authenticator
from sts_annotator_app.live.rooms import FAILED, Refused, Room
from sts_annotator_app.live.socket import MAX_MESSAGES_PER_S, serve_live
from sts_annotator_app.settings import Settings
from sts_annotator_app.shell.routes import PAGE, build_application
from sts_annotator_app.shell.server import bind
from tests.annotator_app.live.test_rooms import make_room
from tests.annotator_app.test_auth import COOKIE, IN, OWNERS, Gate, Inside

ROOM = f"/live/{'0' * 24}"


class Served(NamedTuple):
    """A server on loopback with one session, in which everyone is participant 0."""

    host: str

    def open(
        self, path: str = ROOM, origin: str | None = None, cookie: str = IN
    ) -> ClientConnection:
        """Return a connection of a page of this server, unless `origin` says otherwise."""
        return connect(
            f"ws://{self.host}{path}",
            origin=cast(Any, origin or f"http://{self.host}"),
            additional_headers={"cookie": cookie},
        )


@pytest.fixture
def served(tmp_path) -> Iterator[Served]:
    gate = Gate()
    sessions = BrowserSessions(lambda: gate, COOKIE)
    rooms: list[Room] = []

    async def find(session: str, person: Annotator) -> tuple[Room, int]:
        if session == "e" * 24:
            raise DamagedData("/secret/place: agent 'rule' has changed")
        if session != "0" * 24:
            raise Refused("This session has ended, or does not exist.")
        if not rooms:
            rooms.append(make_room(tmp_path / "a", max_steps=1000))
        return rooms[0], 0

    settings = Settings("", "", administrator="Olga", key=OWNERS)
    app = build_application(
        Inside(),
        Authenticator(settings, sessions),
        {PAGE: Inside()},
        live=serve_live(sessions, find),
    )
    with bind("127.0.0.1", 0) as bound:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="websockets-sansio"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        yield Served(f"127.0.0.1:{bound.getsockname()[1]}")
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize(
    "how",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"cookie": f"{COOKIE}=guessed"},
        {"cookie": ""},
        {"path": "/live/..%2fenter"},
        {"path": f"/live/{'0' * 25}"},
    ],
)
def test_foreign_origin_or_no_session_is_not_let_in(served, how):
    with pytest.raises((InvalidStatus, ConnectionClosed)):
        served.open(**how).recv()


def test_session_that_does_not_exist_is_closed_with_a_sentence(served):
    with served.open(f"/live/{'f' * 24}") as socket:
        text = "This session has ended, or does not exist."
        assert receive(socket) == {"type": "closed", "text": text}


@pytest.mark.parametrize(
    "text",
    ["{", "[1]", "null", '"tell"', "[" * 4000, json.dumps({"x": "y" * 5000}), b"\xff"],
)
def test_message_of_no_page_is_ignored_and_the_next_is_handled(served, text):
    with served.open() as socket:
        assert [receive(socket)["type"] for _ in range(3)] == ["hello", "frame", "state"]
        socket.send(text)
        if isinstance(text, bytes):  # no page sends bytes
            with pytest.raises(ConnectionClosed):
                receive(socket)
            return
        socket.send(json.dumps({"type": "tell", "text": "<b>Go</b>", "key": "k"}))
        assert receive(socket)["told"][0]["text"] == "<b>Go</b>"
        assert receive(socket) == {"type": "saved", "key": "k"}


def test_flood_of_messages_closes_the_connection_and_keeps_the_session(served):
    with served.open() as socket:
        with contextlib.suppress(ConnectionClosed):  # before the last one is sent
            for _ in range(4 * MAX_MESSAGES_PER_S):
                socket.send("[]")
        kinds = [receive(socket)["type"] for _ in range(4)]
        assert kinds == ["hello", "frame", "state", "closed"]
    with served.open() as socket:
        assert receive(socket)["type"] == "hello"


def receive(socket: ClientConnection) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(socket.recv(timeout=60))
    return message


def test_half_of_a_character_is_answered_and_breaks_nothing(served):
    with served.open() as socket:
        assert [receive(socket)["type"] for _ in range(3)] == ["hello", "frame", "state"]
        socket.send('{"type": "tell", "text": "", "key": "\\ud800"}')
        assert receive(socket)["type"] == "refused"
        socket.send('{"type": "tell", "text": "Go \\ud800", "key": "k"}')
        assert receive(socket)["told"][0]["text"] == "Go"


def test_page_hears_a_beat_where_nothing_happens(served, monkeypatch):
    monkeypatch.setattr("sts_annotator_app.live.socket.BEAT_S", 0.01)
    with served.open() as socket:
        kinds = [receive(socket)["type"] for _ in range(5)]
        assert kinds == ["hello", "frame", "state", "beat", "beat"]


def test_error_that_names_files_is_not_sent_to_a_page(served):
    with served.open(f"/live/{'e' * 24}") as socket:
        assert receive(socket) == {"type": "closed", "text": FAILED}
