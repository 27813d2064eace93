"""Intervals for a proportion, and what to do where no variance can be seen.

Every interval is an array [..., 2] at the nominal level `LEVEL`, inside [0, 1].
"""

import numpy as np
from scipy import stats

LEVEL = 0.95
DRAWN_DF = 2.0
FEW_EFFECTIVE = 10.0
Z = float(stats.norm.ppf(0.5 + LEVEL / 2))
_FAR = 1e50
"""A quantile from which on Wilson's interval is all of 0 to 1, and whose powers are numbers."""


def wilson(p: np.ndarray, n: np.ndarray, quantile: np.ndarray | float = Z) -> np.ndarray:
    """Wilson's score interval; NaN where `p` is NaN.

    Args:
      p: proportions.
      n: effective numbers of trials, above 0; need not be whole.
      quantile: the normal one, or Student's where `n` comes from few degrees of freedom.

    Source: Wilson 1927, J. Am. Stat. Assoc. 22:209; with an effective number of trials, Dean and
      Pagano 2015, Survey Methodology 41.
    """
    with np.errstate(invalid="ignore"):
        square = np.square(np.minimum(quantile, _FAR))
        centre = (p + square / (2 * n)) / (1 + square / n)
        half = np.sqrt(square * p * (1 - p) / n + square**2 / (4 * n**2)) / (1 + square / n)
    ends: np.ndarray = np.clip(np.stack([centre - half, centre + half], axis=-1), 0.0, 1.0)
    return ends


def jeffreys(successes: float, trials: float) -> tuple[float, float]:
    """Jeffreys' interval for independent trials.

    Source: Brown, Cai and DasGupta 2001, Stat. Sci. 16:101.
    """
    posterior = successes + 0.5, trials - successes + 0.5
    tail = (1 - LEVEL) / 2
    return float(stats.beta.ppf(tail, *posterior)), float(stats.beta.isf(tail, *posterior))


def student_quantile(df: np.ndarray) -> np.ndarray:
    """Student's two-sided quantile at `LEVEL`; the normal one where df is NaN."""
    return np.where(np.isnan(df), Z, stats.t.ppf(0.5 + LEVEL / 2, np.where(np.isnan(df), 1, df)))


def student(estimate: np.ndarray, error: np.ndarray, df: np.ndarray) -> np.ndarray:
    """The interval estimate +- t(df) x error, not clipped."""
    half = stats.t.ppf(0.5 + LEVEL / 2, df) * error
    return np.stack([estimate - half, estimate + half], axis=-1)


def effective_trials(p: np.ndarray, error: np.ndarray, fallback: np.ndarray) -> np.ndarray:
    """The number of independent trials that would have this standard error.

    Args:
      p: proportions.
      error: their standard errors.
      fallback: used where the error is 0: at p = 0 or 1 the sample shows no spread, and its
        scenarios are taken for the independent trials.
    """
    seen = (error > 0) & (p > 0) & (p < 1)
    return np.where(seen, p * (1 - p) / np.where(seen, error, 1.0) ** 2, fallback)


def near_an_end(
    p: np.ndarray, error: np.ndarray, df: np.ndarray, most: np.ndarray, *, quantile: float = Z
) -> np.ndarray:
    """Wilson's interval by a standard error that few successes, or few failures, show poorly.

    A variance that is seen small by chance goes with a mean that is near an end by chance. So it is
    drawn, by two degrees of freedom, towards the one of as many independent trials as scenarios.

    Args:
      p: means in [0, 1].
      error: their standard errors, above 0 where something is known.
      df: degrees of freedom of these.
      most: int64, how many scenarios.
      quantile: the normal one, which df makes Student's.
    """
    own = np.where(np.isfinite(df), df, 0.0)
    largest = p * (1 - p) / np.maximum(most, 1)
    variance = (own * np.nan_to_num(error) ** 2 + DRAWN_DF * largest) / (own + DRAWN_DF)
    trials = np.maximum(effective_trials(p, np.sqrt(np.nan_to_num(variance)), most), 1)
    freedom = np.where(np.isfinite(df), df + DRAWN_DF, np.inf)
    return wilson(p, trials, stats.t.isf(stats.norm.sf(quantile), freedom))


def of_mean(
    p: np.ndarray, error: np.ndarray, df: np.ndarray, most: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The interval of means in [0, 1], and bool, where it is Student's.

    Near 0 and 1, where fewer than `FEW_EFFECTIVE` effective successes or failures are seen, that
    one leaves [0, 1] and covers too little; `near_an_end` does neither.

    Args:
      p: as `near_an_end` takes all of them.
      error: standard errors.
      df: their degrees of freedom.
      most: how many scenarios.
    """
    trials = np.maximum(effective_trials(p, error, most), 1)
    ordinary = (error > 0) & (trials * np.minimum(p, 1 - p) >= FEW_EFFECTIVE)
    ends = np.clip(student(p, error, df), 0.0, 1.0)
    if not ordinary.all():
        ends[~ordinary] = near_an_end(*(column[~ordinary] for column in (p, error, df, most)))
    return ends, ordinary


def difference_from_parts(
    p: float, p_interval: np.ndarray, q: float, q_interval: np.ndarray
) -> tuple[float, float]:
    """Interval of p - q from the two intervals, for when their difference shows no spread.

    Source: Newcombe 1998, Stat. Med. 17:873, method 10; Zou and Donner 2008, Stat. Med. 27:1693.
    """
    below = np.hypot(p - p_interval[0], q_interval[1] - q)
    above = np.hypot(p_interval[1] - p, q - q_interval[0])
    return float(p - q - below), float(p - q + above)


def clustered(yes: np.ndarray, cluster: np.ndarray) -> tuple[float, float]:
    """Wilson's interval of a share of answers that hang together inside of clusters.

    Args:
      yes: bool[N], at least one.
      cluster: [N], which one each is of.

    Source: linearised variance of a ratio mean over clusters; see `wilson` for the trials.
    """
    _, place = np.unique(cluster, return_inverse=True)
    clusters = int(place.max()) + 1
    share = np.asarray(yes.mean())
    off = np.bincount(place, weights=yes - share)
    error = np.sqrt(clusters / max(clusters - 1, 1) * (off**2).sum()) / len(yes)
    trials = effective_trials(share, error, np.array(clusters))
    low, high = wilson(share, np.minimum(trials, len(yes)))
    return float(low), float(high)
