"""A million recorded episodes: what it costs to mine them for sixteen categories.

    python -m tests.benchmarks.mining [FOLDER] [EPISODES]

Writes docs/benchmarks_mining.md. The recordings are made in FOLDER, which may be kept for the next
time, or in a folder that is removed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sts import agents
from sts.jobs.pool import Pool
from sts.storage.workspace import Workspace
from sts.trajectories import store
from sts.trajectories.record import Task, generate_states, play_task
from sts.trajectories.types import Trajectory
from sts_scenarios import categories, mining
from tests.benchmarks.measure import Table, machine, markdown

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks_mining.md"
EPISODES, STEPS, TEAM, SIDE = 1_000_000, 50, 2, 10
AGENTS = ("random", "local-search")
PER_FILE, ABREAST = 25_000, 2500
AIM_SECONDS, AIM_MEGABYTES = 60, 2000
SAMPLE = 1000
BESIDES = ("beside-or-leave", "evade-or-shadow", "catch-mate")
"""Categories that are none of the sixteen."""
LOOK = 0.1
"""Seconds between two looks at how much memory processes hold."""


class Cost(NamedTuple):
    """What was done took: seconds on the clock, of processors, megabytes of all at once at most.

    The last is how many processes wanted a core meanwhile, on average over the last minute of it.
    """

    wall: float
    cpu: float
    megabytes: float
    load: float


def names() -> list[str]:
    """Return the names of the sixteen categories."""
    own = categories.of("lambda-star")
    return [c.name for c in own if not c.superseded and c.name not in BESIDES]


def recorded(folder: Path, episodes: int) -> None:
    """Record so many episodes in two processes, unless that was done before."""
    if _is_whole(folder, episodes):
        return
    with Pool(2) as pool:
        for n, first in enumerate(range(0, episodes, PER_FILE)):
            count = min(PER_FILE, episodes - first)
            pool.submit(n, record_file, str(folder), AGENTS[n % len(AGENTS)], count, n)
        for _, outcome in pool.completed():
            if isinstance(outcome, Exception):
                raise outcome
    (folder / "whole").write_text(str(episodes))


def _is_whole(folder: Path, episodes: int) -> bool:
    mark = folder / "whole"
    return mark.exists() and mark.read_text() == str(episodes)


def record_file(folder: str, agent: str, count: int, seed: int) -> None:
    """Record a file of episodes by one agent."""
    world = {"height": SIDE, "width": SIDE, "participants": TEAM, "horizon": STEPS}
    states = generate_states("lambda-star", count=count, steps=STEPS, seed=seed, settings=world)
    made: list[Trajectory] = []
    for first in range(0, count, ABREAST):
        some = states[first : first + ABREAST]
        task = Task(agent, "", "lambda-star", first, tuple(some), STEPS, seed)
        made += play_task(agents.load(agent), task)
    store.save(Workspace.open(folder), made)


def cost(words: Sequence[str]) -> Cost:
    """Return what a command and all that it begins took."""
    begun_at, most = time.perf_counter(), 0.0
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        most = max(most, sum(map(_held, _family(process.pid))))
        time.sleep(LOOK)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(words)} failed")
    seconds = time.perf_counter() - begun_at
    return Cost(seconds, used.ru_utime + used.ru_stime, most, os.getloadavg()[0])


def _family(pid: int) -> list[int]:
    """Return a process and those that it has begun."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(one for child in children for one in _family(int(child)))]


def _held(pid: int) -> float:
    """Return the megabytes that a process holds; what several share is shared out among them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def plainly(folder: Path) -> tuple[float, int]:
    """Return the seconds that predicates alone take for `SAMPLE` trajectories of the test side."""
    every = store.load(Workspace.open(folder))
    own = [categories.named(name) for name in names()]
    some = [t for t in every if t.split == "test"][: SAMPLE // 2]
    some += [t for t in every[::-1] if t.split == "test"][: SAMPLE // 2]
    mining.mine(some[:4], own, per_category=1, seed=0)
    begun_at = time.process_time()
    mining.mine(some, own, per_category=10, seed=0)
    return time.process_time() - begun_at, len(some)


def main(folder: Path, episodes: int) -> None:
    rows: list[tuple[object, ...]] = []
    code = "import sys; from pathlib import Path; import tests.benchmarks.mining as m; "
    call = f"{code} m.recorded(Path(sys.argv[1]), int(sys.argv[2]))"
    if not _is_whole(folder, episodes):
        made = cost([sys.executable, "-c", call, str(folder), str(episodes)])
        rows.append(("recording, two processes", None, *made))
    with tempfile.TemporaryDirectory() as other:  # which compiles what mining calls, too
        for n, agent in enumerate(AGENTS):
            record_file(other, agent, 5 * SAMPLE, n)
        seconds, count = plainly(Path(other))
    files = store.list_files(Workspace.open(folder))
    disk = sum(path.stat().st_size for path in files) / 2**20
    named = [word for name in names() for word in ("--category", name)]
    sts = [sys.executable, "-m", "sts.cli.main", "mine", "large", "--replace", *named]
    at = ["--workspace", str(folder), "--workers"]
    for workers in (2, 1):
        what = "`sts mine --workers 2`" if workers == 2 else "`sts mine`"
        aim = f"{AIM_SECONDS} s, {AIM_MEGABYTES} MB" if workers == 2 else None
        rows.append((what, aim, *cost([*sts, *at, str(workers)])))
    whole = seconds / count * episodes / 5
    rows.append(("predicates alone, reckoned from a sample", None, None, whole, None, None))
    table = Table(
        "Mining a million episodes" if episodes == EPISODES else f"Mining {episodes} episodes",
        f"{episodes} episodes of {STEPS} steps on {SIDE}x{SIDE}, in teams of {TEAM}, half of them "
        f"by each of {' and '.join(AGENTS)}, in {len(files)} files of {disk:.0f} MB in all; one in "
        f"five is on the test side. Mined for the {len(names())} categories, ten scenarios of "
        "each. Seconds on the clock and of processors, and the most memory that all processes "
        "held at once, from call to exit; and how many processes, these among them, wanted a core "
        "in the last minute of it, which seconds on the clock depend on. What predicates alone "
        f"take, a moment at a time in one process, is reckoned from {count} trajectories of the "
        "test side.",
        ("what", "aim", "seconds", "CPU seconds", "megabytes", "load"),
        rows,
    )
    opening = f"Written by `make bench-mining`, on\n\n> {machine()}\n"
    PAGE.write_text(f"# Benchmarks of mining\n\n{opening}\n{markdown(table)}")
    print(markdown(table))


if __name__ == "__main__":
    number = int(sys.argv[2]) if len(sys.argv) > 2 else EPISODES
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]), number)
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder), number)
