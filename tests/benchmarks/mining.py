"""Measures mining a million recorded episodes for docs/benchmarks.md.

    python -m tests.benchmarks.mining [FOLDER]

The recordings are made in FOLDER, which may be kept for the next time, or in a folder that is
removed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sts import agents
from sts.jobs.pool import Pool
from sts.storage.workspace import Workspace
from sts.trajectories import trajectory_store as store
from sts.trajectories.record import Task, generate_states, play_task
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.rules import categories
from tests.benchmarks import measure
from tests.mined import mine

EPISODES, STEPS, TEAM, SIDE = 1_000_000, 50, 2, 10
AGENTS = ("random", "local-search")
PER_FILE, ABREAST = 25_000, 2500
AIM = "60 s, 2000 MB"
FOURTH = 4  # the fewer episodes are one in so many files
SAMPLE = 1000
PAIRED = ("beside-or-leave", "evade-or-shadow", "catch-mate")
EASIER = ("walk", "join-mate", "keep-beside", "reach-good", "good-apart")
"""Categories added after the benchmark, with which its sixteen are not comparable."""
LOOK = 0.1
"""Seconds between two looks at how much memory processes hold."""


def names() -> list[str]:
    own = categories.load_categories("lambda-star")
    return [c.name for c in own if not c.superseded and c.name not in PAIRED + EASIER]


def record(folder: Path) -> None:
    with Pool(2) as pool:
        for n, first in enumerate(range(0, EPISODES, PER_FILE)):
            count = min(PER_FILE, EPISODES - first)
            pool.submit(n, record_file, str(folder), AGENTS[n % len(AGENTS)], count, n)
        for _, outcome in pool.completed():
            if isinstance(outcome, Exception):
                raise outcome


def record_file(folder: str, agent: str, count: int, seed: int) -> None:
    world = {"height": SIDE, "width": SIDE, "n_players": TEAM, "horizon": STEPS}
    states = generate_states("lambda-star", count=count, steps=STEPS, seed=seed, settings=world)
    made: list[Trajectory] = []
    for first in range(0, count, ABREAST):
        some = states[first : first + ABREAST]
        task = Task(agent, "", "lambda-star", first, tuple(some), STEPS, seed)
        made += play_task(agents.load(agent), task)
    store.save(Workspace.open(folder), made)


def cost(*words: str) -> tuple[float, float, float, float]:
    """Return what a command and its workers took: seconds, CPU seconds, megabytes and load.

    The third is the most that all held at once, and the last how many processes wanted a core, on
    average over its last minute.
    """
    begun_at, most = time.perf_counter(), 0.0
    workers: dict[int, float] = {}  # their CPU seconds, which the command does not wait for
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL)
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        processes = family(process.pid)
        most = max(most, sum(map(measure_memory, processes)))
        workers |= {pid: max(measure_cpu(pid), workers.get(pid, 0)) for pid in processes[1:]}
        time.sleep(LOOK)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(words)} failed")
    wall = time.perf_counter() - begun_at
    own = used.ru_utime + used.ru_stime
    return wall, own + sum(workers.values()), most, os.getloadavg()[0]


def family(pid: int) -> list[int]:
    """Return a process and those that it has begun."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(one for child in children for one in family(int(child)))]


def measure_cpu(pid: int) -> float:
    """Return the CPU seconds that a process took; 0 once it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_memory(pid: int) -> float:
    """Return the megabytes that a process holds; what several share is shared out among them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def mine_plainly() -> tuple[float, int]:
    """Return the CPU seconds that predicates alone take for some trajectories, and of how many."""
    with tempfile.TemporaryDirectory() as folder:
        for n, agent in enumerate(AGENTS):
            record_file(folder, agent, 5 * SAMPLE, n)
        every = [t for t in store.load(Workspace.open(folder)) if t.split == "test"]
    own = [categories.load_category(name) for name in names()]
    some = every[: SAMPLE // 2] + every[::-1][: SAMPLE // 2]
    mine(some[:4], own, per_category=1, seed=0)
    begun_at = time.process_time()
    mine(some, own, per_category=10, seed=0)
    return time.process_time() - begun_at, len(some)


def main(folder: Path) -> None:
    rows: list[tuple[Any, ...]] = []
    whole = folder / "whole"
    if not whole.exists():
        code = (
            "import sys, pathlib, tests.benchmarks.mining as m; m.record(pathlib.Path(sys.argv[1]))"
        )
        rows.append(("recording, two processes", None, *cost("-c", code, str(folder)), None))
        whole.touch()
    seconds, count = mine_plainly()  # which compiles what mining calls, too
    files = store.list_files(Workspace.open(folder))
    flags = [word for name in names() for word in ("--category", name)]
    mine = ("-m", "sts.cli.main", "mine", "large", "--overwrite", *flags, "--workspace")
    with tempfile.TemporaryDirectory() as name:
        fourth = Path(name)
        (fourth / "trajectories").mkdir()
        for path in files[::FOURTH]:  # in the order of their hashes
            for own in path.parent.glob(f"{path.stem}.*"):  # and that it has been checked
                shutil.copy(own, fourth / "trajectories")
        fewer = cost(*mine, str(fourth), "--workers", "2")
    rows.append((f"`sts mine --workers 2`, {EPISODES // FOURTH}", None, *fewer, None))
    both = cost(*mine, str(folder), "--workers", "2")
    growth = measure.exponent(1, FOURTH, fewer[1], both[1])
    rows.append(("`sts mine --workers 2`", AIM, *both, growth))
    rows.append(("`sts mine`", None, *cost(*mine, str(folder), "--workers", "1"), None))
    reckoned = seconds / count * EPISODES / 5
    rows.append(
        ("predicates alone, reckoned from a sample", None, None, reckoned, None, None, None)
    )
    disk = sum(path.stat().st_size for path in files) / 2**20
    known = {"files": len(files), "disk": disk, "categories": len(names()), "sample": count}
    measure.write("bench-mining", mining=sys.modules[__name__], rows=rows, **known)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as name:
            main(Path(name))
