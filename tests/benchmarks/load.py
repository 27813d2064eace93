"""A hundred annotators at one process: how soon they are answered, and what a day's work holds.

    python -m tests.benchmarks.load [ANSWERS]

Writes docs/benchmarks_load.md. Each annotator is a websocket that speaks as a page does; the server
is `sts annotate` on this machine, in a workspace that is removed.
"""

from __future__ import annotations

import http.client
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sts.continuations.run import run
from sts_annotator_app.auth import cookie_name
from tests.annotator_app.serving import PATIENCE, Server, empty_workspace, quiet
from tests.benchmarks.crowd import Crowd, Pace
from tests.benchmarks.measure import Table, machine, markdown
from tests.examples import small

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks_load.md"
AGENTS = ("random", "local-search", "stigmergy")
AIM = 250
"""Milliseconds within which 95 of 100 answers are to be acknowledged."""
LOOK = 0.25
"""Seconds between two looks at how far people are."""


class Size(NamedTuple):
    """How much is measured.

    Attributes:
      people: at their pages at once.
      pace: seconds that each of them thinks.
      alone: the same of one who is there alone.
      answers: of all people at that pace.
      alone_answers: of the one.
      marks: numbers of answers of a day's work, given without a pause, after which the server's
        memory is looked at; the last is all.
      wrong: requests with wrong cookies.
      longest: seconds that each of these may take.
    """

    people: int = 100
    pace: Pace = Pace(5, 10)
    alone: Pace = Pace(0.3, 0.6)
    answers: int = 2500
    alone_answers: int = 150
    marks: tuple[int, ...] = (1000, 5000, 10_000, 15_000, 20_000)
    wrong: int = 1000
    longest: float = 3600


class Used(NamedTuple):
    """What the server has used by now: seconds of processor, and megabytes that it holds."""

    cpu: float
    megabytes: float


def used(server: Server) -> Used:
    """Return what a server has used by now."""
    assert server.process
    place = Path("/proc") / str(server.process.pid)
    ticks = (place / "stat").read_text().rpartition(")")[2].split()[11:13]
    (held,) = (line for line in (place / "status").read_text().splitlines() if "VmRSS" in line)
    cpu = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    return Used(cpu, int(held.split()[1]) / 1024)


class Measured(NamedTuple):
    """What a crowd met: milliseconds of each answer, and seconds of all and of the server's."""

    milliseconds: np.ndarray
    seconds: float
    cpu: float


def measured(
    server: Server,
    crowd: Crowd,
    answers: int,
    longest: float,
    marks: Sequence[int] = (),
    at: Callable[[int], None] = lambda count: None,
) -> Measured:
    """Has a crowd judge until it has given so many answers, once everybody is there.

    Args:
      server: which they judge at.
      crowd: of people who have not begun yet.
      answers: that they give.
      longest: seconds after which they are stopped.
      marks: numbers of answers.
      at: called with each of these once that many are given.

    Raises:
      SystemExit: an answer was not kept, or they are not done in time.
    """
    left, end = list(marks), time.perf_counter() + longest

    def until(done: Callable[[], bool]) -> float:
        """Return when it is, or when it can no longer be."""
        while not done() and not crowd.broken and time.perf_counter() < end:
            while left and len(crowd.seconds) >= left[0]:
                at(left.pop(0))
            time.sleep(LOOK)
        return time.perf_counter()

    with crowd.judging():
        began = until(lambda: crowd.there == crowd.people)
        first, before = len(crowd.seconds), used(server).cpu
        ended = until(lambda: len(crowd.seconds) >= first + answers and not left)
        cpu, seconds = used(server).cpu - before, crowd.seconds[first:]
    if crowd.broken or len(seconds) < answers or left:
        raise SystemExit(f"{len(seconds)} of {answers} answers; {crowd.broken[:1]}")
    return Measured(1000 * np.array(seconds), ended - began, cpu)


def served(folder: Path, people: int) -> Server:
    """Return a server that has begun, on clips that each of so many people may judge."""
    workspace = empty_workspace(folder)
    settings = folder / "workspace.toml"
    settings.write_text(settings.read_text().replace("required = 40", f"required = {people + 1}"))
    scenarios = small(workspace).scenarios
    # So many clips that who comes first has not judged all of them before the last has come.
    run(workspace, scenarios, AGENTS, count=3, seed=0, workers=1, progress=quiet)
    server = Server(folder)
    server.start()
    return server


