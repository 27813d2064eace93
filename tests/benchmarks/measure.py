"""Timing, what a process costs, and pages that are filled with what was measured."""

from __future__ import annotations

import math
import os
import platform
import re
import statistics
import string
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from tests.benchmarks import sizes

TEMPLATES = Path(__file__).parent / "pages"
DOCS = Path(__file__).resolve().parents[2] / "docs"

Rows = Iterable[tuple[Any, ...]]


def alternating(ways: Sequence[tuple[Callable[..., Any], ...]], *, runs: int) -> list[float]:
    """Return the median seconds of each way; they take turns, and the first turn is not counted.

    A way is what is timed and, if that has an argument, what makes it before the clock starts.
    """
    taken: list[list[float]] = [[] for _ in ways]
    for run in range(runs + 1):
        for (work, *prepare), own in zip(ways, taken, strict=True):
            given = [one() for one in prepare]
            begun = time.perf_counter()
            work(*given)
            if run:
                own.append(time.perf_counter() - begun)
    return [statistics.median(own) for own in taken]


def seconds(*way: Callable[..., Any], runs: int) -> float:
    return alternating([way], runs=runs)[0]


@contextmanager
def clocks(
    places: Mapping[str, tuple[Any, str]], clock: Callable[[], float] = time.process_time
) -> Iterator[dict[str, float]]:
    """Yield the seconds, of processor unless told, that are spent in each place from now on."""
    taken = dict.fromkeys(places, 0.0)

    def timed(place: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def clocked(*given: Any, **named: Any) -> Any:
            begun = clock()
            try:
                return call(*given, **named)
            finally:
                taken[place] += clock() - begun

        return clocked

    with ExitStack() as stack:
        for place, (owner, name) in places.items():
            stack.enter_context(patch.object(owner, name, timed(place, getattr(owner, name))))
        yield taken


def exponent(few: float, many: float, cost_of_few: float, cost_of_many: float) -> float:
    """Return the power of a number with which a cost grows: 1 if it grows as the number does."""
    return math.log(cost_of_many / cost_of_few) / math.log(many / few)


class Cost(NamedTuple):
    """What a process took from call to exit."""

    wall: float  # seconds
    own: float  # CPU seconds
    workers: float  # CPU seconds of its children
    megabytes: float  # the most that the process itself held
    out: str

    @property
    def cpu(self) -> float:
        return self.own + self.workers


# /proc knows what a process itself has held; getrusage also counts what its parent held.
USED = """
import atexit, contextlib, resource, sys

def used():
    if server := sys.modules.get("multiprocessing.forkserver"):
        with contextlib.suppress(FileNotFoundError):  # its socket is gone already
            server._forkserver._stop()  # whose CPU time is counted when it has ended
    with open("/proc/self/status") as status:
        (peak,) = (line.split()[1] for line in status if line.startswith("VmHWM"))
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(*(one.ru_utime + one.ru_stime for one in both), peak, file=sys.stderr)

atexit.register(used)
"""
STS = "from sts.cli.main import main; sys.exit(main())"


def cost(code: str, *words: str, fails: bool = False) -> Cost:
    """Return what Python code takes with `words` as its arguments; `fails`: it must fail."""
    begun = time.perf_counter()
    command = [sys.executable, "-c", USED + code, *words]
    done = subprocess.run(command, env=compiling(), capture_output=True, text=True)
    wall = time.perf_counter() - begun
    if bool(done.returncode) != fails:
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}: {done.stderr}")
    own, workers, peak = done.stderr.split()[-3:]
    return Cost(wall, float(own), float(workers), int(peak) / 1024, done.stdout)


def compiling() -> dict[str, str]:
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
    if not isinstance(value, float):
        return "" if value is None else str(value)
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


class Template(string.Formatter):
    """Fills a page: a field is a value, or a function that returns one or the rows of a table."""

    def format_field(self, value: Any, spec: str) -> str:
        if callable(value):
            value = value()
        if isinstance(value, Iterable) and not isinstance(value, str):
            return "\n".join(f"| {' | '.join(map(cell, row))} |" for row in value)
        return format(value, spec)


def write(page: str, **known: Any) -> None:
    """Fill the template of a page section by section, print it, and write it to docs/."""
    sections = re.split(r"(?m)^(?=## )", (TEMPLATES / page).read_text())
    parts = []
    for section in sections:
        parts.append(Template().format(section, sizes=sizes, machine=machine(), **known))
        print(parts[-1], file=sys.stderr, flush=True)
    (DOCS / page).write_text("".join(parts))
