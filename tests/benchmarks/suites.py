"""Costs of suites, sessions and files: start-up, continuations, formats and checks."""

from __future__ import annotations

import dataclasses
import itertools
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import pyarrow.parquet as pq

from sts import agents
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.log import events
from sts.annotations.vault import history
from sts.continuations import parts
from sts.continuations.run import run
from sts.engine import sampling
from sts.engine.session import Session
from sts.formats import rlds
from sts.formats.minari import exporter, importer
from sts.storage.workspace import Workspace
from sts.suites import suite_store as store
from sts.suites.suite import Scenario, Suite
from sts.trajectories import trajectory_store as trajectories
from sts_lambda_star.domain import Batch
from tests.annotations.examples import some_items
from tests.benchmarks import domains, sizes
from tests.benchmarks.measure import STS, Rows, clocks, compiling, cost, exponent, seconds
from tests.recording import record
from tests.stores import add_person, enqueue

FRONT = {"--help": 10, "suite ls": 10, "run --agents": 10, "--version": None, "run --help": None}
"""Command lines that import nothing heavy, and how many times an empty Python each may take."""
COMPILED = ("random", "blind", "local-search", "stigmergy", "rule", "bidding")
GREEDY = """
from sts.agents import Agent, PolicyOutput


class Greedy(Agent):
    def act(self, observation, instructions, memory, draws):
        best = observation.reward == observation.reward.max(-1, keepdims=True)
        return PolicyOutput(best.astype(float)), memory
""" + "".join(f"\n\nclass Greedy{i}(Greedy):\n    name = 'greedy-{i}'\n" for i in range(6))
"""A user's policies, alike except for their names."""
SIX = {
    "six that are compiled": COMPILED,
    "six policies in NumPy": tuple(f"greedy_wide:Greedy{i}" for i in range(6)),
}
WIDE_AIMS = {"six that are compiled": 5.0, "six that are compiled, nothing to do": 1.0}
"""Seconds on two cores."""
PLACES: dict[str, tuple[Any, str]] = {
    "agents": (Session, "_call_agent"),
    "what they see": (Session, "observe"),
    "draws and checks": (sampling, "sample_output"),
    "log-probabilities": (sampling, "compute_log_probs"),
    "worlds": (Batch, "step"),
    "states": (Batch, "states"),
    "writing": (parts, "write_part"),
}
"""Where a run spends its time; none of these calls another."""
PEOPLE = 10
EXPORT_AIM, TRIALS_AIM = 1.0, 90
"""CPU seconds for 100,000 judgements, and seconds on two cores."""


def start_up() -> Rows:
    """Seconds of clock and processor until a command answers; commands take turns."""
    taken: dict[str, list[tuple[float, float]]] = {"": [], **{words: [] for words in FRONT}}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(sizes.RUNS + 1):
            for words, own in taken.items():
                code = f"import sys; {STS}" if words else "pass"
                begun, before = time.perf_counter(), children_cpu()
                command = [sys.executable, "-c", code, *words.split()]
                subprocess.run(command, cwd=folder, env=compiling(), capture_output=True)
                used = time.perf_counter() - begun, children_cpu() - before
                own += [used] if turn else []
    empty = None
    for words, own in taken.items():
        wall, cpu = (statistics.median(column) for column in zip(*own, strict=True))
        empty = empty or cpu
        name = f"sts {words}" if words else "an empty Python"
        yield name, FRONT.get(words), wall, cpu, cpu / empty


def children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_here(folder: Path | str, some: Sequence[Scenario], names: Sequence[str]) -> None:
    workspace, count = Workspace.open(str(folder)), sizes.CONTINUATIONS
    run(workspace, some, names, count=count, seed=0, workers=1, progress=lambda done, total: None)


def core() -> tuple[Scenario, ...]:
    with tempfile.TemporaryDirectory() as folder:
        return store.load(Workspace.open(folder), "core@2").scenarios


def core_size() -> int:
    return len(core())


def continuations() -> Rows:
    """Seconds for the packaged suite, continued by each agent."""
    every = core()
    with tempfile.TemporaryDirectory() as folder:
        for name in COMPILED[:5]:
            work = partial(run_here, some=every, names=[name])
            taken = seconds(work, partial(tempfile.mkdtemp, dir=folder), runs=sizes.SLOW)
            yield name, taken, len(every) * sizes.CONTINUATIONS / taken


@cache
def wide() -> tuple[Scenario, ...]:
    """Return scenarios of Λ* with as many steps after the takeover as episodes have elsewhere."""
    with tempfile.TemporaryDirectory() as folder:
        every = domains.mined("lambda-star", Path(folder), sizes.SCENARIOS)
    return tuple(dataclasses.replace(one, horizon=sizes.STEPS) for one in every)


def wide_continuations() -> int:
    return len(wide()) * sizes.CONTINUATIONS * len(COMPILED)


