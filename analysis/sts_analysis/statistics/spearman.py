"""Spearman's rank correlation, its interval and its permutation test."""

import itertools

import numpy as np
from scipy import stats

from sts_analysis.statistics import intervals

FEWEST_AGENTS = 3

EXACT_AGENTS = 8


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
