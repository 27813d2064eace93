"""A server that dies between Enter and its acknowledgement, and links of two in one browser."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sts.domains import domain
from tests.annotator_app.served.test_play_page import (
    at_play,
    everything_offered,
    played_by_people,
    turn,
)
from tests.annotator_app.served.test_player_page import item, press, saved, status
from tests.annotator_app.serving import Server
from tests.stores import add_person
from tests.zygote import Zygote

KEEP_SOCKETS = """
window.sockets = [];
window.WebSocket = class extends WebSocket {
  constructor(...given) { super(...given); window.sockets.push(this); }
};
"""

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def mortal(
    recorded: Path, tmp_path_factory: pytest.TempPathFactory, zygote: Zygote
) -> Iterator[Server]:
    """A server that each test may end, if it starts it again; everybody comes to it once."""
    with Server(
        shutil.copytree(recorded, tmp_path_factory.mktemp("mortal") / "workspace"), zygote=zygote
    ) as made:
        yield made


def test_what_was_answered_while_the_server_was_dead_is_kept_once(
    open_page: Callable[..., Any], mortal: Server
) -> None:
    page = open_page("survivor", at=mortal)
    press(page, "n", "Enter")
    saved(page)
    given = []
    mortal.end(signal.SIGKILL)
    for _ in range(2):
        given.append(item(page))
        press(page, "End", "s", "Enter")
    assert "2 unsaved" in page.text_content(".progress")
    page.locator(".status", has_text="Connection lost").wait_for()
    assert "will be sent when the connection returns" in status(page)
    given.append(item(page))
    assert page.locator("[role=dialog]").count() == 0
    page.click("[data-action=not_done]")  # the page is not blocked meanwhile
    press(page, "Enter")
    assert "3 unsaved" in page.text_content(".progress")
    assert page.is_visible(".board canvas"), "there is more to judge than three"

    mortal.start()
    page.wait_for_selector(".player .stage:not([hidden])")
    saved(page)
    kept = mortal.judgements("survivor")
    assert [one.item for one in reversed(kept)][1:] == given
    assert len(kept) == 4
    press(page, "n", "Enter")
    saved(page)
    assert len(mortal.judgements("survivor")) == 5


def test_an_answer_lost_between_enter_and_the_socket_is_sent_by_the_next_page(
    open_page: Callable[..., Any], mortal: Server
) -> None:
    page = open_page("reopener", at=mortal)
    first = item(page)
    mortal.end(signal.SIGKILL)
    press(page, "n", "Enter")
    mortal.start()
    page.reload()
    page.wait_for_selector(".player .stage:not([hidden])")
    saved(page)
    assert [one.item for one in mortal.judgements("reopener")] == [first]
    assert item(page) != first


def test_a_page_that_idled_through_a_restart_saves_what_is_answered_after_it(
    open_page: Callable[..., Any], mortal: Server
) -> None:
    page = open_page("idler", at=mortal, script=KEEP_SOCKETS)
    mortal.end(signal.SIGKILL)
    mortal.start()
    page.wait_for_function("() => sockets.length > 1 && sockets.at(-1).readyState === 1")
    given = item(page)
    press(page, "n", "Enter")
    saved(page)
    assert [one.item for one in mortal.judgements("idler")] == [given]


@pytest.mark.parametrize("how", ["stays", "is opened anew"])
def test_a_play_goes_on_where_it_was_when_its_server_has_died_and_the_page(
    open_page: Callable[..., Any], mortal: Server, how: str
) -> None:
    before = {one.id for one in played_by_people(mortal)}
    page = open_page(f"who {how}", at=mortal, path="/turn", ready=False, script=KEEP_SOCKETS)
    page.locator(".play .turn:not([hidden])").wait_for()
    page.keyboard.press("t")
    for key in "qws":
        turn(page, key)
    place = page.text_content(".place")
    mortal.end(signal.SIGKILL)
    mortal.start()
    if how == "stays":
        page.wait_for_function("() => sockets.length > 1 && sockets.at(-1).readyState === 1")
    else:
        page.reload()
    page.locator(".part", has_text="Your turn: step 4 of").wait_for()
    assert page.text_content(".place") == place
    while page.locator(".part", has_text="Finished").count() == 0:
        turn(page, "s")
    page.locator(".empty h2", has_text="Finished, thank you").wait_for()
    (made,) = [one for one in played_by_people(mortal) if one.id not in before]
    names = domain(made.episode.domain).moves
    moves = [names[m] for m in made.episode.moves[made.takeover :, made.roles[0]]]
    assert moves == ["up-left", "up", *["stay"] * (made.horizon - 2)]


def test_a_play_open_in_two_pages_is_one_and_either_goes_on_from_it(
    open_page: Callable[..., Any], mortal: Server
) -> None:
    page = at_play(lambda *given, **more: open_page(*given, at=mortal, **more), "twice")
    page.keyboard.press("t")
    turn(page, "q")
    other = page.context.new_page()
    other.goto(page.url)
    other.locator(".part", has_text="Your turn: step 2 of").wait_for()
    turn(other, "w")
    page.keyboard.press("d")  # which the server does not take: there the second turn was made
    page.locator(".part", has_text="Your turn: step 3 of").wait_for()
    assert page.text_content(".place") == other.text_content(".place")


@pytest.mark.parametrize(
    "how",
    [
        "a network drop",
        "a restart",
        "a look at the guide",
    ],
)
def test_what_one_did_is_never_kept_as_anothers_whose_link_was_opened_in_the_same_browser(
    open_page: Callable[..., Any], mortal: Server, how: str
) -> None:
    one_s, other_s = (f"{who} after {how}" for who in ("first", "second"))
    page = open_page(one_s, at=mortal, script=KEEP_SOCKETS)
    before = item(page)
    press(page, "n", "Enter")
    saved(page)
    second = add_person(mortal.store, other_s)
    everything_offered(mortal, second.id)  # so that they might judge what the first one did
    other = page.context.new_page()
    mortal.let_in(page.context, other_s)  # the cookie is now the second's, in both
    other.goto(mortal.url("/"))
    other.wait_for_selector(".player .stage:not([hidden])")

    if how == "a restart":
        mortal.end(signal.SIGKILL)
    else:
        page.evaluate("window.sockets.at(-1).close()")
    given = []
    for _ in range(2):
        given.append(item(page))
        press(page, "End", "s", "Enter")
    if how == "a restart":
        mortal.start()
    elif how == "a look at the guide":  # after which the page is mounted anew
        page.get_by_role("link", name="Guide").click()
        page.get_by_role("heading", name="How to judge an episode").wait_for()
        page.get_by_role("link", name="Annotate").click()
    page.locator(".empty h2", has_text="Another person signed in").wait_for()
    assert "2 unsaved answers, kept here" in page.text_content(".empty p")
    press(page, "b", "n", "Enter")  # as the second, who sees nothing here to judge
    press(other, "n", "Enter")
    saved(other)
    assert [one.verdict for one in mortal.judgements(other_s)] == ["not_done"]
    assert len(mortal.judgements(one_s)) == 1

    mortal.let_in(page.context, one_s)
    page.goto(mortal.url("/"))
    page.wait_for_selector(".player .stage:not([hidden])")
    saved(page)
    assert {one.item for one in mortal.judgements(one_s)} == {before, *given}
    assert len(mortal.judgements(other_s)) == 1
