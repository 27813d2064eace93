"""The interval of an intraclass correlation of successes, by its likelihood."""

import functools

import numpy as np
from scipy import stats
from scipy.special import betaln, expit

from sts_analysis.statistics import intervals

_RHO = expit(np.linspace(-7, 6, 70))
_RATE = expit(np.linspace(-6, 6, 49))
_NONE, _ALL = _RHO[0], _RHO[-1]
_WEIGHT = (1 - _RHO) / _RHO
_A, _B = _RATE * _WEIGHT[:, None], (1 - _RATE) * _WEIGHT[:, None]


@functools.lru_cache(maxsize=256)
def _log_beta(successes: float, failures: float) -> np.ndarray:
    """Log of the beta function on the grid; kept, as the same counts come in every scenario."""
    values: np.ndarray = betaln(successes + _A, failures + _B)
    return values


def profile_interval(successes: np.ndarray, number: np.ndarray) -> tuple[float, float] | None:
    """All correlations that the successes of scenarios do not speak against; None below three.

    Scenarios' chances are taken for beta-distributed, and of every correlation the likeliest rate
    counts. With few scenarios the square of Student's quantile stands for that of chi squared.

    Args:
      successes: float64[S], in [0, number]; annotators who disagree make fractions.
      number: int64[S], judged continuations, at least 1.

    Source: beta-binomial likelihood: Williams 1975, Biometrics 31:949; profile likelihood: Venzon
      and Moolgavkar 1988, Appl. Stat. 37:87.
    """
    scenarios = len(number)
    if scenarios < 3:
        return None
    pairs, times = np.unique(
        np.stack([successes.round(6), number], axis=1), axis=0, return_counts=True
    )
    likelihood = -scenarios * _log_beta(0.0, 0.0)
    for (k, n), count in zip(pairs.tolist(), times.tolist(), strict=True):
        likelihood += count * _log_beta(k, n - k)
    drop = 2 * (likelihood.max() - likelihood.max(axis=1))
    limit = float(stats.t.isf((1 - intervals.LEVEL) / 2, scenarios - 1)) ** 2
    best = int(np.argmin(drop))
    low = _crossing(drop[: best + 1][::-1], _RHO[: best + 1][::-1], limit)
    high = _crossing(drop[best:], _RHO[best:], limit)
    return (0.0 if low <= _NONE else low), (1.0 if high >= _ALL else high)


def _crossing(drop: np.ndarray, rho: np.ndarray, limit: float) -> float:
    """Where the likelihood, from its top on, has fallen by the limit; the last where it has not."""
    beyond = np.flatnonzero(drop > limit)
    if not len(beyond):
        return float(rho[-1])
    at = int(beyond[0])
    if at == 0:
        return float(rho[0])
    share = (limit - drop[at - 1]) / (drop[at] - drop[at - 1])
    return float(rho[at - 1] + share * (rho[at] - rho[at - 1]))
