"""One clip at an address of its own, in a real browser."""

from __future__ import annotations

from typing import Any

import pytest

from sts.annotations.answers.clips import NOT_FOUND
from tests.annotator_app.served.browser import (
    SHADOWS,
    Opener,
    item,
    press,
    saved,
)
from tests.annotator_app.serving import AGENTS, Server


@pytest.mark.landing
def test_clip_page_shows_marks_to_permitted_people_without_names(
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

    server.let_in(page.context, "rhea", ("reviewer",))
    (seen := own).goto(server.url(f"/clip?c={mine}"))
    # Others may have judged it too, and alike.
    mark = seen.locator(".marks li", has_text="Success at step 2").first
    mark.wait_for()
    assert "annotator-" in mark.inner_text() and "sharer" not in seen.content()
    press(seen, "Home")
    mark.locator("button").click()
    assert "success" in seen.get_attribute(".scrub", "aria-valuetext")
    whole = seen.evaluate(f"{SHADOWS}.map((one) => one.innerHTML).join()")
    assert not [name for name in (*AGENTS, "sharer") if name in whole]

    server.let_in(page.context, "stranger")
    seen.reload()
    hides(seen)


def hides(page: Any) -> None:
    page.locator("[data-testid=stAlert]").wait_for()
    assert page.inner_text("[data-testid=stAlert]").strip() == NOT_FOUND


@pytest.mark.landing
def test_unknown_clip_has_the_same_message_as_a_forbidden_one(
    open_page: Opener, server: Server
) -> None:
    page = open_page("seeker", path=f"/clip?c={'x' * 22}", ready=False)
    hides(page)
    page.goto(server.url("/clip?c=<b>../</b>"))
    hides(page)
