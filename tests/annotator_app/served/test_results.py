"""From the report in the app down to the clips, for who leads the study and nobody else."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import HTTPConnection
from starlette.routing import Route, Router
from starlette.types import Message, Scope

from sts.annotations.types import Annotator
from sts_annotator_app.auth import BrowserSessions
from sts_annotator_app.results import RESULTS, serve_results
from tests.access.attempts import attempt
from tests.annotator_app.serving import AGENTS, Server

pytestmark = pytest.mark.browser

Opener = Callable[..., Any]


def test_who_leads_goes_from_the_report_to_two_clips_side_by_side(
    open_page: Opener, server: Server
) -> None:
    page = open_page("leader", path="/report", roles=("lead",), ready=False)
    frame = page.frame_locator("iframe")
    frame.locator("#scenario-table a.play").first.wait_for()
    opener = page.get_by_role("link", name="Open in a new tab")
    assert opener.get_attribute("href").endswith(f"{RESULTS}report.html")

    page.goto(server.url(f"{RESULTS}report.html#pair={','.join(AGENTS)}"))
    page.locator("#chosen", has_text="passes less often than").wait_for()
    page.locator("#scenario-table a.play").first.click()
    links = page.get_by_role("link", name="Watch it in the app")
    links.nth(1).wait_for()
    assert all(
        re.fullmatch(r"\.\./\.\./clip\?c=[\w-]{22}", one.get_attribute("href"))
        for one in links.all()
    )
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Watch both side by side").click()
    both = opened.value
    both.locator(".clip .stage:not([hidden])").nth(1).wait_for()
    frames = both.locator(".viewer")
    at = int(frames.first.get_attribute("data-frame"))
    both.keyboard.press("ArrowRight")
    for n in (0, 1):
        both.wait_for_function(
            "([n, to]) => [...document.querySelectorAll('*')]"
            ".flatMap((e) => [...(e.shadowRoot?.querySelectorAll('.viewer') ?? [])])[n]"
            ".dataset.frame == to",
            arg=[n, at + 1],
        )


@attempt(
    "Another's clip, another's answer",
    "an annotator, a reviewer or a curator asks for the report or its evidence",
    "403, and no agent's name",
)
@pytest.mark.parametrize("roles", [("annotator",), ("reviewer",), ("curator",)])
def test_results_are_for_who_leads_alone(
    open_page: Opener, server: Server, roles: tuple[str, ...]
) -> None:
    (role,) = roles
    page = open_page(f"no leader {role}", roles=roles, ready=False)
    for name in ("report.html", "evidence/index.html", "evidence/index.js"):
        answer = page.request.get(server.url(f"{RESULTS}{name}"))
        assert answer.status == 403 and AGENTS[0] not in answer.text()


@attempt(
    "Paths", "other files are asked for where the report is served, by who leads", "404", times=9
)
def test_nothing_but_the_pages_of_the_report_is_served(tmp_path: Path) -> None:
    (tmp_path / "report" / "evidence").mkdir(parents=True)
    for name in ("report/report.html", "report/report.json", "outside.html", "report/index.js"):
        (tmp_path / name).write_text(name)
    leader = Annotator(1, "Lea", roles=("lead",))

    class Leading(BrowserSessions):
        def __init__(self) -> None: ...

        def find_person(self, connection: HTTPConnection) -> Annotator:
            return leader

    report = serve_results(lambda: tmp_path / "report", Leading())
    served = Router([Route(f"{RESULTS}{{file:path}}", report)])

    async def answered(path: str) -> int:
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        async def receive() -> Message:
            await asyncio.Event().wait()  # who asks stays, and says no more
            raise AssertionError

        scope: Scope = {"type": "http", "method": "GET", "path": RESULTS + path, "headers": []}
        await served(scope, receive, send)
        return int(sent[0]["status"])

    def status(path: str) -> int:
        with ThreadPoolExecutor(1) as apart:  # a browser of other tests has a loop here
            return apart.submit(asyncio.run, answered(path)).result()

    assert status("report.html") == 200
    for path in ("", "x", "report.json", "../outside.html", "evidence/../report.html", "index.js"):
        assert status(path) == 404, path
    for path in ("evidence/index.html", "report.html\n", "/report.html"):
        assert status(path) == 404, path
