"""What a person waits for: the command line's start-up, and a suite run by several agents."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, NamedTuple

from sts.continuations.run import run
from sts.storage.workspace import Workspace
from sts.suites import store
from tests.benchmarks.measure import Sizes, Table, seconds, usual

AGENTS = ("random", "blind", "local-search", "stigmergy", "rule")
FRONT = {"--help": 10, "suite ls": 10, "run --agents": 10, "--version": None, "run --help": None}
"""Command lines that import nothing heavy, and how many times an empty Python each may take."""
SCRIPT = "import sys; from sts.cli.main import main; sys.exit(main())"


class Cost(NamedTuple):
    """Seconds on the clock, and of processor."""

    wall: float
    cpu: float


def start_up(sizes: Sizes) -> Table:
    """What the command line takes to answer, beside a Python that does nothing."""
    taken: dict[str, list[Cost]] = {"": [], **{words: [] for words in FRONT}}
    with tempfile.TemporaryDirectory() as folder:
        for run in range(sizes.runs + 1):
            for words, own in taken.items():
                cost = _answered(words, folder)
                own += [cost] if run else []
    medians = {
        words: Cost(*(statistics.median(column) for column in zip(*own, strict=True)))
        for words, own in taken.items()
    }
    empty = medians.pop("")
    rows: list[tuple[Any, ...]] = [("an empty Python", None, *empty, 1.0)]
    rows += [
        (f"sts {words}", FRONT[words], *cost, cost.cpu / empty.cpu)
        for words, cost in medians.items()
    ]
    return Table(
        "Start-up",
        "Seconds from call to exit, on the clock and of processor, and how many times the "
        "processor of a Python that does nothing; they take turns. `sts run --agents` is refused, "
        "as there is no such flag.",
        ("command", "aim, times", "seconds", "CPU seconds", "times an empty Python"),
        rows,
    )


def _answered(words: str, folder: str) -> Cost:
    """Return what an answer takes to a command line, or Python alone to "" where there is none."""
    code = SCRIPT if words else "pass"
    before, begun = _of_children(), time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", code, *words.split()], cwd=folder, env=usual(), capture_output=True
    )
    return Cost(time.perf_counter() - begun, _of_children() - before)


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def continuations(sizes: Sizes) -> Table:
    """Seconds for the packaged suite, continued by each agent and by all."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        scenarios = store.load(Workspace.open(folder), "core@2").scenarios

        def fresh() -> Workspace:
            return Workspace.open(tempfile.mkdtemp(dir=folder))

        for name in AGENTS:

            def work(workspace, name=name):
                run(
                    workspace,
                    scenarios,
                    [name],
                    count=sizes.continuations,
                    seed=0,
                    workers=1,
                    progress=lambda done, total: None,
                )

            taken = seconds(work, fresh, runs=sizes.slow)
            rows.append((name, taken, len(scenarios) * sizes.continuations / taken))
    return Table(
        "Continuations",
        f"Seconds to continue {len(scenarios)} scenarios {sizes.continuations} times, with every "
        "replayed step checked and every file written, in one process; kernels were compiled "
        "before.",
        ("agent", "seconds", "continuations a second"),
        rows,
    )
