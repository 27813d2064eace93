"""Actions of tests on a page in a browser."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.annotator_app.serving import FLAGS

REQUIRED = os.environ.get("STS_REQUIRE_BROWSER") == "1"
Opener = Callable[..., Any]
STAGE = ".player .stage:not([hidden])"
SHADOWS = "[...document.querySelectorAll('*')].map((one) => one.shadowRoot).filter(Boolean)"
"""Script for the roots of a page's components."""


@contextlib.contextmanager
def start_chromium() -> Iterator[Any]:
    """Start Debian's browser; skip the test if there is none, unless it is required."""
    names = ("chromium", "google-chrome", "chromium-browser")
    found = next(filter(None, ["/usr/bin/chromium", *map(shutil.which, names)]))
    if not found or not Path(found).exists():
        if REQUIRED:
            pytest.fail("STS_REQUIRE_BROWSER=1, and no chromium was found")
        pytest.skip("no chromium found (apt-get install chromium); see STS_REQUIRE_BROWSER")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


def item(page: Any) -> str:
    return str(page.get_attribute(".player", "data-item"))


def status(page: Any) -> str:
    return str(page.text_content(".status"))


def settle(page: Any) -> None:
    """Wait until keys that waited for a picture have taken effect."""
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
