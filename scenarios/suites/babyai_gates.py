"""The table of gates of the categories of BabyAI that ask in hindsight, on a pool of their own.

    python -m scenarios.suites.babyai_gates [CATEGORY ...] [--pool N] [--continuations K]

The pools are mined from recordings made as those of `babyai@2`, of other seeds. What is not within
its limit has a star. Needs the extra `babyai`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from scenarios import categories, gates
from scenarios.suites.renew_babyai import AGENTS, CATEGORIES, LEVELS, STEPS
from sts import agents
from sts.errors import StsError
from sts.suites.types import DIFFICULTIES
from sts.trajectories.record import record
from sts.trajectories.types import Trajectory

EPISODES, SEED = 60, 300
COLUMNS = ("open loop", "heedless", "shortcut", "probe")


def recorded() -> list[Trajectory]:
    """Returns the recordings of the test side that pools are mined from."""
    return [
        one
        for place, level in enumerate(LEVELS)
        for agent in AGENTS
        for one in record(
            agents.load(agent),
            domain="babyai",
            count=EPISODES,
            steps=STEPS,
            seed=SEED + place,
            settings={"level": level, "open": True},
        )
        if one.split == "test"
    ]


def rows(names: Sequence[str], pool: int, continuations: int) -> Iterator[tuple[str, ...]]:
    """Yields of each category its pool, how many are easy, medium and hard, and its gates."""
    every = recorded()
    for name in names:
        rule = categories.named(f"babyai-{name.removeprefix('babyai-')}")
        own = gates.pool(rule, every, pool)
        count = Counter(one.difficulty for one in own)
        figure = {
            one.name: f"{one.figure:.2f}{'' if one.held else '*'}"
            for one in gates.of_pool(rule, own, continuations=continuations)
        }
        levels = "/".join(str(count[one]) for one in DIFFICULTIES)
        yield (f"`{rule.name}`", str(len(own)), levels, *(figure.get(c, "") for c in COLUMNS))


def main(argv: Sequence[str]) -> int:
    """Prints the table; returns the exit code."""
    parser = argparse.ArgumentParser(prog="babyai_gates", description=__doc__)
    parser.add_argument("category", nargs="*", default=CATEGORIES, metavar="CATEGORY")
    parser.add_argument("--pool", type=int, default=gates.POOL, metavar="N")
    parser.add_argument("--continuations", type=int, default=gates.CONTINUATIONS, metavar="K")
    args = parser.parse_args(argv)
    header = ("category", "pool", "easy/medium/hard", *COLUMNS)
    print(f"| {' | '.join(header)} |\n|{'---|' * len(header)}")
    try:
        for row in rows(args.category, args.pool, args.continuations):
            print(f"| {' | '.join(row)} |", flush=True)
    except StsError as error:
        print(f"babyai_gates: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
