"""The gates of a domain's categories, measured on recordings of their own, as tables of Markdown.

    python -m tests.reproduction.suites.gate_table [DOMAIN] [CATEGORY ...] [--pool N]

Of each category a pool is mined, which the first gates are held to, a suite of ten as a packaged
one has, and a larger one, whose figures are less by chance. What is beyond its limit has a mark.
The default domain is Λ*, and the default categories are all that have gates.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sts import agents
from sts.agents import Agent, PolicyOutput
from sts.agents.protocol import Draws, Instructions, Memory
from sts.domains import load_domain
from sts.errors import StsError
from sts.suites.suite import DIFFICULTIES, Scenario
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.rules import categories, quality_checks
from sts_scenarios.rules.category import Candidate, Category
from sts_scenarios.rules.chance import compute_pass_rate
from sts_scenarios.rules.profiles import Profile, compute_profiles
from sts_scenarios.rules.quality_checks import QualityCheck
from tests.mined import mine
from tests.reproduction.suites import pools
from tests.reproduction.suites.gate_recordings import MEASURES, Measure

SUITE = 10
SLIP = 0.3
"""Share of its moves that a shaky solver takes at random."""
BEYOND = "!"
"""Marks a figure that is beyond its limit."""


class Measured(NamedTuple):
    """What one category came to."""

    category: str
    candidates: int  # moments per thousand episodes of the test side
    pool: int  # how many scenarios the first gates were measured on
    of_pool: list[QualityCheck]  # the floors among them
    of_ten: list[QualityCheck]  # of a suite of ten
    of_larger: list[QualityCheck]  # of a larger one
    passed: dict[str, float]  # of the larger one, by each agent
    shaky: dict[str, tuple[int, float]]  # by difficulty: scenarios, and what a shaky solver passes

    @property
    def how(self) -> Measure:
        return MEASURES[categories.load_category(self.category).domain]

    @property
    def beyond(self) -> list[QualityCheck]:
        """Those of the pool and of the suite of ten that are beyond their limit."""
        return [one for one in (*self.of_pool, *self.of_ten) if not one.is_passed]


def measured(
    category: Category,
    trajectories: Sequence[Trajectory],
    *,
    pool: int | None = None,
    continuations: int | None = None,
    larger: int | None = None,
) -> Measured:
    """Return what a category comes to on recordings."""
    how = MEASURES[category.domain]
    continuations = how.continuations if continuations is None else continuations
    ready = _searched(category, trajectories)
    most = max(how.per_world, pools.PER_WORLD)
    scenarios = pools.pool(ready, trajectories, pool or how.pool, per_world=most)
    rows = quality_checks.check_category(category, scenarios, continuations=continuations)
    for name in how.floors:
        rate = compute_pass_rate(
            category, scenarios, agents.load(name), continuations=continuations
        )
        rows.append(QualityCheck(category.name, name, rate, None))
    of_ten, _ = _of_suite(ready, trajectories, SUITE, how)
    of_larger, made = _of_suite(ready, trajectories, larger or how.larger, how)
    find_candidates = sum(len(ready.find_candidates(one)) for one in trajectories)
    each = round(1000 * find_candidates / len(trajectories))
    shaky = by_difficulty(category, scenarios, continuations) if how.shaky else {}
    gated = rows, of_ten, of_larger
    return Measured(category.name, each, len(scenarios), *gated, _rates(made), shaky)


def _of_suite(
    category: Category, trajectories: Sequence[Trajectory], count: int, how: Measure
) -> tuple[list[QualityCheck], list[Profile]]:
    """Return what is so of a suite mined as packaged ones are, and its profiles."""
    given: dict[str, Any] = {"seed": 0, "per_world": how.per_world, "strata": ("difficulty",)}
    mined = mine(trajectories, [category], per_category=count, **given)
    made = [one.profile for one in compute_profiles(mined.scenarios)]
    return quality_checks.check_suite(mined.scenarios, {category.name: category}, made), made


def _searched(category: Category, trajectories: Iterable[Trajectory]) -> Category:
    """Return a category that has found its candidates."""
    there = {one.id: category.find_candidates(one) for one in trajectories}

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        return iter(there[trajectory.id])

    return replace(category, candidates=candidates)


class Shaky(Agent):
    """Another agent of moves alone, of whose moves some are drawn from all."""

    name, version = "shaky", "1"

    def __init__(self, steady: Agent, actions: int, slip: float) -> None:
        self.steady, self.actions, self.slip = steady, actions, slip

    def initial_state(self, batch: int, players: int) -> Memory:
        return self.steady.initial_state(batch, players)

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        choice, after = self.steady.act(observation, instructions, memory, draws)
        steady = np.eye(self.actions)[choice.actions]
        return PolicyOutput((1 - self.slip) * steady + self.slip / self.actions), after


def by_difficulty(
    category: Category, scenarios: Sequence[Scenario], continuations: int, *, slip: float = SLIP
) -> dict[str, tuple[int, float]]:
    """Return of each difficulty how many there are, and what a shaky solver passes of them.

    A pair counts as one.
    """
    controls, out = category.controls, {}
    assert controls is not None and controls.solver is not None
    shaky = Shaky(controls.solver, len(load_domain(category.domain).action_names), slip)
    for level in DIFFICULTIES:
        own = [one for one in scenarios if one.difficulty == level]
        if own:
            rate = compute_pass_rate(category, own, shaky, continuations=continuations)
            out[level] = len({one.pair or one.id for one in own}), rate
    return out


def _rates(made: Sequence[Profile]) -> dict[str, float]:
    """Return what each agent passes, of all scenarios."""
    every = [one.passed for one in made]
    return {
        name: sum(own[name].successes / own[name].of for own in every) / len(every)
        for name in (every[0] if every else ())
    }


SUITE_COLUMNS = ("passed by all or none", "pairs of one profile", "easiest less hardest")
LARGER_COLUMNS = (*SUITE_COLUMNS[:2], *(f"mid-level agents, {one}" for one in DIFFICULTIES))


def pool_row(one: Measured) -> str:
    """Return a category's row of the table of pools."""
    mark = "" if one.pool >= pools.POOL else f" {BEYOND}"
    figures = _cells(one.of_pool, one.how.columns)
    return _row(f"`{one.category}`", f"{one.candidates:,}", f"{one.pool}{mark}", *figures)


