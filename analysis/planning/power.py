"""What separates two agents: the smallest difference a study sees, and what a smaller one takes.

A difference is seen with the stated power where the paired comparison of the report would separate
the two with that chance. Source: Miller 2024 (arXiv 2411.00640), section 5, with Student's t for
the number of scenarios and, among several agents, Tukey's range for all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import optimize, stats

from analysis.planning.noise import Noise, Size
from analysis.statistics import intervals

MOST = 1_000_000
"""Scenarios beyond which nobody plans."""
ANCHORED = 1.1
"""How many times as wide anchors may leave an interval."""
SPLITS = (1, 2, 3, 5, 10, 20)


class Criterion(NamedTuple):
    """How two agents are to be told apart.

    Attributes:
      agents: among how many all pairs are compared, at least 2.
      categories: strata of the scenarios; each costs a degree of freedom.
      power: the chance to see the difference.
      fixed: whether the scenarios are the only ones of interest, and no sample.
    """

    agents: int = 2
    categories: int = 1
    power: float = 0.8
    fixed: bool = False


class Split(NamedTuple):
    """One way to spend a number of judgements, and the smallest difference that it sees."""

    scenarios: int
    continuations: int
    annotations: int
    difference: float


def reach(scenarios: float, criterion: Criterion) -> float:
    """How many standard errors a difference must be to be seen with the criterion's power."""
    df = np.inf if criterion.fixed else scenarios - criterion.categories
    if df < 1:
        return math.inf
    level = 2 * stats.norm.sf(_quantile(criterion.agents))
    bar = float(stats.t.isf(level / 2, df))
    if not np.isfinite(df):
        return bar + float(stats.norm.ppf(criterion.power))

    def short(centre: float) -> float:
        return float(stats.nct.sf(bar, df, centre)) - criterion.power

    return float(optimize.brentq(short, 0.0, 4 * bar + 20))


def standard_error(noise: Noise, size: Size, *, fixed: bool = False) -> float:
    """Of the difference of two pass rates as judged; what is NaN counts as nothing."""
    judging, outcomes = np.nan_to_num([noise.judging, noise.outcomes])
    within = (outcomes + judging / size.annotations) / size.continuations
    between = 0.0 if fixed else noise.between
    return math.sqrt((between + within) / size.scenarios)


def smallest_difference(noise: Noise, size: Size, criterion: Criterion) -> float:
    """The smallest difference of pass rates that is seen; infinite with too few scenarios."""
    error = standard_error(noise, size, fixed=criterion.fixed)
    return reach(size.scenarios, criterion) * error / noise.scale


def scenarios_for(difference: float, noise: Noise, size: Size, criterion: Criterion) -> int | None:
    """The fewest scenarios that see a difference, all else as in `size`; None beyond `MOST`."""

    def enough(scenarios: int) -> bool:
        larger = size._replace(scenarios=scenarios)
        return smallest_difference(noise, larger, criterion) <= difference

    low, high = 1, 2
    while not enough(high):
        low, high = high, high * 2
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def continuations_for(
    difference: float, noise: Noise, size: Size, criterion: Criterion
) -> int | None:
    """The fewest continuations that see it; None where endlessly many would not.

    NaN noise of outcomes gives None too: then nothing tells what more continuations would do.
    """
    room = _room(difference, noise, size, criterion)
    within = noise.outcomes + np.nan_to_num(noise.judging) / size.annotations
    return None if room <= 0 or np.isnan(within) else max(math.ceil(within / room - 1e-9), 1)


def annotations_for(
    difference: float, noise: Noise, size: Size, criterion: Criterion
) -> int | None:
    """The fewest annotations that see it; None where endlessly many would not, or noise is NaN."""
    room = _room(difference, noise, size, criterion) * size.continuations - noise.outcomes
    if np.isnan(room) or np.isnan(noise.judging) or room <= 0:
        return None
    return max(math.ceil(noise.judging / room - 1e-9), 1)


def anchors_for(noise: Noise, size: Size, criterion: Criterion) -> int | None:
    """How many clips those who judged one agent and those who judge the other should both judge.

    So many that what is not known of their difference makes the interval of the agents' adjusted
    difference at most `ANCHORED` times as wide; None where nothing was judged twice.
    """
    variance = standard_error(noise, size, fixed=criterion.fixed) ** 2
    if np.isnan(noise.judging) or variance == 0:
        return None
    return math.ceil(noise.judging / ((ANCHORED**2 - 1) * variance))


def splits(
    noise: Noise, judgements: float, criterion: Criterion, continuations: Sequence[int] = SPLITS
) -> list[Split]:
    """Ways to spend `judgements` on two agents, one annotation a continuation.

    Without noise of outcomes there is none: nothing tells what other numbers of continuations do.
    """
    if np.isnan(noise.outcomes):
        return []
    ways = []
    for each in continuations:
        size = Size(judgements // (2 * each), each, 1)
        if size.scenarios > criterion.categories:
            seen = smallest_difference(noise, size, criterion)
            ways.append(Split(int(size.scenarios), each, 1, seen))
    return ways


def _room(difference: float, noise: Noise, size: Size, criterion: Criterion) -> float:
    """What continuations may add to the variance of a scenario's difference."""
    off = difference * noise.scale / reach(size.scenarios, criterion)
    allowed = size.scenarios * off**2
    return allowed - (0.0 if criterion.fixed else noise.between)


def _quantile(agents: int) -> float:
    """The normal quantile that the largest of all pairs' scores stays below with 95%."""
    ranged = stats.studentized_range.ppf(intervals.LEVEL, agents, np.inf)
    return float(ranged) / math.sqrt(2)
