"""A suite continued by six agents at once: what `sts run` takes from call to exit, and where."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from sts.continuations import parts
from sts.continuations.run import run
from sts.engine import sampling
from sts.engine.session import Session
from sts.errors import StsError
from sts.storage.workspace import Workspace
from sts.suites import store
from sts.suites.types import Scenario, Suite
from sts.worlds.lambda_star.domain import Batch
from tests.benchmarks import continued
from tests.benchmarks.measure import Sizes, Table, usual

LABEL = "wide@1"
AIM, IDLE_AIM = 5.0, 1.0
COMPILED = ("random", "blind", "local-search", "stigmergy", "rule", "bidding")
GENERAL = tuple(f"greedy_wide:Greedy{i}" for i in range(len(COMPILED)))
OWN = """
from sts.agents import Agent, Choice


class Greedy(Agent):
    def act(self, observation, instructions, memory, draws):
        best = observation.reward == observation.reward.max(-1, keepdims=True)
        return Choice(best.astype(float)), memory
""" + "".join(
    f"\n\nclass Greedy{i}(Greedy):\n    name = 'greedy-{i}'\n" for i in range(len(COMPILED))
)
"""Policies of somebody's own, alike but for their names."""
CALLED = """
import resource, sys
from sts.cli.main import main

code = main(sys.argv[1:])
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(*(one.ru_utime + one.ru_stime for one in used), file=sys.stderr)
sys.exit(code)
"""
WAYS = (("six that are compiled", COMPILED), ("six policies in NumPy", GENERAL))


class Cost(NamedTuple):
    """Seconds from call to exit, and of processor: the command's own, and its workers' together."""

    wall: float
    own: float
    workers: float


def tables(sizes: Sizes) -> Iterator[Table]:
    """Yield what a run takes, and where one process spends it."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("greedy_wide.py").write_text(OWN)
        scenarios = _scenarios(Path("mined"), sizes)
        yield _called(scenarios, sizes)
        yield _spent(scenarios, sizes)


def _scenarios(folder: Path, sizes: Sizes) -> tuple[Scenario, ...]:
    """Return scenarios of Λ* with as many steps after the takeover as episodes have elsewhere."""
    every = continued.mined(continued.DOMAINS["lambda-star"], folder, sizes.scenarios)
    return tuple(dataclasses.replace(one, horizon=sizes.steps) for one in every)


def _called(scenarios: tuple[Scenario, ...], sizes: Sizes) -> Table:
    name, _, version = LABEL.partition("@")
    suite, rows = Suite(name, int(version), None, "", scenarios, {}), []
    for title, names in WAYS:
        _cost(_workspace(f"warm-{names[0]}", suite), names, 1, workers=1)
        for workers in (1, 2):
            workspace = _workspace(f"{names[0]}-{workers}", suite)
            cost = _cost(workspace, names, sizes.continuations, workers=workers)
            ours = names == COMPILED and workers == 2
            path = cost.own + cost.workers / workers if workers > 1 else cost.own
            rows.append((title, f"{workers}", AIM if ours else None, *cost, path))
        idle = _cost(workspace, names, sizes.continuations, workers=2)
        ours = names == COMPILED
        rows.append((f"{title}, nothing to do", "2", IDLE_AIM if ours else None, *idle, idle.own))
    made = len(scenarios) * sizes.continuations * len(COMPILED)
    return Table(
        "A suite, continued by six agents",
        f"Seconds of `sts run` from call to exit, for {len(scenarios)} scenarios, "
        f"{sizes.continuations} continuations each and six agents, {sizes.steps} steps after the "
        f"takeover: {made} continuations, replayed, checked, played and written; once, after a "
        "small run. Kernels and modules were compiled before. Beside the seconds on the clock "
        "those of processor: the command's own, and its workers' together, each of which imports "
        "and loads what it needs first. The *critical path* is the command's own and the longest "
        "that a worker takes where they share evenly, so what the clock would show where every "
        "process has a core.",
        ("agents", "workers", "aim", "seconds", "CPU, own", "CPU, workers", "critical path"),
        rows,
    )


def _workspace(folder: str, suite: Suite) -> Workspace:
    """Return a new workspace in which the suite is frozen."""
    workspace = Workspace.open(folder).ensure()
    store.write(workspace.path("suites", suite.name, str(suite.version)), suite)
    return workspace


def _cost(workspace: Workspace, names: tuple[str, ...], count: int, *, workers: int) -> Cost:
    flags = [word for name in names for word in ("--agent", name)]
    amount = ["--continuations", str(count), "--workers", str(workers)]
    where = ["--workspace", str(workspace.root)]
    words = [sys.executable, "-c", CALLED, "run", LABEL, *flags, *amount, *where]
    begun = time.perf_counter()
    done = subprocess.run(words, env=usual(), capture_output=True, text=True)
    wall = time.perf_counter() - begun
    if done.returncode:
        raise StsError(f"sts run failed: {done.stderr}")
    own, others = map(float, done.stderr.split()[-2:])
    return Cost(wall, own, others)


PLACES: dict[str, tuple[Any, str]] = {
    "agents": (Session, "_asked"),
    "what they see": (Session, "observe"),
    "draws and checks": (sampling, "sampled"),
    "log-probabilities": (sampling, "log_probs"),
    "worlds": (Batch, "step"),
    "states": (Batch, "states"),
    "writing": (parts, "put"),
}
"""Where a run spends its time; none of these calls another."""


def _spent(scenarios: tuple[Scenario, ...], sizes: Sizes) -> Table:
    """What one process, which has begun before, spends where."""
    rows = []
    for title, names in WAYS:
        with _clocks() as taken:
            begun = time.process_time()
            _run(Path(f"spent-{names[0]}"), scenarios, names, sizes)
            total = time.process_time() - begun
        shares = [100 * own / total for own in taken.values()]
        rows.append((title, total, *shares, 100 - sum(shares)))
    return Table(
        "What bounds a run",
        "The same runs in a process that has done one: seconds of processor, and the share of "
        "them, in percent, that goes into the agents' own code, into showing what they see, into "
        "drawing and checking what they choose, into the log-probability of what was done, into "
        "moving the worlds, into serialising them at the takeover, and into writing; *rest* is the "
        "plan, the fingerprints, the recording and all that holds these together.",
        ("agents", "CPU seconds", *PLACES, "rest"),
        rows,
    )


def _run(folder: Path, scenarios: tuple[Scenario, ...], names: tuple[str, ...], s: Sizes) -> None:
    run(
        Workspace.open(str(folder)),
        scenarios,
        names,
        count=s.continuations,
        seed=0,
        workers=1,
        progress=lambda done, total: None,
    )


@contextmanager
def _clocks() -> Iterator[dict[str, float]]:
    """Yield the seconds of processor that are spent in each of `PLACES` from now on."""
    taken = dict.fromkeys(PLACES, 0.0)

    def timed(place: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def clocked(*given: Any, **named: Any) -> Any:
            begun = time.process_time()
            try:
                return call(*given, **named)
            finally:
                taken[place] += time.process_time() - begun

        return clocked

    with ExitStack() as stack:
        for place, (owner, name) in PLACES.items():
            stack.enter_context(patch.object(owner, name, timed(place, getattr(owner, name))))
        yield taken
