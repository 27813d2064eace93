"""The gates of a domain's categories, measured on recordings of their own, as tables of Markdown.

    python -m scenarios.suites.gate_table

Of each category a pool is mined, which the first gates are held to, a suite of ten as a packaged
one has, and a larger one, whose figures are less by chance. What is beyond its limit has a mark.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from scenarios import categories, gates, mining
from scenarios.category import Candidate, Category
from scenarios.gates import Gate
from scenarios.mining.chance import pass_rate
from scenarios.profiles import CONTINUATIONS, Profile, profiles
from sts import agents
from sts.suites.types import DIFFICULTIES
from sts.trajectories.record import record
from sts.trajectories.types import Trajectory

DOMAIN = "lambda-star"
RECORDERS = (
    *(("random", 2, 10, 10), ("random", 3, 8, 12), ("blind", 2, 12, 12)),
    *(("local-search", 2, 10, 10), ("local-search", 6, 10, 10), ("stigmergy", 4, 10, 10)),
    *(("wisdom-of-the-crowd", 5, 12, 8), ("rule", 3, 8, 12), ("speaking-maximiser", 2, 11, 9)),
    *(("reader", 2, 12, 12), ("reader-noisy-60", 3, 10, 10), ("reader-noisy-60", 5, 9, 9)),
)
"""Who is recorded, in teams of how many, on how many rows and columns."""
EPISODES, STEPS, SEED = 700, 50, 26112
"""Of each recorder; a fifth are on the test side."""
SUITE, LARGER = 10, 40
FLOORS = ("random", "speaking-maximiser")
"""Who reads nothing, or only that it is asked something: only reported."""
BEYOND = "!"
"""Marks a figure that is beyond its limit."""


class Measured(NamedTuple):
    """What one category came to.

    Attributes:
      category: its name.
      candidates: its moments per thousand episodes of the test side.
      pool: how many scenarios the first gates were measured on.
      of_pool: those gates, the floors among them.
      of_ten: what is so of a suite of ten.
      of_larger: of a larger one, what is so of its profiles.
      passed: what each agent passes of the larger one.
    """

    category: str
    candidates: int
    pool: int
    of_pool: list[Gate]
    of_ten: list[Gate]
    of_larger: list[Gate]
    passed: dict[str, float]

    @property
    def beyond(self) -> list[Gate]:
        """Those of the pool and of the suite of ten that are beyond their limit."""
        return [one for one in (*self.of_pool, *self.of_ten) if not one.held]


def recordings(episodes: int = EPISODES, seed: int = SEED) -> list[Trajectory]:
    """Returns what the recorders play that is on the test side; each has its own seed from it."""
    out: list[Trajectory] = []
    for n, (agent, team, height, width) in enumerate(RECORDERS):
        settings = {"height": height, "width": width, "participants": team, "horizon": STEPS}
        played = record(
            agents.load(agent),
            domain=DOMAIN,
            count=episodes,
            steps=STEPS,
            seed=seed + n,
            settings=settings,
        )
        out += [one for one in played if one.split == "test"]
    return out


def measured(
    category: Category,
    trajectories: Sequence[Trajectory],
    *,
    pool: int = gates.POOL,
    continuations: int = CONTINUATIONS,
    larger: int = LARGER,
) -> Measured:
    """Returns what a category comes to on recordings.

    Args:
      category: with its controls.
      trajectories: of the test side, of many kinds of recorders.
      pool: how many scenarios the first gates are measured on.
      continuations: of each of them, for a policy that draws.
      larger: how many the larger suite has.

    Raises:
      StsError: an agent or the rule failed.
    """
    ready = _searched(category, trajectories)
    scenarios = gates.pool(ready, trajectories, pool)
    rows = gates.of_pool(category, scenarios, continuations=continuations)
    for name in FLOORS:
        rate = pass_rate(category, scenarios, agents.load(name), continuations=continuations)
        rows.append(Gate(category.name, name, rate, None))
    of_ten, _ = _of_suite(ready, trajectories, SUITE)
    of_larger, made = _of_suite(ready, trajectories, larger)
    moments = sum(len(ready.moments(one)) for one in trajectories)
    per_thousand = round(1000 * moments / len(trajectories))
    return Measured(
        category.name, per_thousand, len(scenarios), rows, of_ten, of_larger, _rates(made)
    )


def _of_suite(
    category: Category, trajectories: Sequence[Trajectory], count: int
) -> tuple[list[Gate], list[Profile]]:
    """Returns what is so of a suite mined as packaged ones are, and its profiles."""
    mined = mining.mine(
        trajectories, [category], per_category=count, seed=0, strata=("difficulty",)
    )
    made = [one.profile for one in profiles(mined.scenarios)]
    return gates.of_suite(mined.scenarios, {category.name: category}, made), made


def _searched(category: Category, trajectories: Iterable[Trajectory]) -> Category:
    """Returns a category that has found its candidates."""
    there = {one.id: category.moments(one) for one in trajectories}

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        return iter(there[trajectory.id])

    return replace(category, candidates=candidates)


def _rates(made: Iterable[Profile]) -> dict[str, float]:
    """Returns what each agent passes, of all scenarios."""
    rates: dict[str, list[float]] = defaultdict(list)
    for one in made:
        for name, passed in one.passed.items():
            rates[name].append(passed.successes / passed.of)
    return {name: sum(own) / len(own) for name, own in rates.items()}


POOL_COLUMNS = (
    *("random", "open loop", "local-search", "reward-with-memory", "speaking-maximiser"),
    *("shortcut", "probe"),
)
SUITE_COLUMNS = ("passed by all or none", "pairs of one profile", "easiest less hardest")
LARGER_COLUMNS = (
    *("passed by all or none", "pairs of one profile"),
    *(f"mid-level agents, {one}" for one in DIFFICULTIES),
)
AGENT_COLUMNS = (
    *("oracle", "speaking-maximiser", "reader-noisy-60", "reader-noisy-30", "reader-near"),
    *("reader-half", "reader-without-memory", "reader"),
)


def pool_row(one: Measured) -> str:
    """Returns a category's row of the table of pools."""
    mark = "" if one.pool >= gates.POOL else f" {BEYOND}"
    figures = _cells(one.of_pool, POOL_COLUMNS)
    return _row(f"`{one.category}`", f"{one.candidates:,}", f"{one.pool}{mark}", *figures)


