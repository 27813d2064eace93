"""The most memory that the intelligence test holds, by the number of its episodes."""

from __future__ import annotations

import subprocess
import sys

from tests.benchmarks.measure import Sizes, Table

AGENTS = ("random", "local-search", "stigmergy")
TEAM = 5
# /proc knows what a process itself has held; what its parent held counts in getrusage.
_SCRIPT = """
import sys
from sts.cli.main import main
code = main(sys.argv[1:])
with open("/proc/self/status") as status:
    (peak,) = (line.split()[1] for line in status if line.startswith("VmHWM"))
print(peak, file=sys.stderr)
sys.exit(code)
"""


def table(sizes: Sizes) -> Table:
    """Megabytes at the most, each number of episodes in a process of its own."""
    _peak(sizes.memory[0], sizes)  # so that none of those that count has to compile
    rows = [(count, _peak(count, sizes)) for count in sizes.memory]
    return Table(
        "Memory",
        f"The most that a process of `sts lambda-star score` held, with {len(AGENTS)} agents, "
        f"{TEAM} in a world and {sizes.steps} steps. Episodes are played a span at a time, and "
        "what stays of a span are sums, so their number does not matter; most of what is held is "
        "Python, NumPy and the compiler.",
        ("episodes", "megabytes"),
        rows,
    )


def _peak(episodes: int, sizes: Sizes) -> float:
    agents = [word for name in AGENTS for word in ("--agent", name)]
    settings = ["--team", str(TEAM), "--steps", str(sizes.steps), "--episodes", str(episodes)]
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, "lambda-star", "score", *agents, *settings],
        check=True,
        capture_output=True,
        text=True,
    )
    return int(done.stderr.split()[-1]) / 1024
