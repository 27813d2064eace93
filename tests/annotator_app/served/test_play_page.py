"""A person plays a continuation in the browser, and others judge it."""

from __future__ import annotations

from typing import Any

import pytest

from sts.annotations import people
from sts.continuations.store import load
from sts.continuations.types import HUMAN, Continuation
from sts.domains import load_domain
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from tests.annotator_app.served.browser import Opener, wide
from tests.annotator_app.serving import SUITE, Server
from tests.stores import add_person, ask, claim_items

pytestmark = pytest.mark.browser


def played_by_people(server: Server) -> list[Continuation]:
    workspace = Workspace.open(str(server.folder))
    scenarios = suites.load(workspace, SUITE).scenarios
    return [c for c in load(workspace, {s.hash for s in scenarios}) if c.agent == HUMAN]


def played_moves(made: Continuation) -> list[str]:
    """Return the person's actions."""
    names = load_domain(made.episode.domain).action_names
    return [names[m] for m in made.episode.actions[made.takeover :, made.players[0]]]


def everything_offered(server: Server, person: int) -> set[str]:
    offered: list[Any] = []
    count = 50
    while len(more := claim_items(server.store, person, suite=SUITE, count=count)) > len(offered):
        offered, count = more, len(more) + 50
    return {claim.continuation for claim in offered}


def at_play(open_page: Opener, name: str, **options: Any) -> Any:
    page = open_page(name, path="/turn", ready=False, **options)
    page.locator(".play .turn:not([hidden])").wait_for()
    return page


def turn(page: Any, key: str) -> None:
    before = int(page.get_attribute(".play", "data-played"))
    page.keyboard.press(key)
    page.locator(f".play[data-played='{before + 1}']").wait_for()


def finish(page: Any) -> None:
    """Stay until the end."""
    while page.locator(".part", has_text="Finished").count() == 0:
        turn(page, "s")
    page.locator(".empty h2", has_text="Finished, thank you").wait_for()


def test_person_plays_to_the_end_and_never_judges_their_own_continuation(
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
    finish(page)

    (made,) = played_by_people(server)
    assert played_moves(made) == ["up-left", "right", *["stay"] * (made.horizon - 2)]
    tokens = load_domain(made.episode.domain).tokens
    assert tokens[made.episode.utterances[made.takeover, made.players[0]]] == "up-right"
    (own,) = [one for one in ask(server.store, people.list_people) if one.name == "player"]
    assert made.id not in everything_offered(server, own.id)
    assert made.id in everything_offered(server, add_person(server.store, "another").id)

    page.keyboard.press("Enter")  # the button that plays another has the focus
    page.locator(".part", has_text="Context").wait_for()
    assert page.get_attribute(".play", "data-played") == "0"
    page.set_viewport_size({"width": 420, "height": 900})
    assert wide(page) <= 420 and page.locator(".pad button").count() == 9
