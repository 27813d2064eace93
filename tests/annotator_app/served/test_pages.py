"""The door, the report and the guide."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from sts.annotations import people
from sts_annotator_app.auth import cookie_name
from tests.annotator_app.serving import OWNER, PATIENCE, Server
from tests.stores import add_person, change

pytestmark = pytest.mark.browser

Opener = Callable[..., Any]


@pytest.mark.parametrize(
    "path", ["/", "/annotate", "/_stcore/host-config", "/enter?t=wrong", "/enter"]
)
def test_nobody_comes_in_without_a_link(server: Server, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(server.url(path), timeout=PATIENCE)
    with refused.value as answer:
        assert answer.code == 401


@pytest.mark.landing
def test_the_websocket_asks_for_the_link_too(chromium: Any, server: Server) -> None:
    context = chromium.new_context(bypass_csp=True)  # what a stranger's own program would ask
    page = context.new_page()
    page.goto(server.url("/_stcore/health"))
    closed = page.evaluate(
        """(url) => new Promise((resolve) => {
          const socket = new WebSocket(url, ["streamlit"]);
          socket.onopen = () => resolve("open");
          socket.onclose = () => resolve("closed");
          setTimeout(() => resolve("nothing"), 60000);
        })""",
        server.url("/_stcore/stream").replace("http", "ws"),
    )
    context.close()
    assert closed == "closed"


@pytest.mark.landing
def test_no_page_asks_its_server_for_what_is_not_there(open_page: Opener, server: Server) -> None:
    page = open_page(OWNER, server)
    failed: list[str] = []
    page.on("response", lambda one: failed.append(one.url) if one.status >= 400 else None)
    for path in ("/", "/turn", "/guide", "/report"):
        page.goto(server.url(path))
        page.locator(".stMainBlockContainer .stElementContainer").first.wait_for()
        assert failed == [], path


def test_an_invitation_lets_its_person_in_by_the_button_and_once(
    chromium: Any, server: Server
) -> None:
    link = server.url(f"/enter?t={add_person(server.store, '<b>Ann</b> & Co').token}")
    with urllib.request.urlopen(link, timeout=PATIENCE) as preview:  # of a messenger
        assert preview.status == 200 and preview.headers["Cache-Control"] == "no-store"
    context, other = chromium.new_context(), chromium.new_context()
    page = context.new_page()
    page.goto(link)
    assert page.locator("b b").count() == 0
    page.get_by_role("button", name="Sign in as <b>Ann</b> & Co").dblclick()
    page.wait_for_selector(".player .stage:not([hidden])")
    (cookie,) = [one for one in context.cookies() if one["name"] == cookie_name(server.place)]
    assert cookie["httpOnly"] and cookie["sameSite"] == "Lax"
    page.goto(link)  # which somebody keeps as a bookmark
    page.wait_for_selector(".player .stage:not([hidden])")
    strange = other.new_page()
    assert strange.goto(link).status == 401
    assert "already used" in strange.inner_text("body")
    context.close()
    other.close()


@pytest.mark.landing
def test_a_session_that_was_revoked_ends_the_page_and_what_was_unsent_is_sent_by_the_next(
    open_page: Opener, server: Server
) -> None:
    page = open_page("revoked")
    change(server.store, people.revoke, "revoked")
    given = page.get_attribute(".player", "data-item")
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    page.get_by_text("Your session has ended").wait_for()
    assert server.judgements("revoked") == []
    server.let_in(page.context, "revoked")
    page.reload()
    page.wait_for_selector(".player .stage:not([hidden])")
    page.locator(".progress", has_text="all saved").wait_for(state="attached")
    assert [one.item for one in server.judgements("revoked")] == [given]


@pytest.mark.landing
def test_open_tab_submits_nothing_after_someone_else_signs_in_on_its_browser(
    open_page: Opener, server: Server
) -> None:
    page = open_page("first here")
    link = server.url(f"/enter?t={add_person(server.store, 'second here').token}")
    other = page.context.new_page()
    other.goto(link)
    other.get_by_role("button", name="Sign in as second here").click()
    other.wait_for_selector(".player .stage:not([hidden])")
    given = page.get_attribute(".player", "data-item")
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    page.get_by_text("someone else has signed in on this browser").wait_for()
    other.keyboard.press("n")
    other.keyboard.press("Enter")
    other.locator(".progress", has_text="1 annotated").wait_for(state="attached")
    other.locator(".progress", has_text="all saved").wait_for(state="attached")
    assert server.judgements("first here") == []
    assert len(server.judgements("second here")) == 1
    server.let_in(page.context, "first here")
    page.reload()
    page.wait_for_selector(".player .stage:not([hidden])")
    page.locator(".progress", has_text="all saved").wait_for(state="attached")
    assert [one.item for one in server.judgements("first here")] == [given]
    assert len(server.judgements("second here")) == 1


@pytest.mark.landing
def test_a_retired_person_sees_no_more(open_page: Opener, server: Server) -> None:
    page = open_page("leaver")
    change(server.store, people.retire, "leaver")
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    page.get_by_text("Your session has ended").wait_for()


@pytest.mark.landing
def test_the_report_its_owner_sees_holds_every_judgement_made_by_then(
    open_page: Opener, server: Server
) -> None:
    page = open_page(OWNER)
    file = server.folder / "reports" / "live" / "small-1" / "report.json"
    judged: list[int] = []
    for number in (1, 2):
        if judged:
            page.get_by_role("link", name="Annotate").click()
        page.locator(".player .stage:not([hidden])").wait_for()
        page.keyboard.press("n")
        page.keyboard.press("Enter")
        done = re.compile(f"{number} annotated by you.*all saved")
        page.locator(".progress", has_text=done).wait_for(state="attached")
        page.get_by_role("link", name="Report").click()
        # While it is built the one before is shown, and nothing says yet that it is the last.
        said = page.get_by_test_id("stCaptionContainer")
        said.filter(has_text="Below: report of").wait_for()
        page.frame_locator("iframe").get_by_text("local-search").first.wait_for()
        judged.append(json.loads(file.read_text())["labels"]["human"])
    assert judged[1] > judged[0] > 0


@pytest.mark.landing
def test_people_who_judge_see_no_results(open_page: Opener) -> None:
    page = open_page("guest")
    assert page.get_by_role("link", name="Report").count() == 0
    page.goto(page.url.rstrip("/") + "/report")
    page.get_by_text("Page not found").wait_for()


@pytest.mark.landing
def test_who_leads_sees_the_report_over_the_network_and_nothing_to_judge(
    open_page: Opener, server: Server
) -> None:
    page = open_page("chief", roles=("lead",), ready=False)
    page.get_by_role("link", name="Report").wait_for()
    assert page.get_by_role("link", name="Annotate").count() == 0
    page.frame_locator("iframe").get_by_text("local-search").first.wait_for()
    page.goto(server.url("/report"))  # the first page has an address of its own as well
    page.frame_locator("iframe").get_by_text("local-search").first.wait_for()
    assert page.get_by_text("Page not found").count() == 0
    page.goto(server.url("/"))
    change(server.store, people.set_role, "chief", "lead", held=False)
    page.reload()
    page.get_by_text("You have no tasks yet").wait_for()
    assert page.get_by_role("link", name="Report").count() == 0


@pytest.mark.landing
def test_a_page_that_is_open_shows_no_more_to_who_no_longer_judges(
    open_page: Opener, server: Server
) -> None:
    page = open_page("curious")
    change(server.store, people.set_role, "curious", "annotator", held=False)
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    page.get_by_text("This page is for the role annotator").wait_for()


@pytest.mark.landing
def test_the_guide_explains_the_four_verdicts(open_page: Opener) -> None:
    page = open_page("reader")
    page.get_by_role("link", name="Guide").click()
    page.get_by_role("heading", name="How to judge an episode").wait_for()
    assert page.locator("table tbody tr").count() == 4


@pytest.mark.landing
def test_the_guide_tells_of_the_world_of_the_suite_and_of_no_other(
    open_page: Opener, server: Server, pixels: Server
) -> None:
    told = {}
    for at in (server, pixels):
        page = open_page(f"reader of {at.suite}", at, path="/guide", ready=False)
        page.get_by_role("heading", name="How to judge an episode").wait_for()
        told[at.suite] = page.locator(".stMain").inner_text()
    assert "G is Good and E is Evil" in told[server.suite]
    assert "The bell is the dark square" not in told[server.suite]
    assert "The bell is the dark square" in told[pixels.suite]
    assert "Evil" not in told[pixels.suite]
