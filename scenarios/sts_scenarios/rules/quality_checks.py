"""Quality checks of a category's scenarios, as rows of a table.

Checks of a pool need about two hundred scenarios of one category, balanced by answer; with ten,
some constant answer passes two. Checks of a suite concern its own scenarios. The policies and
limits are those that the category declares as `ControlPolicies`; without them a row is left out.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sts import agents
from sts.suites.suite import DIFFICULTIES, Scenario
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Category
from sts_scenarios.rules.chance import compute_open_loop_pass_rate, compute_pass_rate
from sts_scenarios.rules.profiles import Profile

CONTINUATIONS = 20
MAX_OPEN_LOOP, MAX_OVER_CHANCE = 0.15, 1.3
"""Maximum open-loop pass rate: of an instruction, and of a question as a multiple of chance."""
REWARD, SHORTCUT, ALIKE = 0.2, 1.5, 0.5
"""Maximum for a reward maximiser, for the shortcut over chance, and share of pairs alike."""
MIN_SOLVER = 0.9
"""Minimum pass rate of the solver."""
MIDDLE = (0.1, 0.9)
"""Pass rates of agents that are neither too weak nor too strong to compare difficulties."""


class QualityCheck(NamedTuple):
    """A measured figure and its limit."""

    category: str
    name: str  # of the measure
    figure: float
    limit: float | None  # None if the figure is only reported
    least: bool = False  # the limit is a minimum, not a maximum

    @property
    def is_passed(self) -> bool:
        """True if the figure is within its limit."""
        if self.limit is None:
            return True
        within = self.figure - self.limit if self.least else self.limit - self.figure
        return within >= -1e-9


def check_category(
    category: Category, scenarios: Sequence[Scenario], *, continuations: int = CONTINUATIONS
) -> list[QualityCheck]:
    """Return checks of how many scenarios of a category can be passed without doing what they ask.

    The chance level is 1 / answers of a question, and of an instruction the best open-loop policy.
    A policy that draws continues each scenario `continuations` times. The list is empty if the
    category declares no controls, or there are no scenarios.
    """
    controls = category.controls
    if controls is None or not scenarios:
        return []

    def rate(agent: agents.Agent) -> float:
        return compute_pass_rate(category, scenarios, agent, continuations=continuations)

    blind = compute_open_loop_pass_rate(category, scenarios, continuations=continuations)
    guess = 1 / len(controls.answers) if controls.answers else None
    usual = MAX_OPEN_LOOP if guess is None else MAX_OVER_CHANCE * guess
    max_rate = usual if controls.max_open_loop_rate is None else controls.max_open_loop_rate
    rows = [QualityCheck(category.name, "open loop", blind, max_rate)]
    for name in categories.collect_names(category.domain, "BASELINES"):
        agent, limit = agents.load(name), REWARD if controls.against_reward else None
        rows.append(QualityCheck(category.name, agent.name, rate(agent), limit))
    if controls.shortcut is not None:
        limit = SHORTCUT * (blind if guess is None else guess)
        rows.append(QualityCheck(category.name, "shortcut", rate(controls.shortcut), limit))
    if controls.solver is not None:
        passed, limit = rate(controls.solver), MIN_SOLVER
        rows.append(QualityCheck(category.name, "solver", passed, limit, least=True))
    return rows


def check_suite(
    scenarios: Sequence[Scenario], rules: Mapping[str, Category], profiles: Sequence[Profile] = ()
) -> list[QualityCheck]:
    """Return checks of the scenarios of a suite, category by category.

    `profiles` are by agents that were chosen beforehand; without them the rows on pass rates are
    left out.
    """
    by_category: dict[str, list[Scenario]] = defaultdict(list)
    for scenario in scenarios:
        by_category[scenario.category].append(scenario)
    by_hash = {profile.scenario: profile for profile in profiles}
    return [
        row
        for name, members in sorted(by_category.items())
        if name in rules and rules[name].controls is not None
        for row in (
            *_balance_checks(rules[name], members),
            *_discrimination_checks(
                name, members, [by_hash[s.hash] for s in members if s.hash in by_hash]
            ),
        )
    ]


def _balance_checks(category: Category, scenarios: Sequence[Scenario]) -> Iterator[QualityCheck]:
    """Yield the number of scenarios with the commonest answer, if there are answers."""
    answers = category.controls.answers if category.controls else ()
    if answers:
        count = Counter(str(s.parameters["answer"]) for s in scenarios)
        max_count = math.ceil(len(scenarios) / len(answers))
        yield QualityCheck(category.name, "scenarios of one answer", max(count.values()), max_count)


def _discrimination_checks(
    name: str, scenarios: Sequence[Scenario], profiles: Sequence[Profile]
) -> Iterator[QualityCheck]:
    """Yield checks that scenarios discriminate, differ, and are ordered by difficulty."""
    if not profiles:
        return
    flat = sum(bool(profile.why_equal) for profile in profiles)
    yield QualityCheck(name, "passed by all or none", flat, 0)
    pairs = [a.passed == b.passed for a, b in itertools.combinations(profiles, 2)]
    if pairs:
        yield QualityCheck(name, "pairs of one profile", sum(pairs) / len(pairs), ALIKE)
    difficulty = {s.hash: s.difficulty for s in scenarios}
    rates = _compute_rates_by_difficulty(profiles, difficulty)
    for level in DIFFICULTIES:
        if level in rates:
            yield QualityCheck(name, f"mid-level agents, {level}", rates[level], None)
    level_rates = [rates[level] for level in DIFFICULTIES if level in rates]
    if len(level_rates) > 1:
        yield QualityCheck(
            name, "easiest less hardest", level_rates[0] - level_rates[-1], 0, least=True
        )


def _compute_rates_by_difficulty(
    profiles: Sequence[Profile], difficulty: Mapping[str, str]
) -> dict[str, float]:
    """Return the pass rates, by difficulty, of agents that are neither weak nor strong."""
    by_agent: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for profile in profiles:
        for agent, passed in profile.passed.items():
            by_agent[agent][difficulty[profile.scenario]].append(passed.successes / passed.of)
    rates: dict[str, list[float]] = defaultdict(list)
    for by_level in by_agent.values():
        pooled = [rate for level_rates in by_level.values() for rate in level_rates]
        if MIDDLE[0] <= sum(pooled) / len(pooled) <= MIDDLE[1]:
            for level, level_rates in by_level.items():
                rates[level] += level_rates
    return {level: sum(values) / len(values) for level, values in rates.items()}
