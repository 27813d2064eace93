"""How the ranking by one metric agrees with the ranking by another, across agents.

Source: Abramson et al. 2022, section 4.1 and figures 4 and 5.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy import stats

from analysis.statistics import intervals

FEWEST_AGENTS = 3
EXACT_AGENTS = 8


class Correlation(NamedTuple):
    """Spearman's rank correlation of two metrics and what stands beside it; None if unknown.

    Attributes:
      spearman: rho.
      interval: Bonett and Wright's, from 4 agents on.
      p: two-sided permutation p that the metrics are unrelated.
      p_method: "exact permutation" or the number of random ones.
      n: agents with both metrics.
      kendall: tau-b.
      disattenuated: rho corrected for the metrics' measurement error, clipped to [-1, 1].
      disattenuated_clipped: whether it had to be.
      reliability_x: share of x's variance across agents that is not measurement error.
      reliability_y: the same of y.
      top_half: rho among the better half of the agents by x.
      without_family: rho with each family of agents left out.
      reason: why rho is None.
    """

    spearman: float | None
    interval: tuple[float, float] | None
    p: float | None
    p_method: str | None
    n: int
    kendall: float | None
    disattenuated: float | None
    disattenuated_clipped: bool
    reliability_x: float | None
    reliability_y: float | None
    top_half: float | None
    without_family: Mapping[str, float | None]
    reason: str | None


def correlate(
    x: np.ndarray,
    y: np.ndarray,
    *,
    variance_x: float | None = None,
    variance_y: float | None = None,
    family: np.ndarray | None = None,
    seed: int = 0,
    draws: int = 100_000,
) -> Correlation:
    """Correlates two metrics of the same J agents.

    Args:
      x: float64[J], finite.
      y: float64[J], finite.
      variance_x: mean squared standard error of x, if known.
      variance_y: the same of y.
      family: str[J], "" for an agent of no family.
      seed: of the random permutations, used above `EXACT_AGENTS` agents.
      draws: how many of them.

    Source: interval: Bonett and Wright 2000, Psychometrika 65:23. Disattenuation: Spearman 1904,
      Am. J. Psychol. 15:72.
    """
    count = len(x)
    rho = spearman(x, y)
    if rho is None:
        few = f"needs {FEWEST_AGENTS} agents with both metrics, found {count}"
        flat = "every agent has the same value"
        reason = few if count < FEWEST_AGENTS else flat
        return Correlation(
            None, None, None, None, count, None, None, False, None, None, None, {}, reason
        )
    exact = count <= EXACT_AGENTS
    reliability_x, reliability_y = reliability(x, variance_x), reliability(y, variance_y)
    true_rho = disattenuate(rho, reliability_x, reliability_y)
    better = np.argsort(-x, kind="stable")[: (count + 1) // 2]
    return Correlation(
        spearman=rho,
        interval=bonett_wright(rho, count),
        p=permutation_p(x, y, seed=seed, draws=draws),
        p_method="exact permutation" if exact else f"{draws} random permutations",
        n=count,
        kendall=float(stats.kendalltau(x, y).statistic),
        disattenuated=None if true_rho is None else float(np.clip(true_rho, -1, 1)),
        disattenuated_clipped=true_rho is not None and abs(true_rho) > 1,
        reliability_x=reliability_x,
        reliability_y=reliability_y,
        top_half=spearman(x[better], y[better]),
        without_family=_without_family(x, y, family),
        reason=None,
    )


def spearman(x: np.ndarray, y: np.ndarray) -> float | None:
    """Spearman's rho; None below three agents or where a metric is constant."""
    if len(x) < FEWEST_AGENTS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    rho = np.corrcoef(stats.rankdata(x), stats.rankdata(y))[0, 1]
    return float(np.clip(round(rho, 12), -1, 1))