@contextmanager
def users_folder() -> Iterator[None]:
    """Work in a folder that has a user's policies."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("greedy_wide.py").write_text(GREEDY)
        yield


def called() -> Rows:
    """Seconds of `sts run` with six agents, from call to exit."""
    suite = Suite("wide", 1, None, "", wide(), {})

    def row(title: str, folder: str, workers: int, count: int = 0) -> tuple[Any, ...]:
        workspace = Workspace.open(folder)
        if not workspace.root.exists():
            store.write(workspace.create().path("suites", "wide", "1"), suite)
        flags = [word for name in names for word in ("--agent", name)]
        words = ["--continuations", str(count or sizes.CONTINUATIONS), "--workers", str(workers)]
        taken = cost(STS, "run", "wide@1", *flags, *words, "--workspace", folder)
        path = taken.own + taken.workers / workers * (workers > 1)
        aim = WIDE_AIMS.get(title) if workers == 2 else None
        return title, str(workers), aim, taken.wall, taken.own, taken.workers, path

    with users_folder():
        for title, names in SIX.items():
            row(title, f"warm-{names[0]}", 1, 1)
            yield row(title, f"{names[0]}-1", 1)
            yield row(title, f"{names[0]}-2", 2)
            *idle, _ = row(f"{title}, nothing to do", f"{names[0]}-2", 2)
            yield *idle, idle[4]


def spent() -> Rows:
    """CPU seconds of one process that has run before, and their shares by what it does."""
    here = patch("sts.continuations.run._isolated_agents", lambda chunk: "")
    with users_folder(), here:  # a user's agents too
        for title, names in SIX.items():
            run_here("warm", wide()[:2], names)
            with clocks(PLACES) as taken:
                begun = time.process_time()
                run_here(f"spent-{names[0]}", wide(), names)
                total = time.process_time() - begun
            shares = [100 * own / total for own in taken.values()]
            yield title, total, *shares, 100 - sum(shares)


def formats() -> Rows:
    """Seconds and megabytes of recordings in each format."""
    shape = {"height": 10, "width": 10, "n_players": 3, "horizon": 2 * sizes.STEPS}
    amount: dict[str, Any] = {"count": sizes.EXPORTED, "steps": 2 * sizes.STEPS, "seed": 0}
    made = record(agents.load("local-search"), domain="lambda-star", settings=shape, **amount)
    with tempfile.TemporaryDirectory() as folder:
        for name, write, read in (
            ("parquet", trajectories.export, trajectories.read),
            ("minari", exporter.write, importer.read),
            ("rlds", rlds.write, pq.read_table),
        ):
            paths = (Path(folder) / f"{name}-v{run}" for run in itertools.count())

            def write_file(path: Path, write: Any = write) -> None:
                write(path, made)

            writing = seconds(write_file, partial(next, paths), runs=sizes.SLOW)
            path = Path(folder) / f"{name}-v0"
            reading = seconds(read, partial(Path, path), runs=sizes.SLOW)
            files = [path] if path.is_file() else [f for f in path.rglob("*") if f.is_file()]
            yield f"`{name}`", writing, reading, sum(f.stat().st_size for f in files) / 1e6


def human_play() -> Rows:
    """Seconds in which every installed trial is verified, and what came of it."""
    words = "overcooked", "check"
    cost(STS, *words)
    taken = cost(STS, *words, "--json")
    found = json.loads(taken.out)
    counts = (f"{found[f'{what}_{how}']} of {found[what]}" for what, how in
              (("states", "alike"), ("trials", "exact")))  # fmt: skip
    yield f"`sts {' '.join(words)}`", *counts, "1", TRIALS_AIM, taken.wall


def export_check() -> Rows:
    """CPU seconds to read and check the chains of all judgements, on SQLite."""
    fewer = None
    for clips in (sizes.CLIPS // 4, sizes.CLIPS):
        with tempfile.TemporaryDirectory() as folder:
            with AnnotationStore.open(Workspace.open(str(Path(folder) / "w"))) as opened:
                judge_all(opened, clips)
                taken = min(check_export(opened) for _ in range(sizes.RUNS))
        growth = exponent(1, 4, fewer, taken) if fewer else None
        fewer = taken
        yield str(PEOPLE * clips), EXPORT_AIM, taken * 100_000 / (PEOPLE * clips), growth


def judge_all(opened: AnnotationStore, clips: int) -> None:
    """Have each of `PEOPLE` people judge so many clips."""
    enqueue(opened, some_items(clips))
    people = [add_person(opened, f"Annotator {n}").id for n in range(PEOPLE)]
    with opened.database.write() as connection:
        items = [*history.read_history(connection).clips]
        for person, item in itertools.product(people, items):
            given: dict[str, Any] = {
                "verdict": "success",
                "step": 7,
                "seconds": 4.5,
                "watched": 1.0,
            }
            event = events.Event(uuid4().hex, item, **given)
            events.append_event(connection, person, event, source="import", now=1.7e9)


def check_export(opened: AnnotationStore) -> float:
    begun = time.process_time()
    with opened.database.read() as connection:
        found = history.read_history(connection)
    assert not found.findings
    return time.process_time() - begun
