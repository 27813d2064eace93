"""Rank correlations of the scores of agents, as measured and without errors of measurement.

Source: Abramson et al. 2022, section 4.1 and figures 4 and 5.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats

from sts_analysis.statistics import estimate as est
from sts_analysis.statistics.rates import Comparisons

MIN_AGENTS = 3
MIN_AGENTS_INTERVAL = 8
"""Agents from which on a correlation has an interval and a p value."""
MIN_FAMILIES = 5
MAX_EXACT = 8
"""Agents up to which all permutations are tried."""
PERMUTATIONS = 20_000
_BATCH = 1_000_000
_LOG_DRAWS = 12
"""Logarithm to base 2 of the draws of a corrected correlation."""


class Correlation(NamedTuple):
    """Spearman's rank correlation; NaN where unknown."""

    agents: int  # int, with both values
    families: int  # int; an agent of no family is a family
    rho: float  # float, of the values as measured
    # float64[2], of the values as measured: Bonett and Wright's; where agents come in families, by
    # the jackknife
    interval: np.ndarray
    # float, two-sided, that the values are unrelated: by permutations, or by the jackknife
    p: float
    reliability_x: float  # float, share of the variance of x that is not measurement error
    reliability_y: float  # float
    corrected: float  # rho without errors of measurement; see `correct`
    corrected_interval: np.ndarray  # float64[2]
    reason: str  # why rho, its interval, p or the correction is unknown, or ""


def correlate(
    x: np.ndarray,
    y: np.ndarray,
    *,
    noise_x: float = np.nan,
    noise_y: float = np.nan,
    family_names: np.ndarray | None = None,
    seed: int = 0,
) -> Correlation:
    """Correlate the ranks of two values of J agents.

    Args:
      x: float64[J], finite.
      y: float64[J], finite.
      noise_x: mean squared standard error of x; NaN if unknown.
      noise_y: the same of y.
      family_names: str[J], "" for an agent of no family; variants of one agent are a family.
      seed: of random permutations, above `MAX_EXACT` agents, and of the corrected interval.
    """
    agents = len(x)
    family_names = np.full(agents, "") if family_names is None else family_names
    unique_names = [str(name) or f"\0{i}" for i, name in enumerate(family_names)]
    cluster = np.unique(unique_names, return_inverse=True)[1]
    families = len({*unique_names})
    rho = measure_spearman(x, y)
    p, interval, reason = np.nan, np.full(2, np.nan), ""
    if agents < MIN_AGENTS:
        reason = f"needs {MIN_AGENTS} agents with both values"
    elif np.isnan(rho):
        reason = "all agents have the same value"
    elif agents < MIN_AGENTS_INTERVAL:
        reason = f"needs {MIN_AGENTS_INTERVAL} agents for an interval"
    elif families < agents:
        interval, p, reason = _jackknife(x, y, cluster)
    else:
        interval, p = find_interval(rho, agents), permute(x, y, seed=seed)
        reason = "" if np.isfinite(interval).all() else "a perfect order has no interval"
    reliability = (measure_reliability(x, noise_x), measure_reliability(y, noise_y))
    corrected, ends = np.nan, np.full(2, np.nan)
    if not reason and np.min(reliability) > 0:  # NaN is not
        corrected, ends = correct(
            rho, interval, reliability, families, families < agents, seed=seed
        )
    elif not reason and np.isfinite(reliability).all():
        reason = "not corrected: errors are as large as the differences of agents"
    return Correlation(agents, families, rho, interval, p, *reliability, corrected, ends, reason)


def correct(
    rho: float,
    interval: np.ndarray,
    reliability: tuple[float, float],
    families: int,
    in_families: bool,
    *,
    seed: int,
) -> tuple[float, np.ndarray]:
    """Return Spearman's rho without errors of measurement, at most 1, and its interval.

    Errors of known variance are taken from the variances of both values. These are known from few
    families, so the interval draws them along with rho: a variance has the chi-square of a normal
    sample, and follows the error of rho. Where a drawn variance is all error, rho is 1 or -1.

    Args:
      rho: as measured.
      interval: float64[2], of rho.
      reliability: of both values, above 0.
      families: int, independent of each other.
      in_families: True if the interval is that of the jackknife over families.
      seed: of the draws.

    Source: Spearman 1904, Am. J. Psychology 15:72; Fuller 1987, Measurement Error
    Models, for known errors; Krishnamoorthy and Xia 2007, J. Stat. Plan. Inference 137:2362,
    for drawing the correlation and both variances.
    """
    # Attenuation divides Pearson's r; among normal values, r is 2 sin(pi rho / 6).
    r, df, noise = _to_pearson(rho), families - 1, 1 - np.array(reliability)
    corrected = _to_spearman(r / np.sqrt(np.prod(reliability)))
    # Log variances correlate r squared with each other, and about r / 2 with the error of the
    # rank correlation on Fisher's scale (r over the root of 2 with that of Pearson's).
    shape = np.array([[1, r / 2, r / 2], [r / 2, 1, r**2], [r / 2, r**2, 1]])
    root = np.linalg.cholesky(shape + est.ZERO * np.eye(3))
    # Points of a sequence fill the space evenly: ends have errors of hundredths if drawn at random.
    points = stats.qmc.Sobol(3, seed=seed).random_base2(_LOG_DRAWS)
    normal = special.ndtri(np.maximum(points, est.ZERO)) @ root.T
    chances = special.ndtr(normal)
    error = stats.t.ppf(chances[:, 0], df) if in_families else normal[:, 0]
    # The interval is symmetric on Fisher's scale; its end towards 0 is never rounded to 1.
    end = np.clip(interval[int(rho < 0)], -1 + est.ZERO, 1 - est.ZERO)
    half = abs(np.arctanh(rho) - np.arctanh(end))
    se = half / est.quantile(df if in_families else np.inf)
    drawn = _to_pearson(np.tanh(np.arctanh(rho) - se * error))
    kept = 1 - noise * 2 * special.gammaincinv(df / 2, chances[:, 1:]) / df
    true = (kept > 0).all(axis=1)
    scale = np.sqrt(np.where(true, kept.prod(axis=1), 1.0))
    values = _to_spearman(np.where(true, drawn / scale, np.sign(drawn)))
    tail = (1 - est.CONFIDENCE) / 2
    return float(corrected), np.quantile(values, [tail, 1 - tail])


