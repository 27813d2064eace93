"""Power of a study for other annotators than those who judge it.

Annotators differ in strictness, which moves two agents alike unless their rates are far apart, and
favour agents, which moves each by itself. More scenarios lessen neither.

Axes: N studies, S scenarios, K annotators.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import optimize, special

from sts_analysis.planning.chances import POPULATION, Accuracy
from sts_analysis.planning.power import (
    ERROR_RATE,
    MAX_COUNT,
    MAX_SHORTFALL,
    Assumptions,
    Design,
    find_count,
    reach,
)
from sts_analysis.statistics.annotators import Judging
from sts_analysis.statistics.rates import MIN_ANNOTATORS, RateModel
from sts_analysis.statistics.tabulation import Continuations, Outcomes

STUDIES = 200
MAX_SIMULATED = 20_000
"""Verdicts on one agent beyond which no study is simulated."""
MAX_ANNOTATORS = 1000
_CORRECTIONS = 3
_SEEN = 8.0
"""Times the variance of favours, up to which the noise about them counts."""


class Pool(NamedTuple):
    """Annotators of a study of some agents, who judge equally much of each."""

    annotators: int
    agents: int
    strictness: float  # standard deviation, in log odds of calling something a success
    favouritism: float  # standard deviation of what an annotator adds for an agent, in the same

    def average(self, accuracy: Accuracy) -> Accuracy:
        """Return the accuracy of the annotators together, below that of a typical one."""
        return accuracy.average(float(np.hypot(self.strictness, self.favouritism)))

    def vary(self, accuracy: Accuracy, rates: np.ndarray) -> tuple[float, float]:
        """Return the variances of a difference by strictness and by favours, one annotator each.

        Args:
          accuracy: of an annotator who is neither strict nor lenient.
          rates: float64[2], true pass rates.
        """

        def judge(deviation: float) -> np.ndarray:
            success, other = accuracy.call(deviation * POPULATION)
            return np.asarray(other + np.multiply.outer(rates, success - other))

        strict, both = judge(self.strictness), judge(math.hypot(self.strictness, self.favouritism))
        favoured = both.var(axis=1) - strict.var(axis=1)
        return float((strict[0] - strict[1]).var()), float(favoured.sum())


class OthersPlan(NamedTuple):
    """The smallest difference of two agents that a study detects for other annotators."""

    pool: Pool
    difference: float | None  # the minimum detectable one, in (0, 1]; None if there is none
    power: float | None  # simulated at that difference; None without one, or if it is too large
    power_error: float | None
    shares: dict[str, float]  # of the variance of the difference, by source
    # scenarios and annotators that detect a target, each with all else the same; None if no number
    # does
    needed: dict[str, int | None]


def plan_for_others(
    assumptions: Assumptions, design: Design, pool: Pool, target: float
) -> OthersPlan:
    """Plan a study whose result is to hold for other annotators, and simulate it.

    Args:
      assumptions: of both agents.
      design: of the study.
      pool: of annotators, at least three.
      target: a difference to detect, in (0, 1].
    """
    most, aim = assumptions.max_difference, min(target, assumptions.max_difference)
    difference, power = None, None
    if _exceed(assumptions, design, pool, most) >= 0:
        difference = float(
            optimize.brentq(lambda d: _exceed(assumptions, design, pool, d), 0.0, most)
        )
        if design.verdicts <= MAX_SIMULATED:
            power = simulate_power_for_others(assumptions, design, pool, difference)
            difference, power = _correct(assumptions, design, pool, difference, power)
    parts = _split_variance(assumptions, design, pool, difference or 0.0)
    names = "scenarios", "continuations", "verdicts", "strictness", "favours"
    return OthersPlan(
        pool=pool,
        difference=difference,
        power=power,
        power_error=None if power is None else math.sqrt(power * (1 - power) / STUDIES),
        shares=dict(zip(names, (parts / parts.sum()).tolist(), strict=True)),
        needed={
            "scenarios": find_count(
                lambda n: _exceed(assumptions, design._replace(scenarios=n), pool, aim) >= 0,
                MAX_COUNT["scenarios"],
            ),
            "annotators": find_count(
                lambda n: (
                    n >= MIN_ANNOTATORS
                    and _exceed(assumptions, design, pool._replace(annotators=n), aim) >= 0
                ),
                MAX_ANNOTATORS,
            ),
        },
    )


def _correct(
    assumptions: Assumptions, design: Design, pool: Pool, difference: float, power: float
) -> tuple[float, float]:
    """Return a larger difference, and its power in other draws, if the formula promised too much.

    With few annotators the variance of favours is vague, and more so than its degrees of freedom.
    """
    most = assumptions.max_difference
    for seed in range(1, _CORRECTIONS + 1):
        if power >= design.power - MAX_SHORTFALL or difference >= most:
            break
        df, _ = _find_error(assumptions, design, pool, difference)
        bar = special.stdtrit(df, 1 - ERROR_RATE / design.pairs / 2)
        # Power is about that of a normal number this far below its mean.
        wanted, found = bar + special.ndtri(design.power), bar + special.ndtri(max(power, 0.01))
        difference = min(most, difference * min(2.0, float(wanted / max(found, wanted / 2))))
        power = simulate_power_for_others(assumptions, design, pool, difference, seed=seed)
    return difference, power


def _split_variance(
    assumptions: Assumptions, design: Design, pool: Pool, difference: float
) -> np.ndarray:
    """Return float64[5]: the parts of scenarios, continuations, verdicts, strictness, favours."""
    usual = assumptions._replace(accuracy=pool.average(assumptions.accuracy))
    rates = assumptions.chances(difference).rate @ assumptions.share
    people = np.array(pool.vary(assumptions.accuracy, rates)) / pool.annotators
    return np.append(design.variance(usual, difference) / design.scenarios, people)


def _exceed(assumptions: Assumptions, design: Design, pool: Pool, difference: float) -> float:
    """Return by how much a difference exceeds the smallest one detected, as judged."""
    if design.degrees_of_freedom(len(assumptions.rate)) < 1:
        return -math.inf
    df, error = _find_error(assumptions, design, pool, difference)
    bar = reach(df, ERROR_RATE / design.pairs, design.power)
    return pool.average(assumptions.accuracy).scale * difference - bar * error


def _find_error(
    assumptions: Assumptions, design: Design, pool: Pool, difference: float
) -> tuple[float, float]:
    """Return the degrees of freedom of a difference, and its standard error."""
    df = design.degrees_of_freedom(len(assumptions.rate))
    parts = _split_variance(assumptions, design, pool, difference)
    free = pool.annotators - 1
    # Satterthwaite 1946, as the report adds these variances. That of favours is estimated from how
    # annotators deviate, in which there is as much noise as in the difference; but of small favours
    # most studies see none.
    sampled, variance = float(parts[:3].sum()), float(parts.sum())
    below = sampled**2 / df + parts[3] ** 2 / free
    noise = min(sampled, _SEEN * parts[4])
    below += (parts[4] + noise) ** 2 / (free * (pool.agents - 1))
    return max(1.0, variance**2 / below), math.sqrt(variance)


def simulate_power_for_others(
    assumptions: Assumptions,
    design: Design,
    pool: Pool,
    difference: float,
    *,
    studies: int = STUDIES,
    seed: int = 0,
) -> float:
    """Return the share of simulated studies that detect a difference for other annotators.

    Agents beyond the two have the rate of the first.
    """
    rng, scenario = np.random.default_rng(seed), np.arange(design.scenarios)
    category = np.searchsorted(np.cumsum(assumptions.share)[:-1], (scenario + 0.5) / len(scenario))
    unit = (scenario / design.unit_size).astype(np.int64)
    two = assumptions.chances(difference)
    rows = np.append([0, 1], np.zeros(pool.agents - 2, np.int64))
    model = two._replace(rate=two.rate[rows], icc=two.icc[rows])
    detected = 0
    for _ in range(studies):
        chance = model.draw(category, unit, rng, 1)[:, 0]
        judging = _judge(chance, assumptions.accuracy, design, pool, rng)
        outcomes = _lay_out(judging, category, unit, design)
        found = RateModel(outcomes).compare(np.arange(2), other_annotators=True)
        detected += bool(found.p[0] < ERROR_RATE / design.pairs)
    return detected / studies


def _judge(
    chance: np.ndarray, accuracy: Accuracy, design: Design, pool: Pool, rng: np.random.Generator
) -> Judging:
    """Draw the verdicts on agents whose chances are float64[A, S], dealt evenly."""
    people, shape = pool.annotators, (*chance.shape, design.continuations)
    shift = pool.strictness * rng.standard_normal(people)
    shift = shift + pool.favouritism * rng.standard_normal((len(chance), people))
    called = accuracy.call(shift)  # [2, A, K]
    success = rng.random(shape) < chance[..., None]
    # Each deal goes on where the last one ended, so that all judge equally much of an agent.
    turn = np.arange(success[0].size).reshape(shape[1:]) + rng.integers(
        people, size=(len(chance), 1, 1)
    )
    judgements, passed = np.zeros((2, *chance.shape, people))
    agent, place = np.arange(len(chance))[:, None, None], np.arange(shape[1])[:, None]
    for number in range(min(design.annotations, people)):
        person = (turn + number) % people
        share = np.where(success, called[0][agent, person], called[1][agent, person])
        np.add.at(judgements, (agent, place, person), 1.0)
        np.add.at(passed, (agent, place, person), rng.random(shape) < share)
    given = judgements.sum(axis=2, keepdims=True)
    names = tuple(f"{k:04}" for k in range(people))
    return Judging(names, judgements / given, passed / given, judgements, passed)


def _lay_out(judging: Judging, category: np.ndarray, unit: np.ndarray, design: Design) -> Outcomes:
    value = judging.value.sum(axis=2)
    agents, scenarios = value.shape
    judged = np.full(value.shape, design.continuations)
    return Outcomes(
        source="human",
        agents=tuple(map(str, range(agents))),
        baseline=np.zeros(agents, bool),
        scenarios=tuple(map(str, range(scenarios))),
        category=category,
        categories=tuple(map(str, range(int(category.max()) + 1))),
        kind=("",) * scenarios,
        unit=unit,
        value=value,
        low=value,
        high=value,
        bound_share=np.ones(value.shape),
        continued=np.ones(value.shape, bool),
        judged=judged,
        unjudgeable=np.zeros_like(judged),
        continuations=Continuations(*[np.zeros(0)] * 8),
        judging=judging,
        judged_clips=judged.sum(axis=1),
    )