def suite_row(one: Measured) -> str:
    """Return a category's row of the table of suites: the suite of ten, and the larger one."""
    fall = next((row.is_passed for row in one.of_larger if row.name == SUITE_COLUMNS[2]), True)
    harder = _cells(one.of_larger, LARGER_COLUMNS)
    harder[-1] += "" if fall else f" {BEYOND}"
    return _row(f"`{one.category}`", *_cells(one.of_ten, SUITE_COLUMNS), *harder)


def agents_row(one: Measured) -> str:
    """Return a category's row of the table of agents."""
    return _row(f"`{one.category}`", *(_figure(one.passed[name]) for name in one.how.agents))


def shaky_row(one: Measured) -> str:
    """Return a category's row of the table of unsteady solvers."""
    there = (one.shaky.get(level) for level in DIFFICULTIES)
    cells = (f"{_figure(own[1])} of {own[0]}" if own else "" for own in there)
    return _row(f"`{one.category}`", *cells)


def _cells(rows: Iterable[QualityCheck], names: Sequence[str]) -> list[str]:
    cells = {row.name: _figure(row.figure) + f" {BEYOND}" * (not row.is_passed) for row in rows}
    return [cells.get(name, "") for name in names]


def _figure(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".")


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def tables(own: Measure, every: Sequence[Measured]) -> Iterator[str]:
    """Yield the tables of the categories of a domain."""
    of_ten = (f"{name}, of ten" for name in SUITE_COLUMNS)
    for names, row in (
        (("candidates", "pool", *own.columns), pool_row),
        ((*of_ten, *LARGER_COLUMNS), suite_row),
        (own.agents, agents_row),
        *([(DIFFICULTIES, shaky_row)] if own.shaky else []),
    ):
        head = [_row("category", *names), "|" + "---|" * (1 + len(names))]
        yield "\n".join([*head, *map(row, every)])


def main(argv: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="gate_table", description=__doc__)
    parser.add_argument("domain", nargs="?", default="lambda-star", choices=MEASURES)
    parser.add_argument("category", nargs="*", metavar="CATEGORY")
    parser.add_argument("--pool", type=int, metavar="N")
    args = parser.parse_args(argv)
    try:
        own, every = MEASURES[args.domain], []
        played = own.recordings()
        chosen = [categories.load_category(name) for name in args.category] or list_controlled(
            args.domain
        )
        for category in chosen:
            every.append(measured(category, played, pool=args.pool))
            print(f"{category.name}: {[*every[-1].beyond]}", file=sys.stderr, flush=True)
    except StsError as error:
        print(f"gate_table: {error}", file=sys.stderr)
        return error.exit_code
    print(*tables(own, every), sep="\n\n")
    return 0


def list_controlled(domain: str) -> list[Category]:
    return [one for one in categories.load_categories(domain) if one.controls is not None]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
