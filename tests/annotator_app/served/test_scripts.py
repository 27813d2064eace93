"""A component's script comes once, from an address that changes when it does."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import pytest

from annotator_app.scripts import Scripts, address, loading
from tests.annotator_app.serving import Server

SCRIPT = "export default () => {};\n"


def answered(path: str, kind: str = "http") -> tuple[int, dict[bytes, bytes], bytes]:
    sent: list[dict[str, Any]] = []

    async def behind(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 299, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    app = Scripts(behind, lambda name: SCRIPT if name == "player" else None)
    answer: Coroutine[Any, Any, None] = app({"type": kind, "path": path}, receive, send)
    with pytest.raises(StopIteration):  # nothing in it waits, so it needs no event loop
        answer.send(None)
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


def test_a_script_is_kept_by_a_browser_for_good_because_another_has_another_address() -> None:
    status, headers, body = answered(address(SCRIPT, "player"))
    assert (status, body.decode()) == (200, SCRIPT)
    assert headers[b"content-type"].startswith(b"text/javascript")
    assert b"immutable" in headers[b"cache-control"] and b"private" in headers[b"cache-control"]
    assert address(SCRIPT, "player") != address(SCRIPT + "\n", "player")


@pytest.mark.parametrize(
    "path", ["/scripts/", "/scripts/player-.mjs", "/scripts/../x-1.mjs", "/scripts/nobody-1.mjs"]
)
def test_nothing_else_is_served_there(path: str) -> None:
    assert answered(path)[0] == 404


def test_other_addresses_and_websockets_are_passed_on() -> None:
    assert answered("/player")[0] == 299
    assert answered(address(SCRIPT, "player"), "websocket")[0] == 299


def test_what_brings_a_script_is_short_and_knows_the_base_path() -> None:
    text = loading(SCRIPT * 1000, "player", "/judge")
    assert f'"/judge{address(SCRIPT * 1000, "player")}"' in text
    assert len(text) < 200 and "\n" in text.strip()  # without it Streamlit takes it for a path


@pytest.mark.browser
def test_an_answer_does_not_bring_the_script_again(open_page: Any, server: Server) -> None:
    got: list[int] = []

    def listen(socket: Any) -> None:
        socket.on("framereceived", lambda frame: got.append(len(frame)))

    page = open_page("Bytes", ready=False, path="/guide")
    page.on("websocket", listen)
    page.goto(page.url.replace("/guide", "/"))
    page.wait_for_selector(".player .stage:not([hidden])")
    before = len(got)
    page.keyboard.press("End")
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    while not server.judgements("Bytes"):
        page.wait_for_timeout(50)
    page.wait_for_timeout(500)
    assert 0 < sum(got[before:]) < 60_000, got[before:]
