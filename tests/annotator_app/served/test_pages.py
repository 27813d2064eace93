"""Invitations, ended sessions, the report and the guide in a real browser."""

from __future__ import annotations

import json
import re
import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from sts.annotations.people import people
from sts.cli.main import main
from sts_annotator_app.auth.browser_sessions import cookie_name
from sts_annotator_app.results import RESULTS
from tests.annotator_app.served.browser import SHADOWS, STAGE, Opener, next_one, press, saved
from tests.annotator_app.served.test_reachable import PAGES
from tests.annotator_app.serving import OWNER, SUITE, Server
from tests.stores import add_person, change
from tests.waiting import PATIENCE
from tests.zygote import Zygote

REPORT = Path("reports/live/small-1")
"""The folder of the server's report in its workspace."""


@pytest.fixture(scope="module")
def unjudged(
    recorded: Path, tmp_path_factory: pytest.TempPathFactory, zygote: Zygote
) -> Iterator[Server]:
    """A server with a report of rule labels, which is up to date until someone judges."""
    folder = Path(shutil.copytree(recorded, tmp_path_factory.mktemp("unjudged") / "workspace"))
    with Server(folder, zygote=zygote) as server:  # it queues the clips that the report shows
        for words in (("label",), ("report", "--clips", "app", "--out", str(folder / REPORT))):
            assert main([*words, SUITE, "--workspace", str(folder)]) == 0
        yield server


@pytest.mark.landing
def test_pages_keep_to_their_content_policy_and_request_no_missing_address(
    open_page: Opener, unjudged: Server
) -> None:
    page = open_page("visits all", unjudged, roles=("annotator", "reviewer", "curator", "lead"))
    said: list[str] = []
    failed: list[str] = []
    page.on("console", lambda one: said.append(one.text))
    page.on("response", lambda one: failed.append(one.url) if one.status >= 400 else None)
    for path in PAGES:
        page.goto(unjudged.url(path))
        page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
        page.wait_for_load_state("networkidle")
        assert failed == [], path
    assert not [one for one in said if "Content Security Policy" in one]
    # A policy that forbids nothing would pass as well.
    run = page.evaluate(
        """() => new Promise((done) => {
            document.addEventListener("securitypolicyviolation", (e) => done(e.violatedDirective));
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            document.head.append(script);
            if (window.ran) done("nothing");
        })"""
    )
    assert run == "script-src-elem"


def test_invitation_signs_its_person_in_once_by_the_button(profile: Any, server: Server) -> None:
    link = server.url(f"/enter?t={add_person(server.store, '<b>Ann</b> & Co').token}")
    with urllib.request.urlopen(link, timeout=PATIENCE) as preview:  # of a messenger
        assert preview.status == 200 and preview.headers["Cache-Control"] == "no-store"
    page = profile.new_page()
    page.goto(link)
    assert page.locator("b b").count() == 0
    page.get_by_role("button", name="Sign in as <b>Ann</b> & Co").dblclick()
    page.wait_for_selector(STAGE)
    (cookie,) = [one for one in profile.cookies() if one["name"] == cookie_name(server.place)]
    assert cookie["httpOnly"] and cookie["sameSite"] == "Lax"
    page.goto(link)  # a bookmark
    page.wait_for_selector(STAGE)
    with pytest.raises(HTTPError) as refused:  # a stranger
        urllib.request.urlopen(link, timeout=PATIENCE)
    assert refused.value.status == 401 and "already used" in refused.value.read().decode()


@pytest.mark.landing
@pytest.mark.parametrize(
    "ending", ["end_sessions", pytest.param("deactivate", marks=pytest.mark.slow)]
)
def test_open_page_submits_nothing_after_its_session_ended(
    open_page: Opener, server: Server, ending: str
) -> None:
    name = f"leaver by {ending}"
    page = open_page(name)
    given = page.get_attribute(".player", "data-item")
    change(server.store, getattr(people, ending), name)
    press(page, "n", "Enter")
    page.get_by_text("Your session has ended").wait_for()
    assert server.judgements(name) == []
    if ending == "end_sessions":  # a new session sends what the ended one could not
        server.let_in(page.context, name)
        page.reload()
        page.wait_for_selector(STAGE)
        saved(page)
        assert [one.item for one in server.judgements(name)] == [given]


@pytest.mark.slow
def test_pages_are_only_for_people_in_their_role(open_page: Opener, server: Server) -> None:
    page = open_page("former annotator")
    for path, role, page_of in (
        ("/", "annotator", "annotator"),
        ("/review", "reviewer", "reviewer"),
        ("/curate", "lead", "curator"),
    ):
        name = f"former {role}"
        if role != "annotator":
            server.let_in(page.context, name, (role,))
            page.goto(server.url(path))
        page.wait_for_selector(".stage:not([hidden]), .empty:not([hidden])")
        if role == "annotator":
            for label in ("Report", "Review", "Curate"):
                assert page.get_by_role("link", name=label).count() == 0
            press(page, "n")
        change(server.store, people.set_role, name, role, is_granted=False)
        if role == "annotator":
            press(page, "Enter")
        page.get_by_text(f"This page is for the role {page_of}").wait_for()
        assert server.judgements(name) == []


