"""How alike an agent's continuations of one scenario are: the intraclass correlation."""

from __future__ import annotations

import numpy as np

from analysis.statistics import intervals


def intraclass_correlation(
    values: np.ndarray,
) -> tuple[float | None, tuple[float, float] | None, str | None]:
    """(MSB - MSW) / (MSB + (n - 1) MSW), its 95% interval, and why either is missing.

    n is the mean group size of an unbalanced analysis of variance. 1.0 means that the scenario
    decides, 0 that nothing repeats; it can be negative. The interval is a jackknife over
    scenarios on Fisher's z scale: the usual F interval assumes normal outcomes and covers too
    little for success and failure.

    Args:
      values: float64[S, N], NaN gaps.

    Source: Shrout and Fleiss 1979, Psychol. Bull. 86:420, case 1; Donner and Koval 1980,
      Biometrics 36:19, for unequal n; Ukoumunne et al. 2003, Stat. Med. 22:3805, for intervals
      on a transformed scale; Fisher 1925, Statistical Methods, section 39, for the scale.
    """
    judged = np.isfinite(values)
    count = judged.sum(axis=1).astype(np.float64)
    sums = np.where(judged, values, 0.0).sum(axis=1)
    squares = np.where(judged, values**2, 0.0).sum(axis=1)
    used = count > 0
    count, sums, squares = count[used], sums[used], squares[used]
    if len(count) < 2 or count.max() < 2:
        return None, None, "needs two scenarios and one with two judged continuations"
    keep = np.vstack([np.ones(len(count)), 1 - np.eye(len(count))])
    rho, size = _icc_of_subsets(keep, count, sums, squares)
    if np.isnan(rho[0]):
        return None, None, "every continuation ended alike"
    odds = (1 + (size - 1) * rho) / np.where(rho < 1, 1 - rho, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.log(odds) / 2
    if len(count) < 3 or not np.isfinite(z).all():
        return float(rho[0]), None, "too little spread for an interval"
    groups = len(count)
    error = np.sqrt((groups - 1) / groups * ((z[1:] - z[1:].mean()) ** 2).sum())
    ends = np.exp(2 * intervals.student(z[0], error, np.array(groups - 1.0)))
    low, high = np.clip((ends - 1) / (ends + size[0] - 1), -1.0, 1.0)
    return float(rho[0]), (float(low), float(high)), None


def _icc_of_subsets(
    keep: np.ndarray, count: np.ndarray, sums: np.ndarray, squares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    groups, total = keep.sum(axis=1), keep @ count
    between = keep @ (sums**2 / count) - (keep @ sums) ** 2 / total
    within = keep @ (squares - sums**2 / count)
    size = (total - (keep @ count**2) / total) / np.maximum(groups - 1, 1)
    mean_between = np.where(np.abs(between) < 1e-12, 0.0, between) / np.maximum(groups - 1, 1)
    mean_within = np.where(np.abs(within) < 1e-12, 0.0, within) / np.maximum(total - groups, 1)
    variance = mean_between + (size - 1) * mean_within
    possible = (groups > 1) & (total > groups) & (variance > 0)
    rho = (mean_between - mean_within) / np.where(possible, variance, 1.0)
    return np.where(possible, rho, np.nan), size
