"""Compares this checkout with an earlier one and prints the tables.

    python -m tests.benchmarks.versions CHECKOUT [ROW...]

CHECKOUT is a folder. Each row has one process for each of the two, which prepares its work once and
then does it whenever it is asked to. With rows, by number, only these are measured, and printed.
"""

from __future__ import annotations

import atexit
import itertools
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast
from unittest.mock import patch

from tests.benchmarks import measure
from tests.benchmarks.measure import STS, Cost, Rows, clocks, compiling, cost

HERE = Path(__file__).resolve().parents[2]
PAIRS, FEWER = 7, 3  # fewer where one takes a minute
SIX = "random", "local-search", "rule", "reader-half", "reader", "oracle"
PLAYERS, SCENARIOS = 5, 40
PEOPLE, ANSWERS, PACE = 8, 100, (1.0, 2.0)
MINED = os.environ.get("MINED", "")
"""A folder with the recordings of `make bench-mining`."""
APART = "sts.continuations.run._isolated_agents"
"""By which agents of a user are played in processes of their own."""
SERVE = """
import runpy, sys
import sts  # of the checkout whose folders stand first in the path
ours, module, row, folder = sys.argv[1:]
if ours:
    sys.path.insert(0, ours)
runpy.run_path(module)["serve"](int(row), folder)
"""

Trial = Callable[[], Sequence[float]]
"""Measures once: a number for each line of a row."""


def cpu(work: Callable[[], object]) -> float:
    """Return the processor's seconds of this process and of those that it has waited for."""
    both = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN

    def used() -> float:
        return sum(sum(resource.getrusage(one)[:2]) for one in both)

    before = used()
    work()
    return used() - before


def run_suite(folder: Path, *, count: int) -> Trial:
    """`sts run core@2` in new workspaces: CPU seconds, seconds, and those with two workers."""
    names = [word for name in SIX for word in ("--agent", name)]
    words = ["run", "core@2", *names, "--continuations", str(count)]

    def run(workers: int) -> Cost:
        more = "--workers", str(workers), "--workspace", str(folder / "w")
        taken = cost(STS, *words, *more)
        shutil.rmtree(folder / "w")
        return taken

    def trial() -> Sequence[float]:
        one, two = run(1), run(2)
        return one.cpu, one.wall, two.wall, one.wall / two.wall

    return trial


def profile(folder: Path) -> Trial:
    """CPU seconds of each part of a run of `core@2`, in a process that has run before."""
    from tests.benchmarks import batches, suites

    every, numbers = batches.load_suite().scenarios, itertools.count()

    def trial() -> Sequence[float]:
        with clocks(suites.PLACES) as spent:
            total = cpu(partial(suites.run_here, folder / str(next(numbers)), every, SIX))
        return *spent.values(), total - sum(spent.values()), total

    return trial


def run_policy(folder: Path, *, name: str, clock: Callable[[], float]) -> Trial:
    """The calls of a policy over `core@2`, as a multiple of its bare passes."""
    from sts.engine.session import Session
    from tests.benchmarks import batches

    module = folder / "wide_policy.py"
    module.write_text(batches.POLICY)
    every = batches.load_suite().scenarios
    called = Session, "_call_agent"

    def trial() -> Sequence[float]:
        with patch(APART, lambda chunk: ""), clocks({"calls": called}, clock) as spent:
            batches.run_new(str(folder), every, name=name)
        began = clock()
        batches.pass_forward(module, every)
        return (spent["calls"] / (clock() - began),)

    return trial


def run_sensitive(folder: Path) -> Trial:
    """A run of a policy that is sensitive to its batch, as a multiple of one that is not."""
    from sts.continuations.takeover import group_by_shape
    from tests.benchmarks import batches

    (folder / "wide_policy.py").write_text(batches.POLICY)
    some = max(group_by_shape(batches.load_suite().scenarios), key=len)[:SCENARIOS]

    def trial() -> Sequence[float]:
        with patch(APART, lambda chunk: ""):
            both = [
                cpu(partial(batches.run_new, str(folder), some, name=name))
                for name in ("Sensitive", "Policy")
            ]
        return (both[0] / both[1],)

    return trial


def label(folder: Path, *, suite: str, agents: Sequence[str], count: int) -> Trial:
    """Milliseconds of processor for the label of a continuation."""
    from sts.continuations.run import run
    from sts.storage.workspace import Workspace
    from sts.suites import suite_store as store
    from tests.benchmarks.domains import relabel

    workspace = Workspace.open(str(folder / "w"))
    known = store.load(workspace, suite)
    given: dict[str, Any] = {"count": count, "seed": 0, "workers": 1}
    done = run(workspace, known.scenarios, agents, progress=lambda *_: None, **given)
    total = sum(done.new.values())
    return lambda: (1000 * cpu(partial(relabel, workspace, known)) / total,)


