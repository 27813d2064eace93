"""A hundred annotators at one process: how soon they are answered, and what a day's work holds.

    python -m tests.benchmarks.load

Updates a section of docs/benchmarks.md. Each annotator is a client that speaks as a page does; the
server is `sts annotate` on this machine, in a workspace that is removed.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from sts.continuations.run import run
from sts_annotator_app.auth.browser_sessions import cookie_name
from tests.annotator_app.served.browser import SHADOWS, next_one, press
from tests.annotator_app.serving import Server, empty_workspace, quiet
from tests.annotator_app.wire import wired
from tests.benchmarks import measure
from tests.benchmarks.measure import Rows
from tests.browser import start_chromium
from tests.examples import small
from tests.waiting import PATIENCE

Pace = tuple[float, float]
"""How long a person thinks about a clip: uniformly between so many seconds and so many."""
PEOPLE = 100  # at their pages at once
PACE: Pace = (5, 10)
ALONE: Pace = (0.3, 0.6)  # the same of one who is there alone
ANSWERS, ALONE_ANSWERS = 2500, 150  # of all people at that pace, and of the one
MARKS = (1000, 5000, 10_000, 15_000, 20_000)  # answers after which the server's memory is noted
WRONG = 1000  # requests with wrong cookies
LONGEST = 3600.0  # seconds that a crowd may take
AIM = 250  # milliseconds within which 95 of 100 answers are to be acknowledged
FEW, FEW_PACE, PRESSES = 8, (1.0, 2.0), 60  # people next to a browser, and its answers
LOOK = 0.25  # seconds between two looks at how far people are


NOTE = """addEventListener("keydown", ({ key }) => {
  if (key === "Enter") window.pressed = performance.now();
}, true);"""
WATCH = f"""() => {{
  window.paints = [];
  const player = {SHADOWS}.map((root) => root.querySelector(".player")).find(Boolean);
  const painted = () => paints.push(performance.now() - pressed);
  const soon = () => requestAnimationFrame(() => requestAnimationFrame(painted));
  new MutationObserver(soon).observe(player, {{ attributeFilter: ["data-item"] }});
}}"""


class Crowd:
    """Simulated annotators, each of whom speaks with a server as a page does."""

    def __init__(self, server: Server, name: str, people: int, pace: Pace) -> None:
        self.seconds: list[float] = []  # of each answer, until all that it changed had come
        self.there = 0  # people who have their page open
        self.broken: list[str] = []  # why people could not go on
        self.people, self._server, self._pace, self._name = people, server, pace, name
        self._over = Event()

    @contextmanager
    def judging(self) -> Iterator[None]:
        """Have all people judge while the block lasts; they come one a second or so."""
        streams = np.random.default_rng(list(self._name.encode())).spawn(self.people)
        with ThreadPoolExecutor(self.people) as pool:
            for number, stream in enumerate(streams):
                pool.submit(self._judge, f"{self._name} {number}", stream)
            try:
                yield
            finally:
                self._over.set()

    def _judge(self, name: str, stream: np.random.Generator) -> None:
        try:
            self._over.wait(stream.uniform(0, self.people))
            with wired(self._server, name) as wire:
                (data,) = wire.ask()
                self.there += 1
                while not self._over.wait(stream.uniform(*self._pace)):
                    clips = [clip["id"] for clip in data["queue"]]
                    one = {"uuid": stream.bytes(16).hex(), "item": clips[0], "verdict": "not_done"}
                    sent = {"author": data["author"], "outbox": [one], "has": clips}
                    sent["midnight"] = time.time() // 86400 * 86400
                    began = time.perf_counter()
                    (data,) = wire.ask(json.dumps(sent))
                    seconds = time.perf_counter() - began
                    acks = [(ack["uuid"], ack["status"]) for ack in data["acks"]]
                    if acks != [(one["uuid"], "saved")]:
                        raise AssertionError(f"expected the answer to be saved, found {acks}")
                    self.seconds.append(seconds)
        except Exception as error:  # raised by the thread that waits for the answers
            self.broken.append(f"{name}: {error!r}")


class Loaded:
    """A server and what is measured on it, one table after the other."""

    def __init__(self, folder: Path) -> None:
        """Start it, on clips that each person may judge."""
        workspace = empty_workspace(folder)
        settings = folder / "workspace.toml"
        text = settings.read_text().replace("clip = 40", f"clip = {PEOPLE + 1}")
        settings.write_text(text)
        # So many clips that the first person has not judged all before the last has come.
        names, every = ("random", "local-search", "stigmergy"), small(workspace).scenarios
        run(workspace, every, names, count=3, seed=0, workers=1, progress=quiet)
        self.server = Server(folder)
        self.server.start()

    def judge(
        self,
        crowd: Crowd,
        answers: int,
        marks: Sequence[int] = (),
        at: Callable[[int], None] = lambda count: None,
    ) -> tuple[np.ndarray, float, float]:
        """Have a crowd judge until it has given so many answers, once all are there.

        Calls `at` with each of `marks` once that many are given. Exits if an answer is not kept, or
        if the crowd takes longer than `LONGEST`.

        Returns:
          The milliseconds of each answer, the seconds of all, and the server's CPU seconds.
        """
        left, end = list(marks), time.perf_counter() + LONGEST

        def until(done: Callable[[], bool]) -> float:
            """Return when it is done, or when it can no longer be."""
            while not done() and not crowd.broken and time.perf_counter() < end:
                while left and len(crowd.seconds) >= left[0]:
                    at(left.pop(0))
                time.sleep(LOOK)
            return time.perf_counter()

        with crowd.judging():
            began = until(lambda: crowd.there == crowd.people)
            first, before = len(crowd.seconds), self.cpu()
            ended = until(lambda: len(crowd.seconds) >= first + answers and not left)
            cpu, seconds = self.cpu() - before, crowd.seconds[first:]
        if crowd.broken or len(seconds) < answers or left:
            raise SystemExit(f"{len(seconds)} of {answers} answers; {crowd.broken[:1]}")
        return 1000 * np.array(seconds), ended - began, cpu

    def cpu(self) -> float:
        ticks = (self._process() / "stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        lines = (self._process() / "status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if "VmRSS" in line)

    def _process(self) -> Path:
        assert self.server.process
        return Path("/proc") / str(self.server.process.pid)

    def acknowledgement(self) -> Rows:
        """How soon an answer is acknowledged, to one person alone and to each of many."""
        for what, name, people, pace, answers, aim in (
            ("one, alone", "alone", 1, ALONE, ALONE_ANSWERS, None),
            (f"{PEOPLE} at once", "person", PEOPLE, PACE, ANSWERS, AIM),
        ):
            took, seconds, cpu = self.judge(Crowd(self.server, name, people, pace), answers)
            quantiles, count = np.quantile(took, (0.5, 0.95, 1)).tolist(), len(took)
            each = 1000 * cpu / count
            yield what, count, count / seconds, aim, *quantiles, each, os.getloadavg()[0]

    def frames(self) -> Rows:
        """Yield how soon after Enter the next episode is painted, while others judge as well."""
        with start_chromium() as browser:
            for people in (0, FEW):
                page = browser.new_page()
                page.add_init_script(NOTE)
                self.server.let_in(page.context, f"in a browser, with {people}")
                crowd = Crowd(self.server, f"next to {people}", people or 1, FEW_PACE)
                with crowd.judging() if people else contextlib.nullcontext():
                    page.goto(self.server.url("/"))
                    next_one(page)
                    page.evaluate(WATCH)
                    for _ in range(PRESSES):
                        press(page, "n", "Enter")
                        page.wait_for_timeout(700)
                took = page.evaluate("paints")
                page.close()
                if crowd.broken:
                    raise SystemExit(str(crowd.broken[:1]))
                yield (
                    people,
                    len(took),
                    *np.quantile(took, (0.5, 0.95)).tolist(),
                    os.getloadavg()[0],
                )

    def strangers(self) -> Rows:
        """What requests with wrong cookies cost, and whether a right one is heard among them."""
        name, right = cookie_name(self.server.place), self.server.secret("a person")
        for what, secrets in (
            ("wrong", [f"{number:064x}" for number in range(WRONG)]),
            ("right, after them", [right] * (WRONG // 10)),
        ):
            cpu, megabytes, took, found = self.cpu(), self.megabytes(), [], set()
            line = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
            for secret in secrets:
                began = time.perf_counter()
                line.request("GET", "/", headers={"Cookie": f"{name}={secret}"})
                answer = line.getresponse()
                answer.read()
                found.add(answer.status)
                took.append(1000 * (time.perf_counter() - began))
            line.close()
            (status,) = found
            each, more = 1000 * (self.cpu() - cpu) / len(took), self.megabytes() - megabytes
            yield what, len(took), status, *np.quantile(took, (0.5, 1)).tolist(), each, more

    def day(self) -> Rows:
        """What the server holds in the course of a day's work."""
        rows: list[tuple[Any, ...]] = []
        began, before = time.perf_counter(), self.cpu()

        def note(count: int) -> None:
            held, slope = self.megabytes(), None
            if rows:
                slope = 1000 * (held - rows[-1][1]) / (count - rows[-1][0])
            cpu = 1000 * (self.cpu() - before) / count
            rows.append((count, held, slope, time.perf_counter() - began, cpu))

        self.judge(Crowd(self.server, "worker", PEOPLE, (0, 0)), 1, MARKS, note)
        return rows


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        loaded = Loaded(Path(name))
        try:
            measure.write("bench-large", load=sys.modules[__name__], server=loaded)
        finally:
            loaded.server.close()
