"""How the ranking by one metric agrees with the ranking by another, across agents.

Source: Abramson et al. 2022, section 4.1 and figures 4 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy import stats

from analysis.statistics.reliability import disattenuate, reliability
from analysis.statistics.spearman import (
    EXACT_AGENTS,
    FEWEST_AGENTS,
    bonett_wright,
    permutation_p,
    spearman,
)


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


def _without_family(
    x: np.ndarray, y: np.ndarray, family: np.ndarray | None
) -> dict[str, float | None]:
    names = [] if family is None else sorted({str(name) for name in family if name})
    if family is None or len(names) < 2:
        return {}
    return {name: spearman(x[family != name], y[family != name]) for name in names}
