"""The estimator of a report: weighted means over scenarios, with an error that counts whole units.

A *unit* is what was drawn: all scenarios joined by a trajectory, a world, a pair or a dialogue. The
variance of a mean is the sum over units of squared residuals, each unit enlarged to what it would
be if scenarios were independent and alike (Liang and Zeger 1986; Bell and McCaffrey 2002, Survey
Methodology 28:169), and the degrees of freedom follow from the same assumption (Satterthwaite 1946;
Pustejovsky and Tipton 2018, JBES 36:672). Nothing here draws random numbers.

Axes: R rows (agents), S scenarios, U units, P pairs of rows.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtr, stdtrit

CONFIDENCE = 0.95
MIN_DIFFERING_UNITS = 6
"""Units that must differ for a p value; a two-sided sign test can first reach .05 there."""
MIN_UNITS_PER_CATEGORY = 3
ZERO = 1e-9
"""Values lie in [-1, 1]; what is smaller is rounding."""


class Weighting(NamedTuple):
    """The design of an estimate: scenarios with a value, and their weights."""

    weight: np.ndarray  # float64[S], sums to 1; 0 for a scenario without a value
    # int64[S], the scenarios whose mean residuals are taken from; -1 without a value
    group: np.ndarray
    unit: np.ndarray  # int64[S], from 0 to U - 1
    # float64[U], factors of the units' weighted sums of residuals, whose squares then have the
    # expectation of those of errors if all scenarios vary alike; 0 for units without a value
    scale: np.ndarray
    df: float  # degrees of freedom
    units: int  # number of units with a value

    @property
    def rounding(self) -> float:
        """What is smaller is no difference of a unit's weighted sums."""
        return ZERO / max(self.units, 1)

    @property
    def effective_units(self) -> float:
        """The number of equally large units that would give the same precision."""
        shares = np.bincount(self.unit, self.weight)
        return float(1 / (shares**2).sum())


class Estimates(NamedTuple):
    """Means of R rows under one weighting."""

    value: np.ndarray  # float64[R]
    # float64[R, U], what each unit adds to the error; se**2 is the sum of squares
    unit_errors: np.ndarray
    df: float  # degrees of freedom
    units: int  # number of units with a value

    @property
    def se(self) -> np.ndarray:
        """float64[R], standard errors; rounding counts as 0."""
        return take_root((self.unit_errors**2).sum(axis=-1))

    @property
    def interval(self) -> np.ndarray:
        """float64[R, 2], as of a pass rate."""
        return rate_intervals(self.value, self.se, self.df, self.units)


class Differences(NamedTuple):
    """Differences of P pairs; see `compare`."""

    value: np.ndarray  # float64[P]
    se: np.ndarray  # float64[P]
    df: np.ndarray  # float64[P]
    interval: np.ndarray  # float64[P, 2]
    p: np.ndarray  # float64[P], NaN if too few units differ


def weigh(
    judged: np.ndarray, category: np.ndarray, unit: np.ndarray, size: np.ndarray | None = None
) -> Weighting:
    """Weigh scenarios: a category counts as many scenarios as it has, judged ones alike within it.

    Args:
      judged: bool[S], which scenarios have a value; at least one.
      category: int[S].
      unit: int64[S], from 0.
      size: float64[S], what each scenario adds to the weight of its category; None for 1.

    Raises:
      ValueError: no scenario has a value.
    """
    if not judged.any():
        raise ValueError("no scenario has a value")
    c, present = pd.factorize(category[judged])
    u = unit[judged]
    each = np.ones(len(judged)) if size is None else size
    place = pd.Index(present).get_indexer(pd.Index(category))
    total = np.bincount(place[place >= 0], each[place >= 0])
    # A category keeps its share of the suite, so judging more of one category moves no mean.
    w = (total / total.sum() / np.bincount(c))[c]
    g = _group_scenarios(c, pd.factorize(u)[0])
    q = np.zeros((unit.max() + 1, g.max() + 1))
    np.add.at(q, (u, g), w)
    root = q / np.sqrt(np.bincount(g))  # Q = root @ root.T
    a = np.bincount(u, w**2, len(root))
    # If scenarios vary alike, a unit's summed residuals have the expected square a_u - Q_uu, and
    # its errors a_u: a residual is taken from a mean that contains it. `scale` makes good for that.
    free = a - (root**2).sum(axis=1)  # a_u - Q_uu
    # The residuals of a unit that is all of its group sum to 0, which no factor enlarges.
    scale = np.sqrt(np.divide(a, free, out=np.zeros(len(a)), where=free > ZERO * a))
    # The sum of squares of K (diag(a) - Q) K, K = diag(scale), without a matrix of units by units.
    cross = (root * scale[:, None] ** 2).T @ root
    squares = (scale**4 * a * (2 * free - a)).sum() + (cross**2).sum()
    trace = (scale**2 * free).sum()
    # Never below 1, as the matrix is positive semidefinite: `max` removes rounding.
    df = max(1.0, float(trace**2 / squares)) if squares > 0 else 1.0
    weight, group = np.zeros(len(judged)), np.full(len(judged), -1)
    weight[judged], group[judged] = w, g
    return Weighting(weight, group, unit, scale, df, int((a > 0).sum()))


