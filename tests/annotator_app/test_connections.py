"""Limits on connections: half-sent requests are cut off, and others are answered."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import logging
import resource
import shutil
import socket
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
import uvicorn
from websockets.sync.client import connect

from sts_annotator_app.settings import MAX_CONNECTIONS
from sts_annotator_app.shell.connections import LimitedProtocol, raise_file_limit
from sts_annotator_app.shell.server import bind
from tests.access.attempts import attempt
from tests.annotator_app.serving import Server
from tests.annotator_app.wire import wired
from tests.waiting import wait_until

KIND = "Links and sessions"
HALF = b"GET / HTTP/1.1\r\nHost: study.example\r\nX-Slow: "
BODY = b"POST / HTTP/1.1\r\nHost: study.example\r\nContent-Length: 9\r\n\r\nslow"
WHOLE = b"GET / HTTP/1.1\r\nHost: study.example\r\n\r\n"
TIMEOUT = "sts_annotator_app.shell.connections.REQUEST_TIMEOUT_S"
PEOPLE, TABS = 60, 7
"""People behind one address, and the connections that a browser opens to one server."""


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """Answer when the body is there, as a page does."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            await send({"type": "websocket.send", "text": "here"})
        return
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body"})


@contextlib.contextmanager
def served(each: int = MAX_CONNECTIONS, total: int = 16_000, proxies: str = "") -> Iterator[int]:
    """Serve on a free loopback port, with limits; yield the port."""
    protocol = partial(LimitedProtocol, each=each, total=total, proxies=proxies)
    config = uvicorn.Config(
        answer,
        http=cast(type[asyncio.Protocol], protocol),
        ws="websockets-sansio",
        lifespan="off",
        log_level="warning",
        timeout_keep_alive=600,
    )
    server = uvicorn.Server(config)
    with bind("127.0.0.1", 0) as bound:
        thread = threading.Thread(target=server.run, args=([bound],))
        thread.start()
        try:
            yield bound.getsockname()[1]
        finally:
            server.force_exit = server.should_exit = True
            thread.join()