def bonett_wright(rho: float, count: int) -> tuple[float, float] | None:
    """95% interval of Spearman's rho; None below four agents and at rho = +-1.

    Source: Bonett and Wright 2000, equation 3.
    """
    if count < 4 or abs(rho) >= 1:
        return None
    half = intervals.Z * np.sqrt((1 + rho**2 / 2) / (count - 3))
    return float(np.tanh(np.arctanh(rho) - half)), float(np.tanh(np.arctanh(rho) + half))


def permutation_p(x: np.ndarray, y: np.ndarray, *, seed: int, draws: int = 100_000) -> float:
    """Two-sided permutation p of Spearman's rho, exact up to `EXACT_AGENTS` agents."""
    a = stats.rankdata(x) - (len(x) + 1) / 2
    b = stats.rankdata(y) - (len(y) + 1) / 2
    observed = abs(a @ b) * (1 - 1e-9)
    if len(x) <= EXACT_AGENTS:
        orders = np.array(list(itertools.permutations(range(len(x)))))
        return float(np.mean(np.abs(a[orders] @ b) >= observed))
    shuffled = np.random.default_rng(seed).permuted(np.tile(a, (draws, 1)), axis=1)
    return float((1 + np.sum(np.abs(shuffled @ b) >= observed)) / (1 + draws))


def reliability(values: np.ndarray, error_variance: float | None) -> float | None:
    """1 - mean squared error / variance across agents; None if the errors are unknown."""
    if error_variance is None or len(values) < 2:
        return None
    return 1 - error_variance / float(np.var(values, ddof=1))


def disattenuate(rho: float, *reliabilities: float | None) -> float | None:
    """Divides rho by sqrt(rel_x rel_y) over the known reliabilities; may exceed 1.

    None if none is known, or if one is not above 0: then errors drown the agents' differences.
    """
    known = [value for value in reliabilities if value is not None]
    if not known or min(known) <= 0:
        return None
    return rho / float(np.sqrt(np.prod(known)))


def order_accuracy(
    pairs: np.ndarray, difference: np.ndarray, separated: np.ndarray, metric: np.ndarray
) -> tuple[float | None, int]:
    """How often a metric orders two agents as the suite does, where the suite separates them.

    Args:
      pairs: int64[P, 2], indices of agents.
      difference: float64[P], in pass rate.
      separated: bool[P].
      metric: float64[A], NaN where an agent has none; equal values count one half.

    Returns:
      The share, None without such a pair, and the number of pairs.
    """
    other = metric[pairs[:, 0]] - metric[pairs[:, 1]]
    use = separated & np.isfinite(other)
    if not use.any():
        return None, 0
    agree = np.where(other == 0, 0.5, np.sign(other) == np.sign(difference))
    return float(agree[use].mean()), int(use.sum())


def difference_interval(
    r12: float, r13: float, r23: float, count: int
) -> tuple[float, float] | None:
    """95% interval of r12 - r13, two correlations that share metric 1.

    None below four agents, or where one of the two is +-1.

    Source: Zou 2007, Psychol. Methods 12:399, section "Overlapping dependent correlations".
    """
    first, second = bonett_wright(r12, count), bonett_wright(r13, count)
    if first is None or second is None:
        return None
    rest = 1 - r12**2 - r13**2 - r23**2
    tie = ((r23 - r12 * r13 / 2) * rest + r23**3) / ((1 - r12**2) * (1 - r13**2))
    tie = float(np.clip(tie, -1, 1))
    down, up = r12 - first[0], first[1] - r12
    other_down, other_up = r13 - second[0], second[1] - r13
    low = np.sqrt(max(down**2 + other_up**2 - 2 * tie * down * other_up, 0.0))
    high = np.sqrt(max(up**2 + other_down**2 - 2 * tie * up * other_down, 0.0))
    return float(r12 - r13 - low), float(r12 - r13 + high)


def _without_family(
    x: np.ndarray, y: np.ndarray, family: np.ndarray | None
) -> dict[str, float | None]:
    names = [] if family is None else sorted({str(name) for name in family if name})
    if family is None or len(names) < 2:
        return {}
    return {name: spearman(x[family != name], y[family != name]) for name in names}
