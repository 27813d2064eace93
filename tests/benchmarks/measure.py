"""Timing: medians of several runs, on a machine that is named by what it is."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple


class Sizes(NamedTuple):
    """How much is measured.

    Attributes:
      runs: of which the median is taken, after one that is not counted.
      slow: as many of what takes a second or so.
      steps: T of every episode.
      episodes: played at once.
      few: episodes that pure Python plays.
      learners: episodes that learning agents rehearse, compiled.
      rehearsals: how often they do.
      abreast: episodes that they rehearse step by step.
      repeats: how often they do.
      many: episodes that are shared among threads and processes.
      new: environments made, and stepped by Gymnasium.
      memory: numbers of episodes whose memory is compared.
      scenarios: mined in each domain.
      continuations: of each scenario and agent.
      exported: trajectories written for others to read.
      turns: that a person makes.
      candidates: of a draft that a curator opens.
      accepted: of them, one after another.
    """

    runs: int = 5
    slow: int = 3
    steps: int = 50
    episodes: int = 4000
    few: int = 20
    learners: int = 200
    rehearsals: int = 100
    abreast: int = 40
    repeats: int = 5
    many: int = 40_000
    new: int = 1000
    memory: tuple[int, ...] = (1000, 10_000, 100_000)
    scenarios: int = 160
    continuations: int = 10
    exported: int = 500
    turns: int = 400
    candidates: int = 10_000
    accepted: int = 60


class Table(NamedTuple):
    """One benchmark's result: a heading, what it says, and rows under a header."""

    title: str
    text: str
    header: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def seconds(
    work: Callable[[Any], Any], prepare: Callable[[], Any] = lambda: None, *, runs: int
) -> float:
    """Return the median seconds of `work(prepare())`, without `prepare` and a first run."""
    return alternating([(work, prepare)], runs=runs)[0]


def alternating(
    ways: Sequence[tuple[Callable[[Any], Any], Callable[[], Any]]], *, runs: int
) -> list[float]:
    """Return for each `(work, prepare)` what `seconds` does; they take turns, run by run."""
    taken: list[list[float]] = [[] for _ in ways]
    for run in range(runs + 1):
        for (work, prepare), own in zip(ways, taken, strict=True):
            given = prepare()
            begun = time.perf_counter()
            work(given)
            if run:
                own.append(time.perf_counter() - begun)
    return [statistics.median(own) for own in taken]


def usual() -> dict[str, str]:
    """Return the environment of commands that find modules compiled, as they usually do."""
    return {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def machine() -> str:
    """Return the processor, its cores, and the versions that speed depends on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.machine()
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba"))
    return f"{model}, {os.cpu_count()} cores; Python {platform.python_version()}, {packages}"


def cell(value: Any) -> str:
    """Return a number with three significant digits, anything else as it is."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def markdown(table: Table) -> str:
    """Return the table as Markdown under its heading."""
    rows = [table.header, ["---"] * len(table.header), *table.rows]
    body = "\n".join("| " + " | ".join(cell(c) for c in row) + " |" for row in rows)
    return f"## {table.title}\n\n{table.text}\n\n{body}\n"


class Cost(NamedTuple):
    """What a command took: seconds of processor, seconds on the clock, megabytes at most."""

    cpu: float
    wall: float
    megabytes: float


def cost(words: Sequence[str], *, fails: bool = False) -> Cost:
    """Return what a command takes, from call to exit; `fails` says that it must end in error."""
    begun = time.perf_counter()
    said = subprocess.DEVNULL if fails else None
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=said)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if bool(process.returncode) != fails:
        raise SystemExit(f"{' '.join(words)} ended with {process.returncode}")
    return Cost(used.ru_utime + used.ru_stime, time.perf_counter() - begun, used.ru_maxrss / 1024)