@pytest.fixture(autouse=True)
def sockets() -> Iterator[contextlib.ExitStack]:
    """Close the sockets of a test, which may have as many as a server allows."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    raise_file_limit()
    with contextlib.ExitStack() as stack:
        yield stack
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def open_connection(
    stack: contextlib.ExitStack, port: int, said: bytes, source: str = "127.0.0.1"
) -> socket.socket:
    """Open a connection from an address of this machine, and say something."""
    made = socket.create_connection(("127.0.0.1", port), 10, source_address=(source, 0))
    stack.callback(made.close)
    made.sendall(said)
    return made


def is_closed(one: socket.socket) -> bool:
    """Return True if the server has closed a connection by now."""
    one.settimeout(0.01)
    try:
        return one.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def all_closed(many: list[socket.socket]) -> bool:
    """Return True once the server has closed all of these connections."""
    left = [*many]

    def look() -> bool:
        left[:] = [one for one in left if not is_closed(one)]
        return not left

    return wait_until(look, "the server closes the connections")


def status(port: int, source: str = "127.0.0.1") -> int:
    """Ask from an address of this machine."""
    made = http.client.HTTPConnection("127.0.0.1", port, 10, source_address=(source, 0))
    try:
        made.request("GET", "/")
        return made.getresponse().status
    finally:
        made.close()


@attempt(
    KIND,
    "1,300 requests are half sent, their heads or their bodies, from one address or from many",
    "each is cut off after ten seconds; requests that arrive meanwhile are answered",
)
@pytest.mark.parametrize(
    ("sources", "half"),
    [
        pytest.param(1, HALF, id="1-head"),
        pytest.param(100, BODY, id="100-body"),
        pytest.param(1, BODY, id="1-body", marks=pytest.mark.slow),
        pytest.param(100, HALF, id="100-head", marks=pytest.mark.slow),
    ],
)
def test_1300_half_sent_requests_lock_no_client_out(
    sockets: contextlib.ExitStack,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    half: bytes,
    sources: int,
) -> None:
    monkeypatch.setattr(TIMEOUT, 1.5)
    caplog.set_level(logging.ERROR)
    with served(total=1000) as port:
        many = [open_connection(sockets, port, half, f"127.0.1.{n % sources}") for n in range(1300)]
        assert status(port) == 200
        assert status(port, "127.0.1.0") == 200  # from the very address of the flood
        assert all_closed(many)
        assert status(port) == 200
    assert not caplog.records


@pytest.mark.slow
@pytest.mark.served
def test_annotator_serves_pages_amid_1300_half_sent_requests(
    sockets: contextlib.ExitStack, recorded: Path, tmp_path: Path
) -> None:
    server = Server(shutil.copytree(recorded, tmp_path / "workspace"))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))  # as a shell usually has it
    with server:
        raise_file_limit()
        many = [open_connection(sockets, server.port, HALF) for _ in range(1300)]
        with wired(server, "undisturbed") as wire:
            assert wire.ask()
        assert all_closed(many)
        assert "Traceback" not in (server.folder / "server.log").read_text()


def test_unfinished_request_is_cut_off_even_if_it_trickles(
    sockets: contextlib.ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TIMEOUT, 0.5)
    with served() as port:
        for said in (b"", HALF, BODY[:-4].replace(b"9", b"999999") + b"s"):
            slow = open_connection(sockets, port, said)

            def trickle(slow: socket.socket = slow, byte: bytes = b"x" if said else b"") -> bool:
                with contextlib.suppress(OSError):
                    slow.sendall(byte)
                return is_closed(slow)

            assert not trickle()
            wait_until(trickle, "it is cut off")
        again = open_connection(sockets, port, WHOLE)
        assert again.recv(1000).startswith(b"HTTP/1.1 200")
        assert all_closed([open_connection(sockets, port, HALF)])  # which was opened later
        assert not is_closed(again)  # a connection that waits for a next request is uvicorn's
        again.sendall(HALF)
        assert all_closed([again])


@attempt(
    KIND,
    "sixty people work behind one address, each with seven connections",
    "all are answered, and none is closed",
)
def test_sixty_people_behind_one_address_work_undisturbed(
    sockets: contextlib.ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TIMEOUT, 0.5)
    with served() as port:
        address = f"ws://127.0.0.1:{port}/"
        open_pages = [sockets.enter_context(connect(address)) for _ in range(PEOPLE)]
        others = [open_connection(sockets, port, WHOLE) for _ in range(PEOPLE * (TABS - 1))]
        for _ in range(2):
            for one in others:
                assert one.recv(1000).startswith(b"HTTP/1.1 200")
            later = open_connection(sockets, port, HALF, "127.0.0.2")
            assert all_closed([later])  # and no websocket is cut off
            for page in open_pages:
                page.send("are you there")
                assert page.recv(10) == "here"
            for one in others:
                one.sendall(WHOLE)


def test_connections_are_limited_by_address_except_for_proxies(
    sockets: contextlib.ExitStack,
) -> None:
    for proxies, refused in (("10.0.0.0/8", True), ("10.0.0.0/8,127.0.0.2", False)):
        with served(each=3, proxies=proxies) as port:
            there = [open_connection(sockets, port, WHOLE, "127.0.0.2") for _ in range(3)]
            assert all(one.recv(1000).startswith(b"HTTP/1.1 200") for one in there)
            fourth = open_connection(sockets, port, b"", "127.0.0.2")
            if refused:
                assert all_closed([fourth])  # no waiting connection could give way
            else:
                fourth.sendall(WHOLE)
                assert fourth.recv(1000).startswith(b"HTTP/1.1 200")
            assert not any(map(is_closed, there))
            assert status(port) == 200  # from another address


def test_server_raises_its_file_limit() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
    most = raise_file_limit()
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert 512 < most < soft <= hard
