"""The gates that a category's scenarios pass before they test anybody, as rows of a table.

Those of a pool want some two hundred scenarios of one category, balanced by answer: some constant
answer passes two of ten. Those of a suite are about the scenarios that it has. A category declares
by `Controls` what it is tested with; of what it does not declare there is no row.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sts import agents
from sts.suites.types import DIFFICULTIES, Scenario
from sts_scenarios import categories
from sts_scenarios.category import Category
from sts_scenarios.mining.chance import open_loop, pass_rate
from sts_scenarios.profiles import Profile

CONTINUATIONS = 20
OPEN_LOOP, GUESSES = 0.15, 1.3
"""The most without eyes: of an instruction, and of a question times one in so many answers."""
REWARD, SHORTCUT, ALIKE = 0.2, 1.5, 0.5
"""The most for who maximises reward, for the shortcut times chance, of pairs of one profile."""
MIDDLE = (0.1, 0.9)
"""Agents between these pass rates are neither too weak nor too strong to tell difficulties."""


class Gate(NamedTuple):
    """One figure held to its limit.

    Attributes:
      category: whose.
      name: what was measured.
      figure: what it came to.
      limit: what it is held to; None where it is only reported.
      least: whether the limit is the least and not the most.
    """

    category: str
    name: str
    figure: float
    limit: float | None
    least: bool = False

    @property
    def held(self) -> bool:
        """Whether the figure is within its limit."""
        if self.limit is None:
            return True
        within = self.figure - self.limit if self.least else self.limit - self.figure
        return within >= -1e-9


def of_pool(
    category: Category,
    scenarios: Sequence[Scenario],
    *,
    continuations: int = CONTINUATIONS,
    seed: int = 0,
) -> list[Gate]:
    """Return what can be had of scenarios of one category without doing what they ask.

    Chance is one in so many answers of a question, and of an instruction the best policy without
    eyes. A policy that draws continues each scenario `continuations` times. The list is empty if
    the category declares no controls, or there are no scenarios.
    """
    controls = category.controls
    if controls is None or not scenarios:
        return []

    def rate(agent: agents.Agent) -> float:
        return pass_rate(category, scenarios, agent, continuations=continuations, seed=seed)

    blind = open_loop(category, scenarios, continuations=continuations, seed=seed)
    guess = 1 / len(controls.answers) if controls.answers else None
    usual = OPEN_LOOP if guess is None else GUESSES * guess
    most = usual if controls.open_loop is None else controls.open_loop
    rows = [Gate(category.name, "open loop", blind, most)]
    for name in categories.baselines(category.domain):
        limit = REWARD if controls.against_reward else None
        rows.append(Gate(category.name, agents.load(name).name, rate(agents.load(name)), limit))
    if controls.shortcut is not None:
        chance = blind if guess is None else guess
        rows.append(Gate(category.name, "shortcut", rate(controls.shortcut), SHORTCUT * chance))
    if controls.probe is not None:
        rows.append(
            Gate(category.name, "probe", rate(controls.probe), controls.probe_least, least=True)
        )
    return rows


def of_suite(
    scenarios: Sequence[Scenario], rules: Mapping[str, Category], profiles: Sequence[Profile] = ()
) -> list[Gate]:
    """Return what is so of the scenarios of a suite, category by category.

    `profiles` are by agents that were fixed before; without them there is no row about who passes
    what.
    """
    by_category: dict[str, list[Scenario]] = defaultdict(list)
    for one in scenarios:
        by_category[one.category].append(one)
    own = {profile.scenario: profile for profile in profiles}
    return [
        row
        for name, every in sorted(by_category.items())
        if name in rules and rules[name].controls is not None
        for row in (
            *_balance(rules[name], every),
            *_telling(name, every, [own[s.hash] for s in every if s.hash in own]),
        )
    ]


def _balance(category: Category, scenarios: Sequence[Scenario]) -> Iterator[Gate]:
    """Yield how often the commonest answer stands, where there are answers."""
    answers = category.controls.answers if category.controls else ()
    if answers:
        count = Counter(str(one.parameters["answer"]) for one in scenarios)
        most = math.ceil(len(scenarios) / len(answers))
        yield Gate(category.name, "scenarios of one answer", max(count.values()), most)


def _telling(
    name: str, scenarios: Sequence[Scenario], profiles: Sequence[Profile]
) -> Iterator[Gate]:
    """Yield whether scenarios tell agents apart, each other ones, and the harder fewer."""
    if not profiles:
        return
    flat = sum(bool(one.flat) for one in profiles)
    yield Gate(name, "passed by all or none", flat, 0)
    pairs = [a.passed == b.passed for a, b in itertools.combinations(profiles, 2)]
    if pairs:
        yield Gate(name, "pairs of one profile", sum(pairs) / len(pairs), ALIKE)
    difficulty = {one.hash: one.difficulty for one in scenarios}
    rates = _by_difficulty(profiles, difficulty)
    for one in DIFFICULTIES:
        if one in rates:
            yield Gate(name, f"mid-level agents, {one}", rates[one], None)
    there = [rates[one] for one in DIFFICULTIES if one in rates]
    if len(there) > 1:
        yield Gate(name, "easiest less hardest", there[0] - there[-1], 0, least=True)


def _by_difficulty(profiles: Sequence[Profile], difficulty: Mapping[str, str]) -> dict[str, float]:
    """Return what agents that are neither weak nor strong pass, by difficulty."""
    by_agent: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for profile in profiles:
        for agent, passed in profile.passed.items():
            by_agent[agent][difficulty[profile.scenario]].append(passed.successes / passed.of)
    rates: dict[str, list[float]] = defaultdict(list)
    for own in by_agent.values():
        every = [rate for one in own.values() for rate in one]
        if MIDDLE[0] <= sum(every) / len(every) <= MIDDLE[1]:
            for name, one in own.items():
                rates[name] += one
    return {name: sum(one) / len(one) for name, one in rates.items()}