def use_million(folder: Path) -> Trial:
    """Commands that know a million continuations: CPU seconds."""
    from sts.storage.workspace import Workspace
    from tests.benchmarks import million

    one = million.fill(Workspace.open(str(folder)).create())
    names = [word for name in million.AGENTS for word in ("--agent", name)]
    run = ["run", "million@1", *names, "--continuations", str(million.CONTINUATIONS)]
    ways = ["show", one], run
    return lambda: [cost(STS, *way, "--workspace", str(folder)).cpu for way in ways]


def mine(folder: Path) -> Trial:
    """`sts mine` for sixteen categories on recordings that stay: seconds and megabytes."""
    from tests.benchmarks import mining

    shutil.copytree(MINED, folder / "w", copy_function=os.link)
    shutil.rmtree(folder / "w/drafts", ignore_errors=True)
    flags = [word for name in mining.names() for word in ("--category", name)]
    words = ["mine", "large", "--overwrite", *flags, "--workers", "2"]

    def trial() -> Sequence[float]:
        taken = mining.cost("-m", "sts.cli.main", *words, "--workspace", str(folder / "w"))
        return taken[0], taken[2]

    return trial


def play(folder: Path, *, name: str) -> Trial:
    """Nanoseconds of an agent-step of Λ*, or of a training update."""
    from sts import agents
    from sts_lambda_star.play.practice import LEARNERS
    from tests.benchmarks import behaviours, sizes

    learns = name in LEARNERS
    made = behaviours.worlds(PLAYERS, sizes.LEARNERS if learns else sizes.EPISODES)
    if learns:
        work = behaviours.practise(name, behaviours.streams(made.index.size), sizes.REHEARSALS)
    else:
        work = behaviours.stepwise(agents.load(name), made)
    total = PLAYERS * sizes.STEPS * made.index.size * (sizes.REHEARSALS if learns else 1)

    def trial() -> Sequence[float]:
        given: Any = made.copy_arrays() if learns else behaviours.batch(made)
        return (1e9 * cpu(partial(work, given)) / total,)

    return trial


def step(folder: Path, *, name: str) -> Trial:
    """The CPU time of a bare world as a share of the batch's."""
    from sts.domains import load_domain
    from tests.benchmarks import domains, sizes

    kind, adapter = domains.KINDS[name], cast(Any, load_domain(name))
    with domains.quiet():
        states = adapter.generate(sizes.WORLDS, seed=0)
        actions = kind.actions(kind.steps, [adapter.restore_environment(one) for one in states])

    def trial() -> Sequence[float]:
        with domains.quiet():
            worlds = [adapter.restore_environment(one) for one in states]
            steps = [kind.bare(one, actions[:, i]) for i, one in enumerate(worlds)]
            bare = cpu(partial(domains.step_all, steps))
            return (bare / cpu(partial(domains.keep, adapter.restore(states), actions)),)

    return trial


def answer(folder: Path) -> Trial:
    """Milliseconds of the server's processor for an answer, while eight people judge."""
    from tests.benchmarks.load import Crowd, Loaded

    loaded, numbers = Loaded(folder), itertools.count()
    atexit.register(loaded.server.close)

    def trial() -> Sequence[float]:
        crowd = Crowd(loaded.server, f"crowd {next(numbers)}", PEOPLE, PACE)
        took, _, used = loaded.judge(crowd, ANSWERS)
        return (1000 * used / len(took),)

    return trial


class Row(NamedTuple):
    """Lines that are measured together."""

    lines: dict[str, str]  # what is measured, and what `after` is to reach
    make: Callable[[Path], Trial]  # prepares a trial in an empty folder
    pairs: int = PAIRS
    own_tests: bool = False  # the `tests` of each checkout are used, as what they speak has changed


def run_lines(count: int, goal: str, faster: str) -> dict[str, str]:
    what = f"`sts run core@2`, six agents x {count}, "
    return {
        what + "one worker, CPU s": goal,
        what + "one worker, s": "",
        what + "two workers, s": "",
        what + "one / two workers": faster,
    }


