"""A person plays a continuation in the browser, and others judge it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sts.annotations import people
from sts.continuations.store import load
from sts.continuations.types import HUMAN, Continuation
from sts.domains import domain
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from tests.annotator_app.serving import SUITE, Server
from tests.stores import add_person, ask, claim_items

pytestmark = pytest.mark.browser

Opener = Callable[..., Any]


def played_by_people(server: Server) -> list[Continuation]:
    workspace = Workspace.open(str(server.folder))
    scenarios = suites.load(workspace, SUITE).scenarios
    return [c for c in load(workspace, {s.hash for s in scenarios}) if c.agent == HUMAN]


def everything_offered(server: Server, person: int) -> set[str]:
    offered: list[Any] = []
    while len(
        more := claim_items(server.store, person, suite=SUITE, count=len(offered) + 50)
    ) > len(offered):
        offered = more
    return {claim.continuation for claim in offered}


def at_play(open_page: Opener, name: str) -> Any:
    page = open_page(name, path="/turn", ready=False)
    page.locator(".play .turn:not([hidden])").wait_for()
    return page


def turn(page: Any, key: str) -> None:
    before = int(page.get_attribute(".play", "data-played"))
    page.keyboard.press(key)
    page.locator(f".play[data-played='{before + 1}']").wait_for()


def test_a_person_plays_to_the_end_and_never_judges_it_themselves(
    open_page: Opener, server: Server
) -> None:
    page = at_play(open_page, "player")
    assert page.text_content(".part").startswith("Context")
    assert page.text_content(".instruction").startswith("No instruction yet")
    page.keyboard.press("w")
    assert page.get_attribute(".play", "data-played") == "0", "the context is watched first"
    page.keyboard.press("t")
    page.locator(".part", has_text="Your turn: step 1 of").wait_for()
    page.keyboard.press("Shift+E")
    turn(page, "q")
    turn(page, "Numpad6")
    assert "last action right" in page.text_content(".reward")

    page.reload()
    page.locator(".part", has_text="Your turn: step 3 of").wait_for()
    while page.locator(".part", has_text="Finished").count() == 0:
        turn(page, "s")
    page.locator(".empty h2", has_text="Finished, thank you").wait_for()

    (made,) = played_by_people(server)
    (role,) = made.roles
    world = domain(made.episode.domain)
    moves = [world.moves[m] for m in made.episode.moves[made.takeover :, role]]
    assert moves == ["up-left", "right", *["stay"] * (made.horizon - 2)]
    assert world.tokens[made.episode.says[made.takeover, role]] == "up-right"
    for name, may in (("player", False), ("somebody else", True)):
        person = next((a for a in ask(server.store, people.everybody) if a.name == name), None)
        person = person or add_person(server.store, name)
        assert (made.id in everything_offered(server, person.id)) is may

    page.keyboard.press("Enter")  # the button that plays another has the focus
    page.locator(".part", has_text="Context").wait_for()
    assert page.get_attribute(".play", "data-played") == "0"


@pytest.mark.landing
def test_what_a_person_has_judged_is_not_offered_to_them_to_play(
    open_page: Opener, server: Server
) -> None:
    first = at_play(open_page, "judge first")
    offered = first.get_attribute(".play", "data-session")
    from sts_annotator_app import play

    person = next(a for a in ask(server.store, people.everybody) if a.name == "judge first")
    workspace = Workspace.open(str(server.folder))
    suite = suites.load(workspace, SUITE)
    scenario = next(s for s in suite.scenarios if play.session_key(person, s) == offered)
    again = play.sync_page(
        workspace,
        server.store,
        suite,
        person,
        None,
        author="",
        judged={scenario.hash},
        plays=play.PlaySessions(),
        broken=set(),
    )
    assert again["session"] not in (offered, None)


@pytest.mark.landing
def test_who_plays_is_shown_no_more_than_an_agent_sees(open_page: Opener) -> None:
    received: list[str] = []
    page = open_page("peeper")
    page.on("websocket", lambda s: s.on("framereceived", lambda frame: received.append(str(frame))))
    page.goto(page.url.rstrip("/") + "/turn")
    page.locator(".play .turn:not([hidden])").wait_for()
    seen = "".join(received)
    assert '"cells"' in seen, "the net is in the water"
    assert [
        word
        for word in ("scene", "trajectory", "takeover_hash", "parameters", "recording")
        if f'"{word}"' in seen
    ] == []


@pytest.mark.landing
def test_dark_mode_and_a_narrow_window_keep_the_page_usable(open_page: Opener) -> None:
    page = open_page(
        "small",
        path="/turn",
        ready=False,
        color_scheme="dark",
        viewport={"width": 420, "height": 900},
    )
    page.locator(".play .turn:not([hidden])").wait_for()
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 420
    assert page.locator(".pad button").count() == 9
