"""Measures speed and writes docs/benchmarks.md: `python -m tests.benchmarks`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks import (
    chained,
    continued,
    curating,
    curator,
    domains,
    elsewhere,
    formats,
    learners,
    limits,
    memory,
    paths,
    pipeline,
    scaling,
    sessions,
    trials,
    wide,
    worlds,
)
from tests.benchmarks.measure import Sizes, Table, machine, markdown

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
OPENING = """# Benchmarks

Written by `make bench`. Each number is the median of {runs} runs, of {slow} where one takes long,
after one that is not counted, on

> {machine}

**How to read it.** An *agent-step* is one participant's whole step: what it sees, its decision, its
move, its reward, and its share of moving the world. Kernels are compiled before the clock is
started. Speeds of one machine say little about another, and a machine that does other work at the
same time is slower by a third or more from one minute to the next; the ratios, whose two sides are
measured within seconds of each other, hold better. Numbers have three digits, and the last of them
is noise.

What reports of many agents take is in [benchmarks of reports](benchmarks_reports.md).
"""


def tables(sizes: Sizes) -> Iterator[Table]:
    """Yield every table of the page, the aims when their numbers are known."""
    reactive, policies = paths.measured(sizes), paths.numpy_policy(sizes)
    learning = learners.measured(sizes)
    yield aims(policies, learning)
    yield paths.reactive(reactive, sizes)
    yield paths.general(policies)
    yield elsewhere.table(sizes)
    yield learners.table(learning, sizes)
    yield paths.compared(reactive, sizes)
    yield learners.compared(learning, sizes)
    yield limits.table(limits.measured(sizes), learning)
    yield scaling.table(sizes)
    yield memory.table(sizes)
    yield worlds.generation(sizes)
    yield worlds.learners(sizes)
    yield sessions.renewed(sizes)
    yield sessions.turns(sizes)
    yield pipeline.start_up(sizes)
    yield pipeline.continuations(sizes)
    yield chained.chains(sizes)
    yield from wide.tables(sizes)
    yield formats.table(sizes)
    yield domains.table(sizes)
    yield trials.table(sizes)
    yield continued.table(sizes)
    yield curator.table(sizes)
    yield curating.table(sizes)


def aims(policies: paths.Policies, learning: learners.Rates) -> Table:
    """What was aimed at beside what is reached."""
    learner = min(learning, key=lambda key: learning[key])[0]
    speeds = (learning[learner, people] for people in paths.PEOPLE)
    rows = [
        (f"`{learner}`, training updates", learners.AIM, *speeds),
        ("general path, a policy in NumPy", paths.AIM, *policies["greedy"]),
    ]
    return Table(
        "Aims",
        "Millions a second on one core, with 1 and with 5 participants in a world; of the learning "
        "behaviours the slowest.",
        ("what", "aim", "1 a world", "5 a world"),
        rows,
    )


def main() -> None:
    sizes = Sizes()
    parts = [OPENING.format(runs=sizes.runs, slow=sizes.slow, machine=machine())]
    for table in tables(sizes):
        parts.append(markdown(table))
        print(parts[-1], file=sys.stderr)
    PAGE.write_text("\n".join(parts))


if __name__ == "__main__":
    main()
