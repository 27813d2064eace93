"""How the ranking by one metric agrees with the ranking by another, across agents.

Source: Abramson et al. 2022, section 4.1 and figures 4 and 5.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy import stats

from sts_analysis.statistics import intervals
from sts_analysis.statistics.family_jackknife import Jackknifed, clusters, jackknife
from sts_analysis.statistics.reliability import disattenuate, reliability
from sts_analysis.statistics.spearman import (
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
      interval: of rho; Bonett and Wright's, and where agents come in families, a jackknife.
      p: two-sided, that the metrics are unrelated.
      p_method: "exact permutation", the number of random ones, or the jackknife.
      n: agents with both metrics.
      kendall: tau-b.
      kendall_interval: Fieller's, from 5 agents on, or the jackknife.
      disattenuated: rho corrected for the metrics' measurement error, clipped to [-1, 1].
      disattenuated_clipped: whether it had to be.
      disattenuated_interval: of that, the reliabilities taken as they are.
      reliability_x: share of x's variance across agents that is not measurement error.
      reliability_y: the same of y.
      top_half: rho among the better half of the agents by x.
      without_family: rho with each family of agents left out.
      reason: why rho is None.
      interval_method: how rho's interval was made, or why there is none.
      families: how many families the agents are of; an agent of none is one of its own.
    """

    spearman: float | None
    interval: tuple[float, float] | None
    p: float | None
    p_method: str | None
    n: int
    kendall: float | None
    kendall_interval: tuple[float, float] | None
    disattenuated: float | None
    disattenuated_interval: tuple[float, float] | None
    disattenuated_clipped: bool
    reliability_x: float | None
    reliability_y: float | None
    top_half: float | None
    without_family: Mapping[str, float | None]
    reason: str | None
    interval_method: str
    families: int


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

    Source: interval: Bonett and Wright 2000, Psychometrika 65:23; of tau: Fieller, Hartley and
      Pearson 1957, Biometrika 44:470. Disattenuation: Spearman 1904, Am. J. Psychol. 15:72.
    """
    count = len(x)
    rho = spearman(x, y)
    cluster = clusters(family, count)
    families = len(np.unique(cluster))
    if rho is None:
        return _unknown(count, families)
    exact = count <= EXACT_AGENTS
    reliability_x, reliability_y = reliability(x, variance_x), reliability(y, variance_y)
    true_rho = disattenuate(rho, reliability_x, reliability_y)
    better = np.argsort(-x, kind="stable")[: (count + 1) // 2]
    tau = float(stats.kendalltau(x, y).statistic)
    if families < count:
        made = jackknife(lambda rows: spearman(x[rows], y[rows]), cluster)
        of_tau = jackknife(lambda rows: _kendall(x[rows], y[rows]), cluster)
        known = isinstance(made, Jackknifed)
        method = f"jackknife over {families} families, t" if known else str(made)
        interval = made.interval if isinstance(made, Jackknifed) else None
        tau_interval = of_tau.interval if isinstance(of_tau, Jackknifed) else None
        p = made.p if isinstance(made, Jackknifed) else None
        p_method = f"jackknife over {families} families" if known else None
    else:
        interval = bonett_wright(rho, count)
        method = "Bonett and Wright" if interval else "needs 4 agents and no perfect order"
        tau_interval = fieller(tau, count)
        p = permutation_p(x, y, seed=seed, draws=draws)
        p_method = "exact permutation" if exact else f"{draws} random permutations"
    stretch = None if true_rho is None or rho == 0 else true_rho / rho
    latent = None
    if interval is not None and stretch is not None:
        low, high = np.clip(np.array(interval) * stretch, -1, 1)
        latent = (float(low), float(high))
    return Correlation(
        spearman=rho,
        interval=interval,
        p=p,
        p_method=p_method,
        n=count,
        kendall=tau,
        kendall_interval=tau_interval,
        disattenuated=None if true_rho is None else float(np.clip(true_rho, -1, 1)),
        disattenuated_interval=latent,
        disattenuated_clipped=true_rho is not None and abs(true_rho) > 1,
        reliability_x=reliability_x,
        reliability_y=reliability_y,
        top_half=spearman(x[better], y[better]),
        without_family=_without_family(x, y, family),
        reason=None,
        interval_method=method,
        families=families,
    )


def _unknown(count: int, families: int) -> Correlation:
    few = f"needs {FEWEST_AGENTS} agents with both metrics, found {count}"
    reason = few if count < FEWEST_AGENTS else "every agent has the same value"
    return Correlation(
        spearman=None,
        interval=None,
        p=None,
        p_method=None,
        n=count,
        kendall=None,
        kendall_interval=None,
        disattenuated=None,
        disattenuated_interval=None,
        disattenuated_clipped=False,
        reliability_x=None,
        reliability_y=None,
        top_half=None,
        without_family={},
        reason=reason,
        interval_method="",
        families=families,
    )


def fieller(tau: float, count: int) -> tuple[float, float] | None:
    """95% interval of Kendall's tau; None below five agents and at +-1.

    Source: Fieller, Hartley and Pearson 1957, Biometrika 44:470.
    """
    if count < 5 or abs(tau) >= 1:
        return None
    half = intervals.Z * np.sqrt(0.437 / (count - 4))
    return float(np.tanh(np.arctanh(tau) - half)), float(np.tanh(np.arctanh(tau) + half))


def _kendall(x: np.ndarray, y: np.ndarray) -> float | None:
    if len(x) < FEWEST_AGENTS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(stats.kendalltau(x, y).statistic)


def _without_family(
    x: np.ndarray, y: np.ndarray, family: np.ndarray | None
) -> dict[str, float | None]:
    names = [] if family is None else sorted({str(name) for name in family if name})
    if family is None or len(names) < 2:
        return {}
    return {name: spearman(x[family != name], y[family != name]) for name in names}
