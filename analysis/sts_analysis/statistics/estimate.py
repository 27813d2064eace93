"""One estimator for every number of a report: a weighted mean over scenarios with clustered error.

A *unit* is what was drawn: all scenarios joined by a trajectory, a world, a pair or a dialogue. The
standard error sums squared residuals of whole units, each enlarged as if scenarios were independent
and alike (Liang and Zeger 1986; Bell and McCaffrey 2002), and the degrees of freedom follow from
the same assumption (Satterthwaite 1946; Pustejovsky and Tipton 2018). There are no random numbers.

Axes: S scenarios, U units, G groups of scenarios with a mean of their own.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

CONFIDENCE = 0.95
MIN_DIFFERING_UNITS = 6
"""Fewest units that must differ for a p value; a two-sided sign test can first reach .05 there."""

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


class Estimate(NamedTuple):
    """A mean over scenarios and its error."""

    value: float
    se: float
    df: float
    parts: Floats  # float64[U], what each judged unit adds to the error; se**2 is their square sum
    units: int  # number of judged units

    @property
    def quantile(self) -> float:
        """The quantile of Student's distribution for a two-sided interval."""
        return float(stats.t.ppf((1 + CONFIDENCE) / 2, self.df))


class Comparison(NamedTuple):
    """A difference of two agents; `p` is None if too few units differ."""

    value: float
    low: float
    high: float
    p: float | None


def estimate_mean(values: Floats, category: Codes, unit: Codes) -> Estimate:
    """Estimate the mean over a suite, in which a category weighs as many scenarios as it has.

    Args:
      values: float64[S], NaN for a scenario without a value.
      category: int[S].
      unit: int[S].

    Raises:
      ValueError: no scenario has a value.
    """
    judged = ~np.isnan(values)
    if not judged.any():
        raise ValueError("no scenario has a value")
    size = np.bincount(category)
    x, (categories, c) = values[judged], np.unique(category[judged], return_inverse=True)
    _, u = np.unique(unit[judged], return_inverse=True)
    weight = (size[categories] / size[categories].sum() / np.bincount(c))[c]
    g = _group_scenarios(c, u)
    mean = (np.bincount(g, x) / np.bincount(g))[g]
    total = np.zeros((u.max() + 1, g.max() + 1))
    np.add.at(total, (u, g), weight)
    shares = total / np.sqrt(np.bincount(g))  # Q of the specification is shares @ shares.T
    own, shared = np.bincount(u, weight**2), (shares**2).sum(1)
    room = np.where(own - shared > 1e-12 * own, own - shared, np.inf)
    scale = np.sqrt(own / room)
    parts: Floats = scale * np.bincount(u, weight * (x - mean))
    cross = (shares * scale[:, None] ** 2).T @ shares
    squares = (scale**4 * own * (own - 2 * shared)).sum() + (cross**2).sum()
    trace = (scale**2 * (own - shared)).sum()
    df = max(1.0, float(trace**2 / squares)) if squares > 0 else 1.0
    value, se = float(weight @ x), float(np.sqrt((parts**2).sum()))
    return Estimate(value, se, df, parts, len(own))


def _group_scenarios(category: Codes, unit: Codes) -> Codes:
    """Return the group of each scenario: its category, unless that has too few units."""
    pairs = np.unique(np.stack([category, unit]), axis=1)
    units = np.bincount(pairs[0])  # of each category
    if unit.max() + 1 < 3 * len(units):
        return np.zeros_like(category)
    group = np.arange(len(units))
    single = units == 1
    if single.sum() == 1:
        others = np.where(single, units.max() + 1, units)
        group[single] = others.argmin() if len(units) > 1 else 0
    elif single.any():
        group[single] = np.flatnonzero(single)[0]
    return np.unique(group, return_inverse=True)[1][category]


def rate_interval(rate: Estimate) -> tuple[float, float]:
    """Return Wilson's interval with the effective sample size (Dean and Pagano 2015)."""
    p, spread = rate.value, rate.value * (1 - rate.value)
    if spread <= 0 or rate.se <= 0:
        n, z = float(rate.units), float(stats.norm.ppf((1 + CONFIDENCE) / 2))
    else:
        n, z = max(1.0, spread / rate.se**2), rate.quantile
    centre, half = p + z**2 / (2 * n), z * np.sqrt(spread / n + z**2 / (4 * n**2))
    scale = 1 + z**2 / n
    return max(0.0, float((centre - half) / scale)), min(1.0, float((centre + half) / scale))


def compare(a: Floats, b: Floats, category: Codes, unit: Codes) -> Comparison:
    """Compare two agents, float64[S] each, over the scenarios in which both have a value.

    If fewer than `MIN_DIFFERING_UNITS` units differ, there is no p, and the interval is the wider
    of this one and method 10 of Newcombe 1998.
    """
    difference = a - b
    found = estimate_mean(difference, category, unit)
    half = found.quantile * found.se
    low, high = found.value - half, found.value + half
    differing = len(np.unique(unit[np.nan_to_num(difference) != 0]))
    if differing >= MIN_DIFFERING_UNITS:
        p = 0.5 ** (differing - 1)  # the sign test's, if all units differ by the same
        if found.se > 0:
            p = 2 * float(stats.t.sf(abs(found.value) / found.se, found.df))
        return Comparison(found.value, max(-1.0, low), min(1.0, high), p)
    both = ~np.isnan(difference)
    rates = [estimate_mean(np.where(both, x, np.nan), category, unit) for x in (a, b)]
    (low_a, high_a), (low_b, high_b) = map(rate_interval, rates)
    down = np.hypot(rates[0].value - low_a, high_b - rates[1].value)
    up = np.hypot(high_a - rates[0].value, rates[1].value - low_b)
    if down + up > high - low:
        low, high = found.value - float(down), found.value + float(up)
    return Comparison(found.value, max(-1.0, low), min(1.0, high), None)


def adjust_holm(p: Floats) -> Floats:
    """Return the p values adjusted by Holm 1979, float64[M]."""
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    out = np.empty_like(p)
    out[order] = np.minimum(1, stepped)
    return out