PROFILE = (
    *("agents", "observations", "draws and checks", "log-probabilities", "worlds", "states"),
    *("writing", "the rest", "all"),
)
ROWS = (
    Row(run_lines(10, "3", "1.5"), partial(run_suite, count=10)),
    Row(run_lines(30, "", "1.8"), partial(run_suite, count=30), FEWER),
    Row(
        {"a policy's calls / its bare passes, CPU": "1.2"},
        partial(run_policy, name="Policy", clock=time.process_time),
    ),
    Row(
        {"the same elsewhere, on the clock": "1.5"},
        partial(run_policy, name=f"{sys.executable}:Policy", clock=time.perf_counter),
    ),
    Row({"an agent that is sensitive / one that is not": "2"}, run_sensitive),
    *(
        Row({f"bare world / batch, CPU, {name}": "0.9"}, partial(step, name=name))
        for name in ("babyai", "overcooked", "gymnasium:CartPole-v1")
    ),
    Row(
        {"`sts label`, BabyAI, ms each": "3"},
        partial(label, suite="babyai@2", agents=["random"], count=2),
    ),
    Row({"`sts label`, Λ*, ms each": "0.06"}, partial(label, suite="core@2", agents=SIX, count=10)),
    Row(
        {"a million: `sts show`, CPU s": "1", "a million: nothing to run, CPU s": "1"},
        use_million,
        own_tests=True,
    ),
    Row({"mining a million episodes, s": "30", "the same, MB": "500"}, mine, FEWER),
    Row({"an answer, ms of the server's processor": "20"}, answer, own_tests=True),
    *(
        Row({f"an agent-step, ns, `{name}`": goal}, partial(play, name=name))
        for name, goal in {
            "random": "1/2",
            "local-search": "1/2",
            "q-learning": "1/1.6",
            "wisdom-of-the-crowd": "1/1.6",
        }.items()
    ),
    Row(dict.fromkeys(PROFILE, ""), profile),
)


def serve(number: int, folder: str) -> None:
    """Measure a row once for each line that comes in."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with chdir(folder):
        trial = ROWS[number].make(Path(folder))
        trial()
        print("ready", file=out, flush=True)
        for _ in sys.stdin:
            print(*trial(), file=out, flush=True)


def start(number: int, root: Path, folder: Path) -> subprocess.Popen[str]:
    """Return a process that measures a row with the code of a checkout, once it is ready."""
    folder.mkdir()
    roots = [root / one for one in ("", "scenarios", "analysis", "annotator_app")]
    roots += sorted((root / "worlds").glob("*"))
    path = {"PYTHONPATH": os.pathsep.join(map(str, roots))}
    ours = "" if ROWS[number].own_tests else str(HERE)
    words = [sys.executable, "-c", SERVE, ours, __file__, str(number), str(folder)]
    return subprocess.Popen(
        words,
        env=compiling() | path,
        cwd=folder,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def read(process: subprocess.Popen[str]) -> list[str]:
    """Return the words of a process's next line."""
    assert process.stdout
    line = process.stdout.readline()
    if not line:
        raise SystemExit(f"a process ended with {process.wait()}")
    return line.split()


def measure_once(process: subprocess.Popen[str]) -> list[float]:
    print(file=process.stdin, flush=True)
    return [float(word) for word in read(process)]


def compare(before: Path, numbers: Sequence[int]) -> Rows:
    """Yield each line: medians of both checkouts, the median ratio of pairs, and the load."""
    for number in numbers:
        row, pairs = ROWS[number], []
        with tempfile.TemporaryDirectory() as folder:
            both = []
            for name, root in {"before": before, "after": HERE}.items():
                both.append(start(number, root, Path(folder) / name))
                read(both[-1])  # it is ready
            for turn in range(row.pairs):
                order = both if turn % 2 else both[::-1]
                found = [measure_once(process) for process in order]
                pairs.append(found if turn % 2 else found[::-1])
            for process in both:
                process.communicate()
        load = f"{os.getloadavg()[0]:.1f}"
        for (what, goal), former, latter in zip(
            row.lines.items(),
            *(zip(*own, strict=True) for own in zip(*pairs, strict=True)),
            strict=True,
        ):
            ratios = [one / other for one, other in zip(former, latter, strict=True)]
            medians = [statistics.median(own) for own in (former, latter, ratios)]
            spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
            yield what, medians[0], medians[1], goal, medians[2], spread, load


if __name__ == "__main__":
    checkout, *chosen = sys.argv[1:]
    before = Path(checkout).resolve()
    table = compare(before, [*map(int, chosen)] or range(len(ROWS) - 1))
    if chosen:
        for line in table:
            print(*map(measure.cell, line), sep=" | ", flush=True)
    else:
        commit = subprocess.check_output(["git", "-C", before, "rev-parse", "HEAD"], text=True)
        spent = compare(before, [len(ROWS) - 1])
        known = {"rows": table, "profile": spent, "commit": commit[:8]}
        measure.write_tables("bench-versions", pairs=PAIRS, fewer=FEWER, **known)
