"""The gates of a domain's categories, measured on recordings of their own, as tables of Markdown.

    python -m tests.reproduction.suites.gate_table [DOMAIN] [CATEGORY ...] [--pool N]

Of each category a pool is mined, which the first gates are held to, a suite of ten as a packaged
one has, and a larger one, whose figures are less by chance. What is beyond its limit has a mark.
The domain is Λ* where none is named, and the categories are all that are held to gates.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sts import agents
from sts.agents import Agent, Choice
from sts.agents.protocol import Draws, Instructions, Memory
from sts.domains import domain
from sts.errors import StsError
from sts.suites.types import DIFFICULTIES, Scenario
from sts.trajectories.types import Trajectory
from sts_scenarios import categories, gates, mining
from sts_scenarios.category import Candidate, Category
from sts_scenarios.gates import Gate
from sts_scenarios.mining.chance import pass_rate
from sts_scenarios.profiles import Profile, compute_profiles
from tests.reproduction.suites import pools
from tests.reproduction.suites.gate_recordings import MEASURES, Measure

SUITE = 10
SLIP = 0.3
"""Share of its moves that a shaky probe takes at random."""
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
      shaky: of each difficulty how many of the pool there are, and what the probe passes of them
        with an unsteady hand; {} where it was not measured.
    """

    category: str
    candidates: int
    pool: int
    of_pool: list[Gate]
    of_ten: list[Gate]
    of_larger: list[Gate]
    passed: dict[str, float]
    shaky: dict[str, tuple[int, float]]

    @property
    def how(self) -> Measure:
        """How categories of its domain are measured."""
        return MEASURES[categories.named(self.category).domain]

    @property
    def beyond(self) -> list[Gate]:
        """Those of the pool and of the suite of ten that are beyond their limit."""
        return [one for one in (*self.of_pool, *self.of_ten) if not one.held]


def measured(
    category: Category,
    trajectories: Sequence[Trajectory],
    *,
    pool: int | None = None,
    continuations: int | None = None,
    larger: int | None = None,
) -> Measured:
    """Return what a category comes to on recordings.

    Args:
      category: with its controls.
      trajectories: of the test side, of many kinds of recorders.
      pool: how many scenarios or pairs the first gates are measured on, at most; None for the
        domain's number.
      continuations: of each of them, for a policy that draws; likewise.
      larger: how many the larger suite has; likewise.

    Raises:
      StsError: an agent or the rule failed.
    """
    how = MEASURES[category.domain]
    continuations = how.continuations if continuations is None else continuations
    ready = _searched(category, trajectories)
    most = max(how.per_world, pools.PER_WORLD)
    scenarios = pools.pool(ready, trajectories, pool or how.pool, per_world=most)
    rows = gates.of_pool(category, scenarios, continuations=continuations)
    for name in how.floors:
        rate = pass_rate(category, scenarios, agents.load(name), continuations=continuations)
        rows.append(Gate(category.name, name, rate, None))
    of_ten, _ = _of_suite(ready, trajectories, SUITE, how)
    of_larger, made = _of_suite(ready, trajectories, larger or how.larger, how)
    moments = sum(len(ready.moments(one)) for one in trajectories)
    return Measured(
        category.name,
        round(1000 * moments / len(trajectories)),
        len(scenarios),
        rows,
        of_ten,
        of_larger,
        _rates(made),
        by_difficulty(category, scenarios, continuations) if how.shaky else {},
    )


def _of_suite(
    category: Category, trajectories: Sequence[Trajectory], count: int, how: Measure
) -> tuple[list[Gate], list[Profile]]:
    """Return what is so of a suite mined as packaged ones are, and its profiles."""
    mined = mining.mine(
        trajectories,
        [category],
        per_category=count,
        seed=0,
        per_world=how.per_world,
        strata=("difficulty",),
    )
    made = [one.profile for one in compute_profiles(mined.scenarios)]
    return gates.of_suite(mined.scenarios, {category.name: category}, made), made


def _searched(category: Category, trajectories: Iterable[Trajectory]) -> Category:
    """Return a category that has found its candidates."""
    there = {one.id: category.moments(one) for one in trajectories}

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        return iter(there[trajectory.id])

    return replace(category, candidates=candidates)


class Shaky(Agent):
    """Another agent of moves alone, of whose moves some are drawn from all."""

    name = "shaky"
    version = "1"

    def __init__(self, steady: Agent, moves: int, slip: float) -> None:
        """Take who moves otherwise, how many moves there are, and what share is drawn."""
        self.steady, self.moves, self.slip = steady, moves, slip

    def begin(self, batch: int, roles: int) -> Memory:
        """Return the other's memory."""
        return self.steady.begin(batch, roles)

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Return the other's moves, or all alike, by chance."""
        choice, after = self.steady.act(observation, instructions, memory, draws)
        steady = np.eye(self.moves)[choice.moves]
        return Choice((1 - self.slip) * steady + self.slip / self.moves), after


