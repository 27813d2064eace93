"""A component's script comes once, from an address that changes when it does."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from sts_annotator_app.scripts import SCRIPTS, build_loader, script_address, serve_scripts
from tests.annotator_app.serving import Server

SCRIPT = "export default () => {};\n"


def answered(path: str) -> Response:
    """Ask what serves scripts, as the route does for a file below their address."""
    answer = serve_scripts(lambda name: SCRIPT if name == "player" else None)
    params = {"file": path.removeprefix(SCRIPTS)}
    return answer(Request({"type": "http", "path": path, "path_params": params}))


def test_a_script_is_kept_by_a_browser_for_good_because_another_has_another_address() -> None:
    answer = answered(script_address(SCRIPT, "player"))
    assert (answer.status_code, bytes(answer.body).decode()) == (200, SCRIPT)
    assert answer.headers["content-type"].startswith("text/javascript")
    kept = answer.headers["cache-control"]
    assert "immutable" in kept and "private" in kept
    assert script_address(SCRIPT, "player") != script_address(SCRIPT + "\n", "player")


@pytest.mark.parametrize(
    "path",
    ["/scripts/", "/scripts/player-.mjs", "/scripts/../x-1.mjs", "/scripts/nobody-1.mjs"],
)
def test_nothing_else_is_served_there(path: str) -> None:
    assert answered(path).status_code == 404


def test_what_brings_a_script_is_short_and_knows_the_base_path() -> None:
    text = build_loader(SCRIPT * 1000, "player", "/judge")
    assert f'"/judge{script_address(SCRIPT * 1000, "player")}"' in text
    assert len(text) < 200 and "\n" in text.strip()  # without it Streamlit takes it for a path


@pytest.mark.landing
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
