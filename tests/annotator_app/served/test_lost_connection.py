"""Killed servers, missing databases and shared browsers lose and duplicate nothing."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sts_annotator_app.auth.entry_pages import UNAVAILABLE
from tests.annotations.conftest import cluster as cluster
from tests.annotator_app.served.browser import STAGE, Opener, item, next_one, press, saved, status
from tests.annotator_app.served.test_live_page import (
    act,
    add_player,
    finish_scenario,
    list_moves,
    list_offered,
    list_played,
    start_scenario,
)
from tests.annotator_app.serving import Server
from tests.clusters import Cluster
from tests.stores import add_person
from tests.waiting import PATIENCE
from tests.zygote import Zygote

KEEP_SOCKETS = """
window.sockets = [];
window.WebSocket = class extends WebSocket {
  constructor(...given) { super(...given); window.sockets.push(this); }
};
"""
RECONNECTED = "() => sockets.length > 1 && sockets.at(-1).readyState === 1"

LOSE_MESSAGES = """
window.lost = true;
const send = window.fetch;
window.fetch = (address, how) => {
  if (window.lost && String(address).includes("/messages/")) throw new TypeError();
  return send(address, how);
};
"""


@pytest.fixture(scope="module")
def mortal(
    recorded: Path, tmp_path_factory: pytest.TempPathFactory, zygote: Zygote
) -> Iterator[Server]:
    """A server that each test may end, if it starts it again; a name is used by one test."""
    folder = shutil.copytree(recorded, tmp_path_factory.mktemp("mortal") / "workspace")
    with Server(folder, zygote=zygote) as made:
        yield made


def restart(server: Server) -> None:
    server.end(signal.SIGKILL)
    server.start()


@pytest.mark.parametrize(
    "path",
    ["/", *(pytest.param(path, marks=pytest.mark.slow) for path in ("/review", "/curate"))],
)
def test_page_whose_first_message_is_lost_says_so_and_tries_again(
    open_page: Opener, server: Server, path: str
) -> None:
    roles = ("annotator", "reviewer", "curator")
    page = open_page("early", path=path, roles=roles, ready=False, script=LOSE_MESSAGES)
    page.locator(".empty p", has_text="Connection lost. This page tries again").wait_for()
    assert page.text_content(".empty h2") == "Loading ..."
    page.evaluate("lost = false")
    page.get_by_text("Loading ...").wait_for(state="hidden")
    if path == "/":
        next_one(page)


def test_answers_given_while_the_server_is_dead_are_kept_once(
    open_page: Opener, mortal: Server
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
    assert page.is_visible(".board canvas"), "more than three clips are at hand"

    mortal.start()
    next_one(page)
    saved(page)
    kept = mortal.judgements("survivor")
    assert [one.item for one in reversed(kept)][1:] == given
    assert len(kept) == 4
    press(page, "n", "Enter")
    saved(page)
    assert len(mortal.judgements("survivor")) == 5


@pytest.mark.slow
@pytest.mark.parametrize("page_stays", [True, False])
def test_answer_around_a_restart_is_saved_once(
    open_page: Opener, mortal: Server, page_stays: bool
) -> None:
    name = f"restarted {page_stays}"
    page = open_page(name, at=mortal, script=KEEP_SOCKETS)
    first = item(page)
    if page_stays:  # it idles through the restart
        restart(mortal)
        page.wait_for_function(RECONNECTED)
        press(page, "n", "Enter")
    else:  # it sends between Enter and the restart, and is opened again
        mortal.end(signal.SIGKILL)
        press(page, "n", "Enter")
        mortal.start()
        page.reload()
        next_one(page)
    saved(page)
    assert [one.item for one in mortal.judgements(name)] == [first] and item(page) != first


@pytest.mark.slow
def test_scenario_continues_after_restarts(open_page: Opener, mortal: Server) -> None:
    name = add_player(mortal, "player").name
    page = start_scenario(open_page, name, at=mortal)
    page.get_by_text("Get ready: your turn starts in a moment.").wait_for()
    act(page, "q")
    restart(mortal)  # the page connects again by itself
    page.get_by_text("The connection is lost.").wait_for()
    page.get_by_text("Get ready").wait_for()
    act(page, "w")
    mortal.end(signal.SIGKILL)
    mortal.start()
    page.reload()
    page.get_by_text("Get ready").wait_for()
    finish_scenario(page)
    (played,) = list_played(mortal)
    assert [move for move in list_moves(played) if move != "stay"] == ["up-left", "up"]


@pytest.mark.parametrize(
    "how",
    ["restart", *(pytest.param(how, marks=pytest.mark.slow) for how in ("drop", "guide"))],
)
def test_answers_are_never_saved_for_the_next_person_in_the_browser(
    open_page: Opener, mortal: Server, how: str
) -> None:
    first, second = (f"{which} after {how}" for which in ("first", "second"))
    page = open_page(first, at=mortal, script=KEEP_SOCKETS)
    before = item(page)
    press(page, "n", "Enter")
    saved(page)
    page.route("**/messages/*", lambda route: route.abort())
    # The second may judge the clips that the first one judged.
    list_offered(mortal, add_person(mortal.store, second).id)
    other = page.context.new_page()
    mortal.let_in(page.context, second)  # the cookie is now the second's, in both
    other.goto(mortal.url("/"))
    next_one(other)

    if how == "restart":
        mortal.end(signal.SIGKILL)
    given = []
    for _ in range(2):
        given.append(item(page))
        press(page, "End", "s", "Enter")
    if how == "restart":
        mortal.start()
    else:
        page.evaluate("window.sockets.at(-1).close()")
    page.unroute("**/messages/*")
    if how == "guide":  # after which the page is mounted again
        page.wait_for_function(RECONNECTED)  # a click on a closing socket is lost
        page.get_by_role("link", name="Guide").click()
        page.get_by_role("heading", name="How to judge an episode").wait_for()
        page.get_by_role("link", name="Annotate").click()
    page.locator(".empty h2", has_text="Another person signed in").wait_for()
    assert "2 unsaved answers, kept here" in page.text_content(".empty p")
    press(page, "b", "n", "Enter")  # as the second, who has nothing to judge on this page
    press(other, "n", "Enter")
    saved(other)
    assert [one.verdict for one in mortal.judgements(second)] == ["not_done"]
    assert len(mortal.judgements(first)) == 1

    mortal.let_in(page.context, first)
    page.goto(mortal.url("/"))
    next_one(page)
    saved(page)
    assert {one.item for one in mortal.judgements(first)} == {before, *given}
    assert len(mortal.judgements(second)) == 1


@pytest.mark.postgresql
def test_missing_database_is_reported_and_work_continues_when_it_returns(
    open_page: Opener,
    recorded: Path,
    tmp_path: Path,
    cluster: Cluster,
    monkeypatch: pytest.MonkeyPatch,
    zygote: Zygote,
) -> None:
    here, away = Path(cluster.emptied().partition("host=")[2]), tmp_path / "s"
    away.symlink_to(here)
    monkeypatch.setenv("STS_DATABASE_URL", f"postgresql://sts@/postgres?host={away}")
    with Server(shutil.copytree(recorded, tmp_path / "workspace"), zygote=zygote) as server:
        page = open_page("stayer", at=server)
        late = str(add_person(server.store, "late").token)
        away.unlink()
        cluster.end_connections()
        first = item(page)
        press(page, "n", "Enter")
        page.locator(".status", has_text="cannot save at the moment").wait_for()
        newcomer: Any = page.context.browser.new_context().new_page()
        newcomer.set_default_timeout(1000 * PATIENCE)
        answer = newcomer.goto(server.url(f"/enter?t={late}"))
        assert answer.status == 503 and UNAVAILABLE in newcomer.inner_text("body")

        away.symlink_to(here)
        newcomer.get_by_role("button", name="Sign in as late").click()
        newcomer.wait_for_selector(STAGE)
        saved(page)
        assert [one.item for one in server.judgements("stayer")] == [first]
        newcomer.context.close()
