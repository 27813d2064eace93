"""What a curator waits for: changes of a candidate, a response profile, and the page itself."""

from __future__ import annotations

import dataclasses
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from sts.suites import drafts
from sts.suites.suite import Scenario
from sts.trajectories import trajectory_store as trajectories
from sts_scenarios.draft.editing import Editor
from sts_scenarios.rules import categories
from sts_scenarios.rules.profiles import compute_profile
from tests.annotator_app.serving import Server
from tests.benchmarks import sizes
from tests.benchmarks.domains import MINED, mined
from tests.benchmarks.measure import Rows, exponent
from tests.browser import start_chromium
from tests.examples import scenarios

AIM = 100
"""Milliseconds of a change."""
WORLDS = 16
"""The draft of the page has scenarios of so many worlds, many times, each under its own id."""
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
SETTINGS = "localStorage['sts:curate:settings'] ??= '{\"autoplay\": false}'"


def changes() -> Rows:
    """Milliseconds of processor that each change takes, once its candidate is open."""
    for name in MINED:
        with tempfile.TemporaryDirectory() as folder:
            every = mined(name, Path(folder), sizes.EDITED)
            taken = change_times(Workspace.open(folder), every)
        for what, own in taken.items():
            aim = AIM if what.startswith("another") else None
            yield name, what, aim, statistics.median(own), max(own)


def possible_changes(one: Scenario) -> Iterator[tuple[str, dict[str, Any]]]:
    step = one.step
    yield from (("another takeover", {"takeover": step + by}) for by in (-2, -1, 1, 2))
    yield from (("another length", {"horizon": one.horizon + by}) for by in (-2, -1))
    templates = len(categories.load_category(one.category).templates)
    yield from (("another wording", {"template": n}) for n in range(templates))


def change_times(workspace: Workspace, every: Sequence[Scenario]) -> Mapping[str, list[float]]:
    """Return what each change of each candidate took, in milliseconds."""
    out: dict[str, list[float]] = defaultdict(list)
    open_editor(workspace, every[0])
    compute_profile(every[0], continuations=1)
    for one in every:
        begun = time.process_time()
        editor = open_editor(workspace, one)
        out["opened"].append(1e3 * (time.process_time() - begun))
        for what, change in possible_changes(one):
            begun = time.process_time()
            try:
                editor.preview(change)
            except ArgumentError:  # the trajectory has no such steps
                continue
            out[what].append(1e3 * (time.process_time() - begun))
        begun = time.process_time()
        compute_profile(one)
        out["profile"].append(1e3 * (time.process_time() - begun))
    return out


def open_editor(workspace: Workspace, one: Scenario) -> Editor:
    editor = Editor(one, trajectories.find_trajectory(workspace, one.trajectory))
    editor.preview({})
    return editor


def page() -> Rows:
    """Milliseconds to a first frame, in a browser: the median, and what 95% are below."""
    few = scenarios(WORLDS)
    fewer: list[float] = []
    for count in (sizes.CANDIDATES // 10, sizes.CANDIDATES):
        every = [dataclasses.replace(few[n % WORLDS], id=f"walk-{n + 1:02d}") for n in range(count)]
        with tempfile.TemporaryDirectory() as folder:
            drafts.create_draft(Workspace.open(folder).create(), "large", every)
            with Server(Path(folder), "large") as server:
                both = page_times(server)
        medians = [statistics.median(own) for own in both]
        for n, what in enumerate(("the page is opened", "A, to the next candidate")):
            most = statistics.quantiles(both[n], n=20)[-1]
            growth = exponent(1, 10, fewer[n], medians[n]) if fewer else None
            yield what, str(count), medians[n], most, growth
        fewer = medians


def page_times(server: Server) -> tuple[list[float], list[float]]:
    """Return the milliseconds of each opening of the page, and of each candidate accepted."""
    opened: list[float] = []
    with start_chromium() as browser:
        for _ in range(sizes.OPENED):
            context = browser.new_context(viewport={"width": 1366, "height": 768})
            context.add_init_script(SETTINGS)
            context.add_init_script(NOTE)
            page = context.new_page()
            server.let_in(context, "Ana", ("curator",))
            page.goto(server.url("/"))
            page.wait_for_function("() => window.firstFrame !== undefined")
            opened.append(page.evaluate("window.firstFrame"))
        for n in range(sizes.ACCEPTED):
            page.keyboard.press("a")  # what does not fit is accepted if A is pressed again
            page.keyboard.press("a")
            page.wait_for_function(f"() => window.latencies.length > {n}")
            page.locator(".progress", has_text="all saved").wait_for(state="attached")
        nexts = page.evaluate("window.latencies")
    return opened, nexts
