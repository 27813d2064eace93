"""What separates two agents: the smallest difference a study sees, and what a smaller one takes.

A difference is seen with the stated power where the paired comparison of the report would separate
the two with that chance. Source: Miller 2024 (arXiv 2411.00640), section 5, with Student's t for
the number of scenarios and, among several agents, Tukey's range for all pairs.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import optimize, stats

from sts_analysis.planning.noise import Noise, Size
from sts_analysis.statistics import intervals
from sts_analysis.statistics.comparisons import FEW_SCENARIOS

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

    @property
    def level(self) -> float:
        """Of a pair's two-sided test, such that all pairs of agents that are alike hold with 95%.

        Source: Tukey's range.
        """
        ranged = float(stats.studentized_range.ppf(intervals.LEVEL, self.agents, np.inf))
        return float(2 * stats.norm.sf(ranged / math.sqrt(2)))

    def reach(self, scenarios: float) -> float:
        """How many standard errors a difference must be, over so many scenarios, to be seen.

        The signs of a few scenarios flip in few ways: the level is then the largest below the one
        meant that a p can have, and nothing is seen where none can.
        """
        if self.fixed:
            return reach(math.inf, self.level, self.power)
        level = self.level
        if scenarios <= FEW_SCENARIOS:
            level = math.floor(level * 2 ** (scenarios - 1)) / 2 ** (scenarios - 1)
        return reach(scenarios - self.categories, level, self.power)


class Split(NamedTuple):
    """One way to spend a number of judgements, and the smallest difference that it sees."""

    scenarios: int
    continuations: int
    annotations: int
    difference: float


def reach(df: float, level: float, power: float) -> float:
    """How many standard errors a difference must be to be seen with some power; may be infinite.

    Args:
      df: degrees of freedom of the standard error, infinite where it is as good as known.
      level: of the two-sided test.
      power: chance to see it.
    """
    if not (df >= 1 and level > 0):
        return math.inf
    bar = float(stats.t.isf(level / 2, df))
    if not np.isfinite(df):
        return bar + float(stats.norm.ppf(power))

    def short(centre: float) -> float:
        return float(stats.nct.sf(bar, df, centre)) - power

    return float(optimize.brentq(short, 0.0, 4 * bar + 20))


def standard_error(noise: Noise, size: Size, *, fixed: bool = False) -> float:
    """Of the difference of two pass rates as judged; what is NaN counts as nothing."""
    judging, outcomes = np.nan_to_num([noise.judging, noise.outcomes])
    within = (outcomes + judging / size.annotations) / size.continuations
    return math.sqrt((_kept(noise, size, fixed=fixed) + within) / size.scenarios)


def smallest_difference(noise: Noise, size: Size, criterion: Criterion) -> float:
    """The smallest difference of pass rates that is seen; infinite with too few scenarios."""
    error = standard_error(noise, size, fixed=criterion.fixed)
    return criterion.reach(size.scenarios) * error / noise.scale


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
    endless = noise._replace(copies=0.0)
    room = _room(difference, endless, size, criterion) - noise.outcomes / size.continuations
    if np.isnan(room) or np.isnan(noise.judging) or room <= 0:
        return None
    judging = noise.judging / size.continuations + noise.copies
    return max(math.ceil(judging / room - 1e-9), 1)


def anchors_for(noise: Noise, size: Size, criterion: Criterion) -> int | None:
    """How many clips those who judged one agent and those who judge the other should both judge.

    So many that what is not known of their difference makes the interval of the agents' adjusted
    difference at most `ANCHORED` times as wide; None where no two people were seen to differ. Of a
    share f of clips that both judge, half is either's, so that agents owe 1 - f to who judged them.
    """
    variance = standard_error(noise, size, fixed=criterion.fixed) ** 2
    if not noise.judging > 0 or variance == 0:
        return None
    clips, judging = 2 * size.scenarios * size.continuations, noise.judging
    if criterion.fixed:  # the report then takes verdicts of one clip for those of two
        judging += noise.outcomes
    # The least n of (1 - n / clips)^2 judging / n <= room.
    room = (ANCHORED**2 - 1) * variance
    half = judging / clips + room / 2
    root = math.sqrt(half**2 - (judging / clips) ** 2)
    return math.ceil((half - root) * clips**2 / judging - 1e-9)


def splits(
    noise: Noise, judgements: float, criterion: Criterion, continuations: Sequence[int] = SPLITS
) -> list[Split]:
    """Ways to spend `judgements` on two agents, one annotation a continuation.

    Those that see no difference below 1 are left out. Without noise of outcomes there is none:
    nothing tells what other numbers of continuations do.
    """
    if np.isnan(noise.outcomes):
        return []
    ways = []
    for each in continuations:
        size = Size(judgements // (2 * each), each, 1)
        if size.scenarios < 1:
            break
        seen = smallest_difference(noise, size, criterion)
        if seen < 1:
            ways.append(Split(int(size.scenarios), each, 1, seen))
    return ways


def _kept(noise: Noise, size: Size, *, fixed: bool) -> float:
    """What more continuations leave of the variance of a scenario's difference."""
    return (0.0 if fixed else noise.between) + noise.copies / size.annotations


def _room(difference: float, noise: Noise, size: Size, criterion: Criterion) -> float:
    """What continuations may add to the variance of a scenario's difference."""
    off = difference * noise.scale / criterion.reach(size.scenarios)
    return size.scenarios * off**2 - _kept(noise, size, fixed=criterion.fixed)
