"""One clip at an address of its own, and a training round, in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from sts.annotations import people
from sts.annotations.clips import NOT_FOUND
from sts.annotations.schema import items
from sts.annotations.training import standing
from sts.annotations.types import Item
from tests.annotator_app.served.test_player_page import item, next_one, press, saved, status
from tests.annotator_app.serving import AGENTS, Server
from tests.stores import add_reference, ask
from tests.zygote import Zygote

pytestmark = pytest.mark.browser

Opener = Callable[..., Any]


def test_a_clip_shows_its_marks_to_those_who_may_see_it_and_names_nobody(
    open_page: Opener, server: Server
) -> None:
    page = open_page("sharer")
    mine = item(page)
    press(page, "t", "ArrowRight", "ArrowRight", "s", "Enter")
    saved(page)
    press(page, "b")
    assert page.get_attribute(".permalink a", "href") == f"clip?c={mine}"
    with page.expect_popup() as opened:
        page.click(".permalink a")
    own = opened.value
    own.locator(".marks li", has_text="You").wait_for()
    assert own.text_content(".marks li") == "YouSuccess at step 2"

    seen = open_page("rhea", path=f"/clip?c={mine}", ready=False, roles=("reviewer",))
    mark = seen.locator(".marks li", has_text="Success at step 2")  # others may have judged it too
    mark.wait_for()
    assert "annotator-" in mark.inner_text() and "sharer" not in seen.content()
    press(seen, "Home")
    mark.locator("button").click()
    assert "success" in seen.get_attribute(".scrub", "aria-valuetext")
    whole = seen.evaluate(
        "[...document.querySelectorAll('*')].map((e) => e.shadowRoot?.innerHTML ?? '').join()"
    )
    assert not [name for name in (*AGENTS, "sharer") if name in whole]

    hides(open_page("stranger", path=f"/clip?c={mine}", ready=False))


def hides(page: Any) -> None:
    page.locator("[data-testid=stAlert]").wait_for()
    assert page.inner_text("[data-testid=stAlert]").strip() == NOT_FOUND


@pytest.mark.landing
@pytest.mark.parametrize(("name", "address"), [("nobody", "x" * 22), ("odd", "<b>../</b>")])
def test_an_address_of_no_clip_says_what_one_of_anothers_does(
    open_page: Opener, name: str, address: str
) -> None:
    hides(open_page(name, path=f"/clip?c={address}", ready=False))


@pytest.fixture
def training(recorded: Path, tmp_path: Path, zygote: Zygote) -> Iterator[Server]:
    """A server whose new annotators answer two references first, of three there are."""
    folder = shutil.copytree(recorded, tmp_path / "workspace")
    file = folder / "workspace.toml"
    lines = "[annotation]\ntraining = 2\ntraining_pass = 1.0\n"
    file.write_text(file.read_text().replace("[annotation]\n", lines))
    with Server(folder, zygote=zygote) as made:
        with made.store.database.read() as connection:
            rows = connection.execute(select(items).order_by(items.c.id).limit(3)).all()
        for row in rows:
            known = Item(
                row.continuation,
                made.suite,
                row.scenario,
                row.scenario_hash,
                AGENTS[0],
                row.category,
                row.kind,
                row.horizon,
                row.takeover,
                row.clip,
            )
            add_reference(made.store, known, "success", 3, "<i>Look at step 3.</i>")
        yield made


@pytest.mark.landing
def test_a_new_annotator_trains_is_told_what_agrees_and_then_judges(
    open_page: Opener, training: Server
) -> None:
    page = open_page("novice", at=training)
    assert "Training: 0 of 2 answered" in page.text_content(".banner")
    first = item(page)
    press(page, "t", *["ArrowRight"] * 4, "s", "Enter")
    page.locator(".status", has_text="Enter to continue").wait_for()
    assert "Correct: success. Your marker is 1 step late" in status(page)
    assert "<i>Look at step 3.</i>" in status(page), "words, whatever stands in them"
    assert page.locator(".flags b").all_inner_texts() == ["✓", "★"]
    assert item(page) == first
    page.reload()
    next_one(page)
    assert item(page) != first and "1 of 2 answered" in page.text_content(".banner")
    press(page, "t", *["ArrowRight"] * 3, "s", "Enter")
    page.locator(".status", has_text="You passed the training").wait_for()
    press(page, "Enter")
    page.locator(".banner").wait_for(state="hidden")
    press(page, "n", "Enter")
    saved(page)
    assert len(training.judgements("novice")) == 1
    person = next(one for one in ask(training.store, people.everybody) if one.name == "novice")
    assert not ask(training.store, standing, person.id).needed
