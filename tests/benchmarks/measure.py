"""Timing, what a process costs, and tables and sections that are filled with what was measured."""

from __future__ import annotations

import datetime
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

ROOT = Path(__file__).resolve().parents[2]
TABLES = Path(__file__).parent / "tables"
"""Templates of each command's tables, named after its target in the Makefile."""
SECTIONS = Path(__file__).parent / "sections"
"""Templates of each command's section of the page, which quote figures of its tables."""
PAGE = ROOT / "docs/benchmarks.md"
FIGURE = re.compile(r"\{([^{}]* \| [^{}]*)\}")

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


def write(name: str, **known: Any) -> None:
    """Print the tables of a command, and update its section of docs/benchmarks.md."""
    tables = write_tables(name, **known)
    section = fill_figures((SECTIONS / f"{name}.md").read_text(), tables)
    section = Template().format(section, **describe_machine(), **known)
    PAGE.write_text(replace_section(PAGE.read_text(), name, section))


def write_tables(name: str, **known: Any) -> str:
    """Fill a command's tables, print each once it is measured, and write them to build/."""
    parts = []
    for part in re.split(r"(?m)^(?=## )", (TABLES / f"{name}.md").read_text()):
        parts.append(Template().format(part, **describe_machine(), **known))
        print(parts[-1], file=sys.stderr, flush=True)
    path = ROOT / f"build/benchmarks/{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(parts))
    return "".join(parts)


def describe_machine() -> dict[str, Any]:
    """Return what every template may name: sizes, the machine and the date."""
    date = f"{datetime.date.today():%-d %B %Y}"
    return {"sizes": sizes, "machine": machine(), "date": date}


def fill_figures(section: str, tables: str) -> str:
    """Replace the references of each line by figures, and `{first / second}` by a ratio.

    In a reference, `..` is the heading and row of the one before it. A line's last figure is its
    second.
    """
    lines = []
    for line in section.splitlines(keepends=True):
        figures, row = [], ""
        for reference in FIGURE.findall(line):
            row, _, column = reference.replace("..", row).rpartition(" | ")
            figures.append(read_figure(tables, f"{row} | {column}"))
            line = line.replace(f"{{{reference}}}", figures[-1], 1)
        if figures:
            first, second = figures[0], figures[-1]
            line = line.replace("{first / second}", divide(first, second))
            line = line.replace("{second / first}", divide(second, first))
        lines.append(line)
    return "".join(lines)


def divide(one: str, other: str) -> str:
    """Return the ratio of two cells that start with a number; "" if one was not measured."""
    try:
        return cell(float(one.partition(" ")[0]) / float(other.partition(" ")[0]))
    except ValueError:
        return ""


def read_figure(tables: str, reference: str) -> str:
    """Return the cell that a reference names: `heading | first cells of its row | column`.

    Raises:
      LookupError: no table under that heading has such a row and column.
    """
    heading, *first, column = reference.split(" | ")
    under = f"\n{tables}".partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    columns: list[str] = []
    for line in under.splitlines():
        cells = [one.strip() for one in line[1:-1].split("|")]
        if not line.startswith("|"):
            columns = []
        elif not columns:
            columns = cells
        elif column in columns and cells[: len(first)] == first:
            return cells[columns.index(column)]
    raise LookupError(f"no table has {reference!r}")


def replace_section(page: str, name: str, section: str) -> str:
    """Return a page with other text between the two comments that name a section."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, rest = page.split(start)
    return f"{before}{start}\n\n{section}\n{end}{rest.partition(end)[2]}"