@pytest.mark.slow
def test_open_tab_submits_nothing_after_someone_else_signs_in_on_its_browser(
    open_page: Opener, server: Server
) -> None:
    page = open_page("first here")
    link = server.url(f"/enter?t={add_person(server.store, 'second here').token}")
    other = page.context.new_page()
    other.goto(link)
    other.get_by_role("button", name="Sign in as second here").click()
    other.wait_for_selector(STAGE)
    given = page.get_attribute(".player", "data-item")
    press(page, "n", "Enter")
    page.locator(".empty h2", has_text="Another person signed in on this browser").wait_for()
    assert "1 unsaved answer, kept here" in page.text_content(".empty p")
    press(other, "n", "Enter")
    other.locator(".progress", has_text="1 annotated").wait_for(state="attached")
    saved(other)
    assert server.judgements("first here") == []
    assert len(server.judgements("second here")) == 1
    server.let_in(page.context, "first here")
    page.reload()
    page.wait_for_selector(STAGE)
    saved(page)
    assert [one.item for one in server.judgements("first here")] == [given]
    assert len(server.judgements("second here")) == 1


@pytest.mark.slow
def test_owners_report_holds_every_judgement_made_so_far(
    open_page: Opener, recorded: Path, tmp_path: Path, zygote: Zygote
) -> None:
    folder = shutil.copytree(recorded, tmp_path / "workspace")
    with Server(folder, zygote=zygote) as server:
        page = open_page(OWNER, server)
        for _ in range(2):
            next_one(page)
            press(page, "n", "Enter")
        done = re.compile("2 annotated by you.*all saved")
        page.locator(".progress", has_text=done).wait_for(state="attached")
        page.get_by_role("link", name="Report").click()
        # While it is built, the one before is shown without the caption of the last.
        said = page.get_by_test_id("stCaptionContainer")
        said.filter(has_text="Below: report of").wait_for()
        page.frame_locator("iframe").get_by_text("local-search").first.wait_for()
        report = json.loads((folder / REPORT / "report.json").read_text())
        assert report["conclusion"]["judgements"] == 2


@pytest.mark.landing
def test_report_is_shown_to_leads_who_judge_nothing_and_to_no_annotator(
    open_page: Opener, unjudged: Server
) -> None:
    server = unjudged
    page = open_page("chief", server, roles=("lead",), ready=False)
    page.get_by_role("link", name="Report").wait_for()
    assert page.get_by_role("link", name="Annotate").count() == 0
    page.frame_locator("iframe").get_by_text("local-search").first.wait_for()
    page.goto(server.url("/report"))  # the first page has an address of its own as well
    page.frame_locator("iframe").get_by_text("local-search").first.wait_for()
    assert page.get_by_text("Page not found").count() == 0
    page.goto(server.url("/"))
    change(server.store, people.set_role, "chief", "lead", is_granted=False)
    page.reload()
    page.get_by_text("You have no tasks yet").wait_for()
    assert page.get_by_role("link", name="Report").count() == 0

    change(server.store, people.set_role, "chief", "annotator", is_granted=True)
    page.goto(server.url("/report"))
    page.get_by_text("Page not found").wait_for()


FRAME_IS = f"""([n, to]) => {SHADOWS}.flatMap((one) => [...one.querySelectorAll('.viewer')])[n]
.dataset.frame == to"""


def test_lead_goes_from_the_report_to_two_clips_side_by_side(
    open_page: Opener, unjudged: Server
) -> None:
    page = open_page("leader", unjudged, "/report", roles=("lead",), ready=False)
    page.frame_locator("iframe").locator(".cards a").first.wait_for()
    opener = page.get_by_role("link", name="Open in a new tab")
    assert opener.get_attribute("href").endswith(f"{RESULTS}report.html")

    page.goto(unjudged.url(f"{RESULTS}report.html"))
    page.locator(".cards a").first.click()
    links = page.get_by_role("link", name="Watch it in the app")
    links.nth(1).wait_for()
    for link in links.all():
        assert re.fullmatch(r"\.\./\.\./clip\?c=[\w-]{22}", link.get_attribute("href"))
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Watch both side by side").click()
    both = opened.value
    both.locator(".clip .stage:not([hidden])").nth(1).wait_for()
    at = int(both.locator(".viewer").first.get_attribute("data-frame"))
    both.keyboard.press("ArrowRight")
    for n in (0, 1):
        both.wait_for_function(FRAME_IS, arg=[n, at + 1])