def suite_row(one: Measured) -> str:
    """Returns a category's row of the table of suites: the suite of ten, and the larger one."""
    fall = next((row.held for row in one.of_larger if row.name == "easiest less hardest"), True)
    harder = _cells(one.of_larger, LARGER_COLUMNS)
    harder[-1] += "" if fall else f" {BEYOND}"
    return _row(f"`{one.category}`", *_cells(one.of_ten, SUITE_COLUMNS), *harder)


def agents_row(one: Measured) -> str:
    """Returns a category's row of the table of agents."""
    return _row(f"`{one.category}`", *(_figure(one.passed[name]) for name in AGENT_COLUMNS))


def _cells(rows: Iterable[Gate], names: Sequence[str]) -> list[str]:
    by_name = {row.name: row for row in rows}
    return [
        _figure(by_name[name].figure) + ("" if by_name[name].held else f" {BEYOND}")
        if name in by_name
        else ""
        for name in names
    ]


def _figure(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".")


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _header(*names: str) -> list[str]:
    return [_row(*names), "|" + "---|" * len(names)]


def main(argv: Sequence[str] = ()) -> int:
    """Prints the tables, by other seeds and of fewer episodes where these are named."""
    played = recordings(*map(int, argv))
    every = []
    for category in categories.of(DOMAIN):
        if category.controls is not None:
            every.append(measured(category, played))
            print(f"{category.name}: {[*every[-1].beyond]}", file=sys.stderr, flush=True)
    of_ten = (f"{name}, of ten" for name in SUITE_COLUMNS)
    tables = (
        (_header("category", "candidates", "pool", *POOL_COLUMNS), pool_row),
        (_header("category", *of_ten, *LARGER_COLUMNS), suite_row),
        (_header("category", *AGENT_COLUMNS), agents_row),
    )
    for header, row in tables:
        print("\n".join([*header, *map(row, every)]), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
