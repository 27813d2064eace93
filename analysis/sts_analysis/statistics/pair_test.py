"""One pair of agents: the p value of its difference, and the interval of the same test."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from sts_analysis.statistics import intervals
from sts_analysis.statistics.pass_rates import Rates
from sts_analysis.statistics.sign_flip import sign_flip, sign_flip_interval

_FURTHEST = 37.0
"""Normal scores beyond this one have no p."""


class PairTest(NamedTuple):
    """What is known of one pair.

    Attributes:
      difference: of the two rates; NaN where they share no scenario.
      error: its standard error, 0 where no spread is seen, NaN where it is not known.
      df: degrees of freedom of the error.
      parts: each scenario's difference and weight, where they are few enough for sign flips.
      rates: of the two agents, for a difference without spread.
      exact: nothing is left to chance.
    """

    difference: float
    error: float
    df: float
    parts: tuple[np.ndarray, np.ndarray] | None = None
    rates: Rates | None = None
    exact: bool = False


def p_of(test: PairTest) -> float:
    """Two-sided p that the difference is 0; NaN where nothing is known of its error.

    Few scenarios: exact sign flips. Without any spread the two rates' intervals say how far the
    difference can be off, and p is the level at which they first allow for 0; where there are both,
    the larger p counts, so that neither is trusted alone.
    """
    if np.isnan(test.difference):
        return np.nan
    if test.exact:
        return float(test.difference == 0)
    if test.error > 0 and test.parts is None:
        ratio = abs(test.difference) / test.error
        return float(2 * stats.t.sf(ratio, test.df))
    flips = [] if test.parts is None else [sign_flip(test.parts[0] * test.parts[1])]
    if not test.error > 0:
        if np.isnan(test.error) and test.parts is None:
            return np.nan
        flips.append(_p_of_rates(test))
    return max(flips)


def ends_of(test: PairTest, alpha: float) -> tuple[float, float]:
    """All differences that the same test does not reject at level alpha; NaN without one."""
    if np.isnan(test.difference):
        return np.nan, np.nan
    if test.exact:
        return test.difference, test.difference
    if test.error > 0 and test.parts is None:
        half = float(stats.t.isf(alpha / 2, test.df)) * test.error
        return test.difference - half, test.difference + half
    ends = [] if test.parts is None else [sign_flip_interval(*test.parts, alpha)]
    if not test.error > 0:
        if np.isnan(test.error) and test.parts is None:
            return np.nan, np.nan
        ends.append(_ends_of_rates(test, float(stats.norm.isf(alpha / 2))))
    return min(low for low, _ in ends), max(high for _, high in ends)


def _ends_of_rates(test: PairTest, score: float) -> tuple[float, float]:
    """The interval of the difference from those of both rates, at the level of a normal score.

    Source: Newcombe 1998, Stat. Med. 17:873, method 10; Zou and Donner 2008, Stat. Med. 27:1693.
    """
    rates = test.rates
    assert rates is not None
    quantile = stats.t.isf(stats.norm.sf(score), np.where(np.isnan(rates.df), np.inf, rates.df))
    each = intervals.wilson(rates.rate, rates.trials, quantile)
    below = np.hypot(rates.rate[0] - each[0, 0], each[1, 1] - rates.rate[1])
    above = np.hypot(each[0, 1] - rates.rate[0], rates.rate[1] - each[1, 0])
    return max(float(test.difference - below), -1.0), min(float(test.difference + above), 1.0)


def _p_of_rates(test: PairTest) -> float:
    """The level at which the interval from both rates first allows for 0, by bisection."""
    if test.difference == 0:
        return 1.0

    def holds(score: float) -> bool:
        low, high = _ends_of_rates(test, score)
        return low <= 0 <= high

    low, high = 0.0, _FURTHEST
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return float(min(2 * stats.norm.sf(high), 1.0))
