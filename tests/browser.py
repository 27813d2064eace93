"""The browser of all tests, benchmarks and pictures: no other file starts one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tests.programs import require_program

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update --renderer-process-limit=1"
).split()
SCRIPTS = "--js-flags=--max-lazy --no-opt --no-maglev"
"""Compiles no more of a page's scripts than is run: most pages are open for seconds."""


@contextlib.contextmanager
def start_chromium() -> Iterator[Any]:
    """Start the installed browser; skip the test if there is none."""
    path = require_program("browser")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS, SCRIPTS])
        yield browser
        browser.close()
