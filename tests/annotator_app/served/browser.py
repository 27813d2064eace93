"""Actions of tests on a page in a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Opener = Callable[..., Any]
STAGE = ".player .stage:not([hidden])"
SHADOWS = "[...document.querySelectorAll('*')].map((one) => one.shadowRoot).filter(Boolean)"
"""Script for the roots of a page's components."""


def item(page: Any) -> str:
    return str(page.get_attribute(".player", "data-item"))


def status(page: Any) -> str:
    return str(page.text_content(".status"))


PAINTED = """new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(done));
  setTimeout(done, 1000);
})"""


def settle(page: Any) -> None:
    """Wait until keys have taken effect: what they change is painted, also after a picture."""
    page.evaluate(PAINTED)
    page.locator(".status", has_not_text="Loading pictures").first.wait_for(state="attached")


def saved(page: Any) -> None:
    settle(page)
    page.locator(".progress", has_text="all saved").wait_for(state="attached")


def next_one(page: Any) -> None:
    """Wait until an episode is there: keys sent faster than episodes arrive would be lost."""
    settle(page)
    page.locator(STAGE).wait_for()


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def wide(page: Any) -> int:
    """Return how wide the page is, with what can be scrolled to."""
    return int(page.evaluate("document.scrollingElement.scrollWidth"))
