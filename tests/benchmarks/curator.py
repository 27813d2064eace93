"""What a curator waits for on a large draft: the page to open, and the next candidate.

    python -m tests.benchmarks.curator

prints the table alone. The draft is synthetic: scenarios of a few worlds, many times, each under an
id of its own.
"""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from sts.storage.workspace import Workspace
from sts.suites import drafts
from tests.annotator_app.serving import FLAGS, Server
from tests.benchmarks.measure import Sizes, Table, machine, markdown
from tests.examples import scenarios

NAME = "large"
WORLDS = 16
# When the page began to load, and when A was pressed, to the first frame after it.
NOTE = """
addEventListener("keydown", (event) => { window.pressedAt = event.timeStamp; }, true);
const after = (done) => requestAnimationFrame(() => setTimeout(done));
const find = () => {
  const roots = [...document.querySelectorAll("*")].map((one) => one.shadowRoot).filter(Boolean);
  const page = roots.map((root) => root.querySelector(".curate")).find(Boolean);
  if (!page?.querySelector(".stage:not([hidden]) canvas")) return setTimeout(find, 5);
  after(() => { window.firstFrame = performance.now(); });
  window.latencies = [];
  new MutationObserver(() => after(() => window.latencies.push(performance.now() - pressedAt)))
    .observe(page, { attributeFilter: ["data-candidate"] });
};
find();
"""


def draft(folder: Path, count: int) -> None:
    """Make a draft of `count` candidates in a workspace."""
    few = scenarios(WORLDS)
    every = [dataclasses.replace(few[n % WORLDS], id=f"walk-{n + 1:02d}") for n in range(count)]
    drafts.begin(Workspace.open(str(folder)).ensure(), NAME, every)


def table(sizes: Sizes) -> Table:
    """Milliseconds to a first frame, in a browser."""
    with tempfile.TemporaryDirectory() as place:
        draft(Path(place), sizes.candidates)
        server = Server(Path(place), NAME)
        try:
            server.start()
            opened, nexts = measured(server, sizes)
        finally:
            server.close()
    rows = [("the page is opened", *spread(opened)), ("A, to the next candidate", *spread(nexts))]
    return Table(
        "A curator's page",
        f"Milliseconds to the first frame in headless Chromium, on a draft of {sizes.candidates} "
        f"candidates: {len(opened)} times opened, {len(nexts)} candidates "
        "accepted one after another, each as soon as the one before it is saved.",
        ("", "median", "95%"),
        rows,
    )


def measured(server: Server, sizes: Sizes) -> tuple[list[float], list[float]]:
    """Return the milliseconds of each opening of the page, and of each candidate accepted."""
    from playwright.sync_api import sync_playwright

    opened: list[float] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        for _ in range(sizes.runs):
            page = _opened(browser, server)
            opened.append(page.evaluate("window.firstFrame"))
        for n in range(sizes.accepted):
            page.keyboard.press("a")
            page.wait_for_function(f"() => window.latencies.length > {n}")
            page.locator(".progress", has_text="all saved").wait_for(state="attached")
        nexts = page.evaluate("window.latencies")
        browser.close()
    return opened, nexts


def _opened(browser: Any, server: Server) -> Any:
    """Return a page that was just opened, in a profile of its own, at its first frame."""
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    context.add_init_script("localStorage['sts:curate:settings'] ??= '{\"autoplay\": false}'")
    context.add_init_script(NOTE)
    page = context.new_page()
    server.let_in(context, "Ana", ("curator",))
    page.goto(server.url("/"))
    page.wait_for_function("() => window.firstFrame !== undefined")
    return page


def spread(values: list[float]) -> tuple[float, float]:
    """Return the median, and below what 95% are."""
    return median(values), quantiles(values, n=20)[-1]


if __name__ == "__main__":
    print(machine())
    print(markdown(table(Sizes())))
