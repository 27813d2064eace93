"""The reviewer's page in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from sts.annotations import people, reviews
from sts.annotations.store import Store
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts_scenarios.labels import label_suite
from tests.annotator_app.served.test_player_page import press, saved
from tests.annotator_app.serving import SUITE, Server
from tests.stores import add_person, ask, change
from tests.zygote import Zygote

pytestmark = pytest.mark.browser

Opener = Callable[..., Any]


def judge(store: Store, name: str, verdicts: list[tuple[str, int | None]]) -> list[str]:
    """Has somebody, who is added when new, say these things of the first clips; returns them."""
    found = [one for one in ask(store, people.everybody) if one.name == name]
    person = (found[0] if found else add_person(store, name)).id
    with store.database.read() as connection:
        from sqlalchemy import text

        every = connection.execute(text("SELECT id FROM items ORDER BY continuation")).scalars()
        items = list(every)[: len(verdicts)]
    with store.database.write() as connection:
        from sts.annotations import submissions
        from sts.annotations.events import Event

        for item, (verdict, step) in zip(items, verdicts, strict=True):
            reason = "fog" if verdict == "cannot_judge" else ""
            event = Event(uuid4().hex, item, verdict=verdict, step=step, reason=reason)
            submissions.record_event(connection, person, event, source="browser", now=1.0)
    return items


@pytest.fixture
def untouched(recorded: Path, tmp_path: Path, zygote: Zygote) -> Iterator[Server]:
    """A server on a study that is labelled, and that nobody has judged."""
    folder = shutil.copytree(recorded, tmp_path / "workspace")
    workspace = Workspace.open(str(folder))
    label_suite(workspace, suites.load(workspace, SUITE))
    with Server(folder, zygote=zygote) as made:
        yield made


@pytest.fixture
def disputed(untouched: Server) -> Server:
    """A server on a study in which two annotators disagree about three clips of five."""
    done, missed = ("success", 2), ("not_done", None)
    judge(untouched.store, "Ana", [done, done, done, missed, missed])
    unlike = [missed, ("failure", 3), ("cannot_judge", None), missed, missed]
    judge(untouched.store, "Bo", unlike)
    return untouched


def reviewer(open_page: Opener, server: Server, name: str, **options: Any) -> Any:
    page = open_page(name, server, ready=False, roles=("reviewer",), **options)
    page.wait_for_selector(".review .stage:not([hidden]), .review .empty:not([hidden])")
    return page


def item(page: Any) -> str:
    return str(page.get_attribute(".review", "data-item"))


def test_a_reviewer_decides_leaves_open_and_classifies_from_the_keyboard(
    open_page: Opener, disputed: Server
) -> None:
    page = reviewer(open_page, disputed, "Rhea")
    assert "Annotators disagree on whether it was completed." in page.inner_text(".opinions")
    assert {"P", "Q"} == {*page.locator(".opinions b").all_inner_texts()}
    shown = page.content()
    assert not any(name in shown for name in ("Ana", "local-search", "stigmergy"))
    first = item(page)
    press(page, "t", "ArrowRight", "s", "e")
    page.keyboard.type("s, f & <b>n</b>")
    page.reload()
    page.locator(".status", has_text="Restored: Success at step 1").wait_for()
    assert item(page) == first
    press(page, "Enter")
    second = item(page)
    assert second != first
    press(page, "o")
    page.keyboard.type("is it behind the wall?")
    press(page, "Enter")
    press(page, "x", "2", "Enter")
    saved(page)
    page.locator(".empty h2", has_text="2 of 3 decided").wait_for()
    assert "You skipped 1 clip. Press G to show them again." in page.inner_text(".empty")
    decided = ask(disputed.store, reviews.load_adjudications, SUITE)
    assert (decided[first].verdict, decided[first].step) == ("success", 1)
    assert decided[first].text == "s, f & <b>n</b>"
    assert (
        ask(disputed.store, reviews.load_by_item, "note", SUITE)[second][0].text
        == "is it behind the wall?"
    )
    press(page, "g")
    page.locator(".remarks", has_text="is it behind the wall?").wait_for()
    press(page, "q")
    page.locator(".errors button").first.wait_for()
    assert "made no attempt" in page.inner_text(".errors")
    third = item(page)
    press(page, "3", "Enter")
    saved(page)
    assert [
        one.label for one in ask(disputed.store, reviews.load_by_item, "review", SUITE)[third]
    ] == ["empty"]
    press(page, "b", "8", "Enter")
    saved(page)
    assert [
        one.label for one in ask(disputed.store, reviews.load_by_item, "review", SUITE)[third]
    ] == ["fair"]


@pytest.mark.landing
def test_the_page_is_for_reviewers_and_an_empty_queue_says_so(
    open_page: Opener, untouched: Server
) -> None:
    page = open_page("no reviewer", untouched)
    assert page.get_by_role("link", name="Review").count() == 0
    page = reviewer(open_page, untouched, "early")
    page.locator(".empty h2", has_text="No disagreements yet").wait_for()
    change(untouched.store, people.set_role, "early", "reviewer", held=False)
    page.get_by_text("This page is for the role reviewer").wait_for()
