"""Measures live sessions for docs/benchmarks.md: `python -m tests.benchmarks.live`.

Each line is a process of its own, bound to one processor.
"""

import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np

from sts.live.game import Game
from sts.live.journal import Journal
from sts.live.openings import get_controls, open_recording
from sts.live.types import Participant
from sts_annotator_app.live.rooms import Room
from tests.benchmarks import measure, sizes
from tests.benchmarks.measure import Rows

AGENTS = {"lambda-star": "reader", "overcooked": "overcooked-greedy"}
LINES = (
    ("lambda-star", 0),
    ("lambda-star", 1),
    ("lambda-star", 8),
    ("overcooked", 0),
    ("overcooked", 1),
    ("overcooked", 8),
)
LIMIT = 1.2
"""The aim for the 95th percentile, as a share of the tick."""
KEYS = 60


class Page:
    """A page that notes when it is sent a frame."""

    def __init__(self) -> None:
        self.times: list[float] = []

    async def send(self, message: dict[str, Any]) -> None:
        """Note the time of a frame."""
        if message["type"] == "frame":
            self.times.append(time.monotonic())

    async def close(self, reason: str) -> None:
        """Do nothing."""


async def play(domain: str, count: int, seconds: float) -> list[Page]:
    """Play sessions at once, in each of which a person sets a task for an agent."""
    tick = get_controls(domain).tick
    people = [
        Participant("script", "setter", "setter", None),
        Participant("agent", AGENTS[domain], "solver", None),
    ]
    pages, rooms = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            opening = open_recording(domain, people)._replace(max_steps=round(seconds / tick))
            room = Room(Game.start(Path(folder, str(number)), opening), _forget, countdown=1.0)
            room.open()
            pages.append(Page())
            rooms.append(room)
            await room.enter(0, pages[-1])
        for room in rooms:
            await room.receive(0, {"type": "tell", "text": "Go to Good.", "key": "k"})
        while not all(room.game.ended for room in rooms):
            await asyncio.sleep(0.2)
        for room, page in zip(rooms, pages, strict=True):
            await room.receive(0, {"type": "done"})
            await room.leave(0, page)
        await asyncio.gather(*(room.task for room in rooms))
    return pages


async def _forget(game: Game) -> None:
    """Store nothing."""


async def sleep(domain: str, count: int, seconds: float) -> list[Page]:
    """Wait for the same ticks, and write a line at each: what the machine allows."""
    page, tick = Page(), get_controls(domain).tick
    with tempfile.TemporaryDirectory() as folder:
        journal, due = Journal(Path(folder, "journal"), new=True), time.monotonic()
        for number in range(round(seconds / tick)):
            due = max(due + tick, time.monotonic())
            await asyncio.sleep(due - time.monotonic())
            await asyncio.to_thread(journal.append, "step", sync=False, t=number)
            page.times.append(time.monotonic())
        journal.close()
    return [page]


def measure_line(domain: str, count: int) -> dict[str, float]:
    """Return the gaps between ticks in ms, CPU seconds and megabytes, on one processor."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    run: Callable[[str, int, float], Awaitable[list[Page]]] = play if count else sleep
    began = time.process_time()
    pages: Any = asyncio.run(run(domain, count, sizes.LIVE_SECONDS))  # type: ignore[arg-type]
    cpu = (time.process_time() - began) / sizes.LIVE_SECONDS / max(count, 1)
    gaps = 1e3 * np.concatenate([np.diff(page.times[2:]) for page in pages])
    middle, high, highest = np.percentile(gaps, [50, 95, 99]).tolist()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return {"p50": middle, "p95": high, "p99": highest, "cpu": 1e3 * cpu, "mb": memory}


def ticks() -> Rows:
    """Ticks of sessions that run at once."""
    for domain, count in LINES:
        words = [sys.executable, "-m", "tests.benchmarks.live", domain, str(count)]
        values = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
        aim = LIMIT * 1e3 * get_controls(domain).tick
        yield domain, count or "none: timer and file", aim, *values.values()


def keys() -> Rows:
    """Milliseconds from a key to the painted frame, in Chromium."""
    from sts_annotator_app.live.rooms import Room
    from tests.annotator_app.live.host import Host
    from tests.browser import start_chromium

    note = """addEventListener("keydown", () => (window.pressed = performance.now()), true);"""
    watch = """() => {
      window.paints = [];
      const last = document.querySelector("#host").shadowRoot.querySelector(".last");
      const painted = () => {
        if (pressed) paints.push(performance.now() - pressed);
        pressed = 0;
      };
      const soon = () => requestAnimationFrame(() => requestAnimationFrame(painted));
      const options = { childList: true, characterData: true, subtree: true };
      new MutationObserver(soon).observe(last, options);
    }"""
    with tempfile.TemporaryDirectory() as folder, start_chromium() as browser:
        host = Host(Path(folder), Room)
        session = host.open([Participant("script", "ann", "player", 0)], tick=0.25, max_steps=10**4)
        page = browser.new_page()
        page.add_init_script(note)  # before the page's own listener
        page.goto(host.url(session, "ann"))
        page.locator(".room[data-step]:not([data-step='0'])").wait_for()
        page.evaluate(watch)
        order = random.Random(0)
        for number in range(KEYS):
            page.keyboard.press("wd"[number % 2])
            page.wait_for_timeout(600 + 250 * order.random())
        times = page.evaluate("paints")
        host.close()
    yield "lambda-star", len(times), *np.percentile(times, [50, 95]).tolist()


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(measure_line(sys.argv[1], int(sys.argv[2]))))
    else:
        measure.write("bench-live", live=sys.modules[__name__])