def by_difficulty(
    category: Category, scenarios: Sequence[Scenario], continuations: int, *, slip: float = SLIP
) -> dict[str, tuple[int, float]]:
    """Return of each difficulty how many there are, and what a shaky probe passes of them.

    A pair counts as one.
    """
    controls, out = category.controls, {}
    assert controls is not None and controls.probe is not None
    shaky = Shaky(controls.probe, len(domain(category.domain).moves), slip)
    for level in DIFFICULTIES:
        own = [one for one in scenarios if one.difficulty == level]
        if own:
            rate = pass_rate(category, own, shaky, continuations=continuations)
            out[level] = len({one.pair or one.id for one in own}), rate
    return out


def _rates(made: Iterable[Profile]) -> dict[str, float]:
    """Return what each agent passes, of all scenarios."""
    rates: dict[str, list[float]] = defaultdict(list)
    for one in made:
        for name, passed in one.passed.items():
            rates[name].append(passed.successes / passed.of)
    return {name: sum(own) / len(own) for name, own in rates.items()}


SUITE_COLUMNS = ("passed by all or none", "pairs of one profile", "easiest less hardest")
LARGER_COLUMNS = (
    *("passed by all or none", "pairs of one profile"),
    *(f"mid-level agents, {one}" for one in DIFFICULTIES),
)


def pool_row(one: Measured) -> str:
    """Return a category's row of the table of pools."""
    mark = "" if one.pool >= pools.POOL else f" {BEYOND}"
    figures = _cells(one.of_pool, one.how.columns)
    return _row(f"`{one.category}`", f"{one.candidates:,}", f"{one.pool}{mark}", *figures)


def suite_row(one: Measured) -> str:
    """Return a category's row of the table of suites: the suite of ten, and the larger one."""
    fall = next((row.held for row in one.of_larger if row.name == "easiest less hardest"), True)
    harder = _cells(one.of_larger, LARGER_COLUMNS)
    harder[-1] += "" if fall else f" {BEYOND}"
    return _row(f"`{one.category}`", *_cells(one.of_ten, SUITE_COLUMNS), *harder)


def agents_row(one: Measured) -> str:
    """Return a category's row of the table of agents."""
    return _row(f"`{one.category}`", *(_figure(one.passed[name]) for name in one.how.agents))


def shaky_row(one: Measured) -> str:
    """Return a category's row of the table of unsteady probes."""
    there = (one.shaky.get(level) for level in DIFFICULTIES)
    cells = (f"{_figure(own[1])} of {own[0]}" if own else "" for own in there)
    return _row(f"`{one.category}`", *cells)


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


def tables(own: Measure, every: Sequence[Measured]) -> Iterator[str]:
    """Yield the tables of the categories of a domain."""
    of_ten = (f"{name}, of ten" for name in SUITE_COLUMNS)
    yield _table(["category", "candidates", "pool", *own.columns], map(pool_row, every))
    yield _table(["category", *of_ten, *LARGER_COLUMNS], map(suite_row, every))
    yield _table(["category", *own.agents], map(agents_row, every))
    if own.shaky:
        yield _table(["category", *DIFFICULTIES], map(shaky_row, every))


def _table(names: Sequence[str], rows: Iterable[str]) -> str:
    return "\n".join([_row(*names), "|" + "---|" * len(names), *rows])


def main(argv: Sequence[str] = ()) -> int:
    """Print the tables; return the exit code."""
    parser = argparse.ArgumentParser(prog="gate_table", description=__doc__)
    parser.add_argument("domain", nargs="?", default="lambda-star", choices=MEASURES)
    parser.add_argument("category", nargs="*", metavar="CATEGORY")
    parser.add_argument("--pool", type=int, metavar="N")
    args = parser.parse_args(argv)
    try:
        own, every = MEASURES[args.domain], []
        played = own.recordings()
        chosen = [categories.named(name) for name in args.category] or held(args.domain)
        for category in chosen:
            every.append(measured(category, played, pool=args.pool))
            print(f"{category.name}: {[*every[-1].beyond]}", file=sys.stderr, flush=True)
    except StsError as error:
        print(f"gate_table: {error}", file=sys.stderr)
        return error.exit_code
    print(*tables(own, every), sep="\n\n")
    return 0


def held(domain: str) -> list[Category]:
    """Return the categories of a domain that are held to gates."""
    return [one for one in categories.of(domain) if one.controls is not None]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