def _group_scenarios(category: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Return int64[S], the group of each scenario: its category, unless that has too few units.

    Categories are numbered by their first scenario, which settles ties.
    """
    total = int(unit.max()) + 1
    units = np.bincount(np.unique(category * total + unit) // total)  # of each category
    # A mean of each category would leave few degrees of freedom; from one mean for all, differences
    # of categories count as error.
    if total < MIN_UNITS_PER_CATEGORY * len(units):
        return np.zeros_like(category)
    group = np.arange(len(units))
    # A single unit shows no spread about a mean of its own.
    single = np.flatnonzero(units == 1)
    if len(single) == 1 < len(units):
        others = np.where(units == 1, units.max() + 1, units)
        group[single] = others.argmin()
    elif len(single):
        group[single] = single[0]
    return np.asarray(pd.factorize(group[category])[0])


def estimate(values: np.ndarray, weighting: Weighting) -> Estimates:
    """Estimate the means of rows that have values in the same scenarios.

    Args:
      values: float64[R, S]; ignored where the weighting has no value.
      weighting: of these scenarios.
    """
    inside = weighting.group >= 0
    x, w, g = values[:, inside], weighting.weight[inside], weighting.group[inside]
    members = np.zeros((len(w), g.max() + 1))
    members[np.arange(len(w)), g] = 1
    mean = x @ members / members.sum(axis=0)
    residuals = w * (x - mean[:, g])
    errors = weighting.scale * sum_units(residuals, weighting.unit[inside], len(weighting.scale))
    return Estimates(np.asarray(x @ w), errors, weighting.df, weighting.units)


def sum_units(values: np.ndarray, unit: np.ndarray, units: int, *, axis: int = -1) -> np.ndarray:
    """Sum over the scenarios of each unit along an axis, which becomes U long."""
    order = np.argsort(unit, kind="stable")
    starts = np.flatnonzero(np.diff(unit[order], prepend=-1))
    shape = list(values.shape)
    shape[axis] = units
    sums = np.zeros(shape)
    totals = np.add.reduceat(np.take(values, order, axis), starts, axis=axis)
    np.moveaxis(sums, axis, 0)[unit[order][starts]] = np.moveaxis(totals, axis, 0)
    return sums


def take_root(variance: np.ndarray) -> np.ndarray:
    """Return the standard errors of variances; rounding counts as 0."""
    error = np.sqrt(variance)
    return np.asarray(np.where(error > ZERO, error, 0.0))


def divide(a: np.ndarray | float, b: np.ndarray) -> np.ndarray:
    """Divide numbers; the result is 0 where the divisor is not positive."""
    return np.asarray(np.divide(a, b, out=np.zeros(np.broadcast(a, b).shape), where=b > 0))


def quantile(df: np.ndarray | float) -> np.ndarray:
    """Return the quantile of Student's distribution for a two-sided interval."""
    return np.asarray(stdtrit(df, (1 + CONFIDENCE) / 2))


def rate_intervals(
    rate: np.ndarray, se: np.ndarray, df: np.ndarray | float, units: np.ndarray | int
) -> np.ndarray:
    """Return float64[R, 2], Wilson's interval with the effective number of trials.

    At a rate of 0 or 1, or without an error, units are the trials.

    Source: Wilson 1927; Dean and Pagano 2015, Survey Methodology 41:261.
    """
    p = np.clip(rate, 0.0, 1.0)
    spread = p * (1 - p)
    seen = (spread > ZERO) & (se > ZERO)
    # The binomial trials that have this error. Where none is seen, a unit is one trial, however
    # many continuations it has, and the quantile is normal, as no variance was estimated.
    n = np.where(seen, np.maximum(1.0, spread / np.where(seen, se, 1.0) ** 2), units)
    z = np.where(seen, quantile(df), ndtri((1 + CONFIDENCE) / 2))
    centre, half = p + z**2 / (2 * n), z * np.sqrt(spread / n + z**2 / (4 * n**2))
    ends = np.stack([centre - half, centre + half], axis=-1) / (1 + z**2 / n)[..., None]
    return np.asarray(np.clip(ends, 0.0, 1.0))


def compare(
    se: np.ndarray,
    df: np.ndarray,
    differing: np.ndarray,
    rates: tuple[np.ndarray, np.ndarray],
    intervals: tuple[np.ndarray, np.ndarray],
) -> Differences:
    """Return intervals and p values of differences, in [-1, 1].

    If fewer than `MIN_DIFFERING_UNITS` units differ, there is no p. Then, and if all units differ
    alike, the interval is the wider of Student's and Newcombe's method 10 (Newcombe 1998, Stat.
    Med. 17:873); without an error p is the sign test's.

    Args:
      se: float64[P], of first rates minus second.
      df: float64[P].
      differing: int64[P], units in which the weighted sums of both differ.
      rates: float64[P] each, of the first and of the second, over the same scenarios.
      intervals: float64[P, 2] each, of the rates.
    """
    (a, b), (ends_a, ends_b) = rates, intervals
    value, half = a - b, quantile(df) * se
    interval = np.clip(np.stack([value - half, value + half], axis=-1), -1.0, 1.0)
    newcombe = np.stack(
        [
            value - np.hypot(a - ends_a[:, 0], ends_b[:, 1] - b),
            value + np.hypot(ends_a[:, 1] - a, b - ends_b[:, 0]),
        ],
        axis=-1,
    )
    newcombe = np.clip(newcombe, -1.0, 1.0)
    # Student's interval is a point if all units differ alike, and with few that differ it rests on
    # these few; Newcombe's keeps the width of both rates' intervals.
    few = differing < MIN_DIFFERING_UNITS
    wider = np.diff(newcombe)[:, 0] > np.diff(interval)[:, 0]
    interval = np.where(((few | (se == 0)) & wider)[:, None], newcombe, interval)
    safe = np.where(se > 0, se, 1.0)
    p = np.where(se > 0, 2 * stdtr(df, -np.abs(value) / safe), 2 * 0.5**differing)
    p = np.where((se == 0) & (np.abs(value) <= ZERO), 1.0, p)
    return Differences(value, se, df, interval, np.where(few, np.nan, p))


def adjust_holm(p: np.ndarray) -> np.ndarray:
    """Return p values adjusted for all comparisons, float64[P]; NaN stays NaN and is not counted.

    Source: Holm 1979, Scand. J. Stat. 6:65.
    """
    adjusted = np.full(p.shape, np.nan)
    order = np.argsort(p, kind="stable")[: np.isfinite(p).sum()]  # NaN comes last
    # Holm stops at the first p that fails, so no adjusted p lies below an earlier one.
    steps = np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1))
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def find_rank_sets(better: np.ndarray) -> np.ndarray:
    """Return int64[R, 2], the ranks each row can hold: [1 + rows above, R - rows below].

    Args:
      better: bool[R, R], whether a row is significantly better than a column.

    Source: Mogstad, Romano, Shaikh and Wilhelm 2024, Rev. Econ. Stud. 91:476.
    """
    return np.stack([1 + better.sum(axis=0), len(better) - better.sum(axis=1)], axis=-1)
