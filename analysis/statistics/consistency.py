"""How alike an agent's continuations of one scenario are, and how hard scenarios are.

Source: Abramson et al. 2022, section 5.2 and appendix A.5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from analysis.statistics import intervals, sampling
from analysis.statistics.outcomes import Summary


class Consistency(NamedTuple):
    """One agent's consistency across continuations; None where it cannot be known.

    Attributes:
      icc: intraclass correlation of its continuations.
      interval: of the icc.
      agreement: chance that two continuations of one scenario end alike.
      pass_hat_k: for k = 1, 2, ...: chance that all of k continuations succeed.
      pass_at_k: chance that at least one of k does.
      k_scenarios: scenarios with k judged continuations, which the two above rest on; k goes on
        while they are at least half of the judged scenarios.
      reason: why the icc or its interval is None.
    """

    icc: float | None
    interval: tuple[float, float] | None
    agreement: float | None
    pass_hat_k: dict[int, float]
    pass_at_k: dict[int, float]
    k_scenarios: dict[int, int]
    reason: str | None


def consistency(values: np.ndarray, category: np.ndarray) -> Consistency:
    """Consistency of one agent over its judged scenarios.

    Args:
      values: float64[S, N], NaN gaps; y of each continuation.
      category: int64[S].
    """
    judged = np.isfinite(values).sum(axis=1)
    icc, interval, reason = intraclass_correlation(values)
    hat: dict[int, float] = {}
    at: dict[int, float] = {}
    used: dict[int, int] = {}
    rows = [row[np.isfinite(row)] for row in values]
    deepest = int(judged.max(initial=0))
    wins = np.array([_padded(all_succeed(row), deepest) for row in rows])
    losses = np.array([_padded(all_succeed(1 - row), deepest) for row in rows])
    for k in range(1, deepest + 1):
        enough = judged >= k
        if 2 * enough.sum() < (judged > 0).sum():
            break
        weights = sampling.scenario_weights(enough[None, :], category)[0][enough]
        hat[k] = float(weights @ wins[enough, k - 1])
        at[k] = 1 - float(weights @ losses[enough, k - 1])
        used[k] = int(enough.sum())
    agreement = hat[2] + 1 - at[2] if 2 in hat else None
    return Consistency(icc, interval, agreement, hat, at, used, reason)


def all_succeed(values: np.ndarray) -> np.ndarray:
    """Chance that k continuations drawn from these n all succeed, for k = 1 .. n.

    For k successes in n this is C(successes, k) / C(n, k), which is unbiased; the plug-in
    (successes / n)^k is not. Fractional values (split annotators) enter as chances: the mean
    product over all subsets of k.

    Args:
      values: float64[n], each in [0, 1].

    Returns:
      float64[n].

    Source: Chen et al. 2021 (arXiv 2107.03374), equation 1, for pass@k; Yao et al. 2024 (arXiv
      2406.12045), section 3.3, for pass^k.
    """
    means = np.zeros(len(values) + 1)
    means[0] = 1.0
    for seen, value in enumerate(values, start=1):
        # The mean over subsets of k among `seen` values: those without the new one, those with it.
        share = np.arange(1, seen + 1) / seen
        means[1 : seen + 1] = means[1 : seen + 1] * (1 - share) + value * means[:seen] * share
    return means[1:]


def _padded(values: np.ndarray, size: int) -> np.ndarray:
    return np.append(values, np.zeros(size - len(values)))


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


def difficulty(summary: Summary) -> np.ndarray:
    """How hard each scenario is for each agent's rivals: mean failure with the agent left out.

    Args:
      summary: [A, S].

    Returns:
      float64[A, S]; NaN where no other agent was judged.
    """
    judged = summary.number > 0
    failure = np.where(judged, 1 - summary.mean, 0.0)
    others = judged.sum(axis=0) - judged
    total = failure.sum(axis=0) - failure
    return np.where(others > 0, total / np.maximum(others, 1), np.nan)
