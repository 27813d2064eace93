"""The smallest difference between two agents that a study detects, and what a smaller one takes.

A formula gives the difference; the study is then simulated and tested with the report's estimator.
Source: Miller 2024 (arXiv 2411.00640), section 5, here at the rates of both agents; units of
several scenarios: Kish 1965, Survey Sampling, section 5.4.

Axes: C categories, S scenarios.
"""

import bisect
import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, stats

from sts_analysis.planning.chances import Accuracy, ChanceModel
from sts_analysis.statistics import estimate as est

ERROR_RATE = 0.05
POWER = 0.8
STUDIES = 400
_SEARCHED = 2000
MAX_SHORTFALL = 0.05
"""How far simulated power may fall short before the difference is searched for by simulation."""
MAX_COUNT = {"scenarios": 1_000_000, "continuations": 10_000, "annotations": 1_000}
"""Numbers beyond which no study is planned."""
MAX_SIMULATED = 100_000
"""Verdicts on one agent beyond which no study is simulated; the formula is exact there."""
_AT_ONCE = 1_000_000


class Assumptions(NamedTuple):
    """Facts and assumptions about two agents before a study."""

    rate: np.ndarray  # float64[C], pass rate of one of them
    share: np.ndarray  # float64[C], share of the scenarios in each category
    icc: float  # intraclass correlation of an agent's outcomes within scenarios; NaN if not known
    correlation: float  # of the two agents' chances over scenarios
    trajectory_share: float  # share of the variance between scenarios that belongs to the unit
    accuracy: Accuracy  # of annotators

    @property
    def max_difference(self) -> float:
        """The largest difference that there is room for."""
        mean = float(self.share @ self.rate)
        return max(mean, 1 - mean)

    def chances(self, difference: float) -> ChanceModel:
        """Return the chances of two agents; the second has the larger rate, or less above .5."""
        mean = float(self.share @ self.rate)
        room = (1 - self.rate) / (1 - mean) if mean <= 0.5 else -self.rate / mean
        rate = np.clip(np.stack([self.rate, self.rate + difference * room]), 0.0, 1.0)
        icc = np.full(2, 1.0 if math.isnan(self.icc) else self.icc)
        return ChanceModel(rate, icc, self.correlation, self.trajectory_share)


class Design(NamedTuple):
    """The size of a study of two agents, and how they are compared."""

    scenarios: int  # how many
    continuations: int  # of each scenario, by each agent
    annotations: int  # of each continuation
    unit_size: float = 1.0  # scenarios of one unit
    pairs: int = 1  # number of comparisons, of which this one must pass Holm's first step
    power: float = POWER  # probability of detecting the difference
    # whether these scenarios are the only ones of interest; continuations are then units
    fixed: bool = False

    @property
    def verdicts(self) -> int:
        """Verdicts on one agent."""
        return self.scenarios * self.continuations * self.annotations

    def degrees_of_freedom(self, categories: int) -> float:
        """Return those of a difference; 0 if too few units could differ."""
        # As `estimate.weigh` groups scenarios: one mean for each category, or one for all.
        units, groups = self.scenarios / self.unit_size, categories
        if self.fixed:
            units, groups = self.scenarios * self.continuations, self.scenarios
        if units < est.MIN_DIFFERING_UNITS:
            return 0.0
        return units - (groups if units >= est.MIN_UNITS_PER_CATEGORY * groups else 1)

    def variance(self, assumptions: Assumptions, difference: float) -> np.ndarray:
        """Return the variance of a scenario's difference of pass rates as judged.

        Returns:
          float64[3], the parts of scenarios, of continuations and of annotators.
        """
        chances, accuracy = assumptions.chances(difference), assumptions.accuracy
        outcome = accuracy.scale**2 * chances.rate * (1 - chances.rate)
        judging = accuracy.verdict_variance(chances.rate).sum(axis=0) / self.annotations
        common = 2 * chances.correlation * np.sqrt(outcome.prod(axis=0))
        icc = chances.icc[0]
        between = icc * (outcome.sum(axis=0) - common)
        between *= 1 + (self.unit_size - 1) * chances.trajectory_share
        if self.fixed:  # too few continuations do not tell a scenario's mean from their spread
            between *= 0
            icc *= self.continuations >= est.MIN_UNITS_PER_CATEGORY
        within = (1 - icc) * outcome.sum(axis=0)
        parts = [between, within / self.continuations, judging / self.continuations]
        return np.asarray(np.stack(parts) @ assumptions.share)

    def excess(self, assumptions: Assumptions, difference: float) -> float:
        """Return by how much a difference exceeds the smallest one detected, as judged."""
        df = self.degrees_of_freedom(len(assumptions.rate))
        if df < 1:
            return -math.inf
        error = math.sqrt(self.variance(assumptions, difference).sum() / self.scenarios)
        bar = reach(df, ERROR_RATE / self.pairs, self.power)
        return assumptions.accuracy.scale * difference - bar * error


class Plan(NamedTuple):
    """The smallest difference of two agents that a study detects."""

    # the minimum detectable one, in (0, 1]; None if no difference is detected
    difference: float | None
    searched: bool  # whether it was found by simulation, since the formula promised too much
    # simulated at that difference; None without one, or if the study is too large
    power: float | None
    power_error: float | None  # its standard error
    shares: dict[str, float]  # of the variance of the difference, by source
    # scenarios, continuations and annotations that detect a target, each with all else the same;
    # None if no number does or it is not known
    needed: dict[str, int | None]