def acknowledgement(server: Server, size: Size) -> Table:
    """How soon an answer is acknowledged, to one person alone and to each of many."""
    rows: list[tuple[object, ...]] = []
    alone = Crowd(server, "alone", 1, size.alone, seed=1)
    many = Crowd(server, "person", size.people, size.pace, seed=2)
    for what, crowd, answers, aim in (
        ("one, alone", alone, size.alone_answers, None),
        (f"{size.people} at once", many, size.answers, AIM),
    ):
        found = measured(server, crowd, answers, size.longest)
        took = found.milliseconds
        quantiles = (float(np.quantile(took, p)) for p in (0.5, 0.95, 1))
        rate, cpu = len(took) / found.seconds, 1000 * found.cpu / len(took)
        rows.append((what, len(took), rate, aim, *quantiles, cpu, os.getloadavg()[0]))
    return Table(
        "An answer's acknowledgement",
        f"{size.people} people judge at pages of one `sts annotate` on SQLite, each thinking "
        f"{size.pace.least:g} to {size.pace.most:g} seconds about a clip, evenly drawn; and, "
        f"before, one alone who thinks {size.alone.least:g} to {size.alone.most:g}. They come "
        "one a second or so, and what is told begins when all are there. Milliseconds "
        "from when a page has sent its answer to when it has all that comes back: the "
        "acknowledgement, and the next clip. Beside them the answers a second, what the server "
        "spends of a processor on each, and how many processes of this machine wanted a core in "
        "the last minute, the people's one among them.",
        ("people", "answers", "a second", "aim, p95", "p50, ms", "p95, ms", "longest, ms",
         "server's CPU, ms", "load"),
        rows,
    )  # fmt: skip


def day(server: Server, size: Size) -> Table:
    """What the server holds in the course of a day's work."""
    rows: list[tuple[object, ...]] = []
    crowd = Crowd(server, "worker", size.people, Pace(0, 0), seed=3)
    began, before = time.perf_counter(), used(server)

    def note(count: int) -> None:
        now = used(server)
        slope = 1000 * (now.megabytes - rows[-1][1]) / (count - rows[-1][0]) if rows else None  # type: ignore[operator]
        cpu = 1000 * (now.cpu - before.cpu) / count
        rows.append((count, now.megabytes, slope, time.perf_counter() - began, cpu))

    measured(server, crowd, 1, size.longest, size.marks, note)
    return Table(
        "A day's work",
        f"{size.people} people give {size.marks[-1]:,} answers to one process, each the next as "
        "soon as the last is acknowledged. What the "
        "process holds, in megabytes, and what it has come to hold more, per thousand answers, "
        "since the row before; "
        "seconds on the clock, and of a processor on each answer in milliseconds.",
        ("answers", "megabytes", "more per 1,000", "seconds", "server's CPU, ms"),
        rows,
    )


def strangers(server: Server, size: Size) -> Table:
    """What requests with wrong cookies cost, and whether a right one is heard among them."""
    name, right = cookie_name(server.place), server.secret("someone")
    rows = []
    for what, secrets in (
        ("wrong", [f"{number:064x}" for number in range(size.wrong)]),
        ("right, after them", [right] * (size.wrong // 10)),
    ):
        before, took, said = used(server), [], set()
        line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        for secret in secrets:
            began = time.perf_counter()
            line.request("GET", "/", headers={"Cookie": f"{name}={secret}"})
            answer = line.getresponse()
            answer.read()
            said.add(answer.status)
            took.append(1000 * (time.perf_counter() - began))
        line.close()
        now, (status,) = used(server), said
        cpu = 1000 * (now.cpu - before.cpu) / len(took)
        rows.append(
            (
                what,
                len(took),
                status,
                *np.quantile(took, (0.5, 1)).tolist(),
                cpu,
                now.megabytes - before.megabytes,
            )
        )
    return Table(
        "Wrong cookies",
        "Requests for a page, one after the other over one connection: what they are answered, in "
        "how many milliseconds, and what the server spends on each and holds more after all.",
        ("cookies", "requests", "answer", "p50, ms", "longest, ms", "server's CPU, ms",
         "megabytes more"),
        rows,
    )  # fmt: skip


def tables(size: Size) -> Iterator[Table]:
    """Measures one thing after the other on one server."""
    with tempfile.TemporaryDirectory() as folder:
        server = served(Path(folder), size.people)
        try:
            for measure in (acknowledgement, strangers, day):
                yield measure(server, size)
        finally:
            server.close()


if __name__ == "__main__":
    text = f"# Benchmarks of a crowd\n\nWritten by `make bench-large`, on\n\n> {machine()}\n"
    marks = (
        Size().marks
        if len(sys.argv) < 2
        else tuple(int(sys.argv[1]) * n // 4 for n in (1, 2, 3, 4))
    )
    for table in tables(Size(marks=marks)):
        print(markdown(table), flush=True)
        text += f"\n{markdown(table)}"
    PAGE.write_text(text)
