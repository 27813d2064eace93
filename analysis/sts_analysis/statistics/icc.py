"""How alike an agent's continuations of one scenario are: the intraclass correlation."""

import numpy as np

from sts_analysis.statistics.icc_profile import profile_interval


def intraclass_correlation(
    values: np.ndarray,
) -> tuple[float | None, tuple[float, float] | None, str | None]:
    """(MSB - MSW) / (MSB + (n - 1) MSW), its 95% interval, and why either is missing.

    n is the mean group size of an unbalanced analysis of variance. 1.0 means that the scenario
    decides, 0 that nothing repeats; it can be negative. The interval is by profile likelihood and
    always holds the estimate: the usual F interval, and a jackknife, cover too little for success
    and failure, above all near 0 and 1.

    Args:
      values: float64[S, N] in [0, 1], NaN gaps.

    Source: Shrout and Fleiss 1979, Psychol. Bull. 86:420, case 1; Donner and Koval 1980,
      Biometrics 36:19, for unequal n; see `icc_profile` for the interval.
    """
    judged = np.isfinite(values)
    count = judged.sum(axis=1).astype(np.float64)
    sums = np.where(judged, values, 0.0).sum(axis=1)
    squares = np.where(judged, values**2, 0.0).sum(axis=1)
    used = count > 0
    count, sums, squares = count[used], sums[used], squares[used]
    if len(count) < 2 or count.max() < 2:
        return None, None, "needs two scenarios and one with two judged continuations"
    rho = _icc(count, sums, squares)
    if rho is None:
        return None, None, "every continuation ended alike"
    interval = profile_interval(sums, count)
    if interval is None:
        return rho, None, "too few scenarios for an interval"
    return rho, (min(interval[0], rho), max(interval[1], rho)), None


def _icc(count: np.ndarray, sums: np.ndarray, squares: np.ndarray) -> float | None:
    groups, total = len(count), count.sum()
    between = (sums**2 / count).sum() - sums.sum() ** 2 / total
    within = (squares - sums**2 / count).sum()
    size = (total - (count**2).sum() / total) / (groups - 1)
    mean_between = max(between if abs(between) >= 1e-12 else 0.0, 0.0) / (groups - 1)
    mean_within = max(within if abs(within) >= 1e-12 else 0.0, 0.0) / max(total - groups, 1)
    variance = mean_between + (size - 1) * mean_within
    return float((mean_between - mean_within) / variance) if variance > 0 else None
