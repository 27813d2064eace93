"""Everything under a path of its own, behind a proxy that says who asks."""

from __future__ import annotations

import http.client
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sts_annotator_app.attempts import MAX_FAILURES_PER_ADDRESS
from sts_annotator_app.auth import cookie_name
from tests.access.attempts import attempt
from tests.annotator_app.served.test_player_page import press, saved
from tests.annotator_app.serving import PATIENCE, Server
from tests.stores import add_person
from tests.zygote import Zygote

pytestmark = pytest.mark.browser
BASE = "/judge"


@pytest.fixture(scope="module")
def below(
    recorded: Path, tmp_path_factory: pytest.TempPathFactory, zygote: Zygote
) -> Iterator[Server]:
    """A server that has everything under a path, and believes a proxy on this machine."""
    folder = shutil.copytree(recorded, tmp_path_factory.mktemp("below") / "workspace")
    with Server(folder, base=BASE, options=("--proxy", "127.0.0.1"), zygote=zygote) as made:
        yield made


def asked(server: Server, path: str, forwarded: str = "") -> http.client.HTTPResponse:
    """Return what a request is answered with; each line of `forwarded` is a header of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    try:
        connection.putrequest("GET", path)
        for line in forwarded.splitlines():
            connection.putheader("X-Forwarded-For", line)
        connection.endheaders()
        answer = connection.getresponse()
        answer.read()
    finally:
        connection.close()
    return answer


def test_a_person_enters_judges_and_finds_every_page_below_the_path(
    chromium: Any, below: Server
) -> None:
    context = chromium.new_context(viewport={"width": 1366, "height": 768})
    context.set_default_timeout(1000 * PATIENCE)
    context.add_init_script("localStorage['sts:settings'] ??= '{\"autoplay\": false}'")
    page = context.new_page()
    failed: list[str] = []
    page.on("response", lambda one: failed.append(one.url) if one.status >= 400 else None)
    page.goto(below.url(f"/enter?t={add_person(below.store, 'Ann').token}"))
    page.get_by_role("button", name="Sign in as Ann").click()
    page.wait_for_selector(".player .stage:not([hidden])")
    assert page.url.startswith(below.url("/"))
    (cookie,) = [one for one in context.cookies() if one["name"] == cookie_name(below.place)]
    assert cookie["path"] == BASE
    press(page, "n", "Enter")
    page.locator(".progress", has_text="1 annotated by you").wait_for(state="attached")
    saved(page)
    assert len(below.judgements("Ann")) == 1
    page.get_by_role("link", name="Guide").click()
    page.get_by_role("heading", name="How to judge an episode").wait_for()
    assert page.url == below.url("/guide")
    page.reload()
    page.get_by_role("heading", name="How to judge an episode").wait_for()
    assert failed == []
    context.close()


def test_what_lies_beside_the_path_is_not_served_and_its_slash_is_added(below: Server) -> None:
    assert asked(below, "/").status == 404
    assert asked(below, "/judgement/").status == 404
    sent_on = asked(below, BASE)
    assert (sent_on.status, sent_on.headers["Location"]) == (307, f"{BASE}/")
    assert asked(below, f"{BASE}/_stcore/health").status == 200
    assert asked(below, f"{BASE}/").status == 401


@attempt(
    "Links and sessions",
    "wrong links from many people behind one proxy that is believed",
    "each address is counted by itself",
)
def test_a_proxy_that_is_believed_says_who_asks(below: Server) -> None:
    for number in range(
        2 * MAX_FAILURES_PER_ADDRESS
    ):  # each from another address, as this one alone would be refused
        assert asked(below, f"{BASE}/enter?t=wrong", f"192.0.2.{number}").status == 401


FORGED = {
    "before the proxy's own": "{forged}, 198.51.100.1",
    "several of them": "{forged}, 203.0.113.{number}, 198.51.100.2",
    "before a chain of proxies that are believed": "{forged}, 198.51.100.3, 127.0.0.1, 127.0.0.1",
    "with a port of its own each time": "{forged}, 198.51.100.4:{port}",
    "as what is no address": "<b>{number}</b>, , 198.51.100.5",
    "beyond ten thousand": "{forged}, " * 500 + "198.51.100.6",
    "in a line of its own": "{forged}\n198.51.100.7",
}
"""What a stranger has said, and the proxy has passed on with the address that it saw."""


@attempt(
    "Links and sessions",
    "a forged X-Forwarded-For, passed on by a proxy that adds the address that it saw",
    "the last entry that is no proxy's counts: refused as one address, and nobody else is",
)
@pytest.mark.parametrize("said", FORGED.values(), ids=FORGED)
def test_a_forged_chain_of_addresses_counts_as_the_one_that_the_proxy_saw(
    below: Server, said: str
) -> None:
    found = [
        asked(
            below,
            f"{BASE}/enter?t=wrong",
            said.format(forged=f"192.0.2.{100 + number}", number=number, port=40_000 + number),
        ).status
        for number in range(MAX_FAILURES_PER_ADDRESS + 1)
    ]
    assert found == [401] * MAX_FAILURES_PER_ADDRESS + [429]
    assert asked(below, f"{BASE}/enter?t=wrong", "192.0.2.99").status == 401