@functools.lru_cache(maxsize=10_000)
def reach(df: float, level: float, power: float) -> float:
    """Return how many standard errors a difference must be to be detected.

    Args:
      df: degrees of freedom of the standard error, at least 1.
      level: of the two-sided test.
      power: probability of detecting it.
    """
    bar = float(stats.t.isf(level / 2, df))

    def exceed(centre: float) -> float:
        # Significance in the wrong direction is not counted as detection.
        return float(stats.nct.sf(bar, df, centre)) - power

    return float(optimize.brentq(exceed, 0.0, 4 * bar + 20))


def find_difference(assumptions: Assumptions, design: Design) -> float | None:
    """Find the smallest difference that a study detects, by formula; None if there is none."""
    most = assumptions.max_difference
    if design.excess(assumptions, most) < 0:
        return None
    return float(optimize.brentq(lambda d: design.excess(assumptions, d), 0.0, most))


def find_count(suffices: Callable[[int], bool], most: int) -> int | None:
    """Return the smallest number from 1 to `most` that suffices; None if none does."""
    number = bisect.bisect_left(range(1, most + 1), True, key=suffices) + 1
    return number if number <= most else None


def simulate_power(
    assumptions: Assumptions,
    design: Design,
    difference: float,
    *,
    studies: int = STUDIES,
    seed: int = 0,
) -> float:
    """Return the share of simulated studies that detect a difference.

    Equal seeds give equal random numbers at any difference.
    """
    number = np.arange(design.scenarios)
    category = np.searchsorted(np.cumsum(assumptions.share), (number + 0.5) / design.scenarios)
    category = np.minimum(category, len(assumptions.share) - 1)
    unit = (number / design.unit_size).astype(np.int64)
    model, accuracy = assumptions.chances(difference), assumptions.accuracy
    group = category
    if design.fixed:
        model = model._replace(correlation=1.0)
        group = np.repeat(number, design.continuations)
    judged_unit = np.arange(len(group)) if design.fixed else unit
    weighting = est.weigh(np.ones(len(group), bool), group, judged_unit)
    rng = np.random.default_rng(seed)
    detected, size = 0, max(1, _AT_ONCE // design.verdicts)
    for start in range(0, studies, size):
        chance = model.draw(category, unit, rng, min(size, studies - start))
        shape = (*chance.shape, design.continuations)
        success = rng.random(shape) < chance[..., None]
        called = np.where(success, accuracy.sensitivity, 1 - accuracy.specificity)
        verdict = rng.random((*shape, design.annotations)) < called[..., None]
        values = verdict.mean(axis=-1)
        values = values.reshape(*shape[:2], -1) if design.fixed else values.mean(axis=-1)
        detected += int((_test(values, weighting) < ERROR_RATE / design.pairs).sum())
    return detected / studies


def _test(values: np.ndarray, weighting: est.Weighting) -> np.ndarray:
    """Return the p value of each study's difference, float64[studies]."""
    gap = values[0] - values[1]
    found = est.estimate(gap, weighting)
    sums = est.sum_units(gap * weighting.weight, weighting.unit, len(weighting.scale))
    differing = (np.abs(sums) > weighting.rounding).sum(axis=1)
    df, rates = np.full(len(gap), found.df), (found.value, np.zeros(len(gap)))
    ends = np.zeros((len(gap), 2))  # intervals are not used
    return est.compare(found.se, df, differing, rates, (ends, ends)).p


def plan_study(assumptions: Assumptions, design: Design, target: float) -> Plan:
    """Plan a study of two agents, and simulate it.

    Args:
      assumptions: of both agents.
      design: of the study.
      target: a difference to detect, in (0, 1].
    """
    difference = find_difference(assumptions, design)
    studies, searched, power = STUDIES, False, None
    if difference is not None and design.verdicts <= MAX_SIMULATED:
        power = simulate_power(assumptions, design, difference)
        searched = power < design.power - MAX_SHORTFALL
        if searched:
            studies = _SEARCHED
            difference, power = _search_difference(assumptions, design, difference)
    needed = {name: _count_needed(name, assumptions, design, target) for name in MAX_COUNT}
    if math.isnan(assumptions.icc):
        needed["continuations"] = None
    parts = design.variance(assumptions, difference or 0.0)
    names = ("scenarios", "continuations", "annotators")
    return Plan(
        difference=difference,
        searched=searched,
        power=power,
        power_error=None if power is None else math.sqrt(power * (1 - power) / studies),
        shares=dict(zip(names, (parts / parts.sum()).tolist(), strict=True)),
        needed=needed,
    )


def _count_needed(name: str, assumptions: Assumptions, design: Design, target: float) -> int | None:
    target = min(target, assumptions.max_difference)

    def suffices(number: int) -> bool:
        changed: dict[str, Any] = {name: number}
        return design._replace(**changed).excess(assumptions, target) >= 0

    return find_count(suffices, MAX_COUNT[name])


def _search_difference(
    assumptions: Assumptions, design: Design, difference: float
) -> tuple[float, float] | tuple[None, None]:
    """Find the smallest difference that simulated studies detect, and its power in others."""

    def simulate(value: float, seed: int) -> float:
        return simulate_power(assumptions, design, value, studies=_SEARCHED, seed=seed)

    # One seed for all steps, so that power changes by the difference and not by the draws; another
    # at the end, as the draws that chose the difference are in its favour.
    low, high = difference, assumptions.max_difference
    if simulate(high, 1) < design.power:
        return None, None
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (middle, high) if simulate(middle, 1) < design.power else (low, middle)
    return high, simulate(high, 0)