def _to_pearson(rho: float | np.ndarray) -> Any:
    return 2 * np.sin(np.pi / 6 * rho)


def _to_spearman(r: float | np.ndarray) -> Any:
    return 6 / np.pi * np.arcsin(np.clip(r, -1, 1) / 2)


def measure_spearman(x: np.ndarray, y: np.ndarray) -> float:
    """Return Spearman's rho; NaN below three agents, or if either value is the same for all."""
    if len(x) < MIN_AGENTS:
        return float("nan")
    ranks = _rank(x), _rank(y)
    if any(np.ptp(rank) == 0 for rank in ranks):
        return float("nan")
    rho = np.corrcoef(*ranks)[0, 1]
    # Rounded, so that a perfect order is exactly 1, which has no interval.
    return float(np.clip(round(rho, 12), -1, 1))


def _rank(values: np.ndarray) -> np.ndarray:
    """Return float64[J], ranks in which values that only rounding tells apart are tied."""
    order = np.argsort(values, kind="stable")
    steps = np.diff(values[order], prepend=values[order[:1]])
    level = np.empty(len(values), np.int64)
    level[order] = (steps > est.ZERO * np.abs(values).max(initial=0.0)).cumsum()
    return np.asarray(stats.rankdata(level))


def find_interval(rho: float, agents: int) -> np.ndarray:
    """Return float64[2], the interval of Spearman's rho; NaN at 1 and -1.

    Source: Bonett and Wright 2000, Psychometrika 65:23, equation 3.
    """
    if abs(rho) >= 1:
        return np.full(2, np.nan)
    # On Fisher's scale Pearson's r has the variance 1 / (n - 3); that of ranks grows with rho.
    half = est.quantile(np.inf) * np.sqrt((1 + rho**2 / 2) / (agents - 3))
    return np.asarray(np.tanh(np.arctanh(rho) + np.array([-half, half])))


def permute(x: np.ndarray, y: np.ndarray, *, seed: int) -> float:
    """Return the two-sided permutation p of Spearman's rho, exact up to `MAX_EXACT` agents."""
    a, b = (_rank(values) - (len(values) + 1) / 2 for values in (x, y))
    # Orders with the same rho count as reaching it, whatever the rounding.
    observed = abs(a @ b) * (1 - 1e-9)
    if len(x) <= MAX_EXACT:
        orders = np.array(list(itertools.permutations(range(len(x)))))
        return float(np.mean(np.abs(a[orders] @ b) >= observed))
    rng, above, batch = np.random.default_rng(seed), 0, max(1, _BATCH // len(x))
    for first in range(0, PERMUTATIONS, batch):
        tries = np.tile(a, (min(batch, PERMUTATIONS - first), 1))
        above += int((np.abs(rng.permuted(tries, axis=1) @ b) >= observed).sum())
    # The observed order is one of the permutations, so p is never 0.
    return (1 + above) / (1 + PERMUTATIONS)


def measure_reliability(values: np.ndarray, noise: float) -> float:
    """Return 1 - mean squared error / variance across agents; NaN if either is unknown."""
    variance = float(np.var(values, ddof=1)) if len(values) > 1 else 0.0
    rounding = (est.ZERO * np.abs(values).max(initial=0.0)) ** 2
    return 1 - noise / variance if variance > rounding else float("nan")


def measure_noise(comparisons: Comparisons, agents: np.ndarray) -> float:
    """Return the mean squared error of pass rates among agents, int64[n]; NaN if unknown.

    It is half that of a difference: scenarios that are hard for all move all rates together and
    disturb no order.
    """
    among = np.isin(comparisons.first, agents) & np.isin(comparisons.second, agents)
    squares = comparisons.se[among & np.isfinite(comparisons.se)] ** 2
    return float(squares.mean() / 2) if len(squares) else float("nan")


def _jackknife(x: np.ndarray, y: np.ndarray, cluster: np.ndarray) -> tuple[np.ndarray, float, str]:
    """Return interval, p and the reason why they are unknown, leaving out a family at a time.

    Source: Miller 1974, Biometrika 61:1; on Fisher's scale, Student's t.
    """
    nothing, families = np.full(2, np.nan), int(cluster.max()) + 1
    if families < MIN_FAMILIES:
        return nothing, np.nan, f"needs {MIN_FAMILIES} families for an interval"
    subsets = [np.ones(len(x), bool), *(cluster != family for family in range(families))]
    rhos = np.array([measure_spearman(x[rows], y[rows]) for rows in subsets])
    if not (np.abs(rhos) < 1).all():  # NaN included
        return nothing, np.nan, "without a family the order is perfect, or unknown"
    # On Fisher's scale, where the errors of rho are closer to symmetric; t has F - 1 degrees.
    whole, *left = np.arctanh(rhos)
    se = np.sqrt((families - 1) / families * ((left - np.mean(left)) ** 2).sum())
    half = est.quantile(families - 1) * se
    p = 2 * stats.t.sf(abs(whole) / max(se, est.ZERO), families - 1)
    return np.tanh(whole + np.array([-half, half])), float(p), ""
