"""Performance profiles: on what share of scenarios an agent passes at least so often."""

from typing import NamedTuple

import numpy as np

from sts_analysis.statistics import intervals, sampling
from sts_analysis.statistics.outcomes import Summary

LEVELS = np.linspace(0.1, 1.0, 10).round(2)
_DRAWS = 4_000


class Profile(NamedTuple):
    """One agent's; empty where nothing is judged.

    Attributes:
      share: float64[L], of scenarios with a pass rate of at least each of `LEVELS`.
      band: float64[L, 2], holds the whole profile with 95%, scenarios sampled.
      scenarios: judged ones.
    """

    share: np.ndarray
    band: np.ndarray
    scenarios: int


def profile(
    summary: Summary, row: int, category: np.ndarray, *, seed: int, unit: np.ndarray | None = None
) -> Profile:
    """The profile of one agent, with a band for all levels at once.

    The band is Wilson's at each level, with the quantile of the largest studentised deviation
    over the levels, by multiplier bootstrap.

    Args:
      summary: [A, S].
      row: which agent.
      category: int64[S].
      seed: of the bootstrap.
      unit: of `sampling.units`.

    Source: Agarwal et al. 2021 (arXiv 2108.13264), section 4.2; Dolan and More 2002, Math. Program.
      91:201; band: Chernozhukov, Chetverikov and Kato 2013, Ann. Stat. 41:2786.
    """
    judged = summary.number[row] > 0
    if not judged.any():
        return Profile(np.empty(0), np.empty((0, 2)), 0)
    used = np.tile(judged, (len(LEVELS), 1))
    passes = np.where(judged, summary.mean[row], 0.0) >= LEVELS[:, None] - 1e-9
    weights = sampling.scenario_weights(used, category)
    share = np.clip(np.round(sampling.weighted_mean(passes.astype(float), weights), 12), 0, 1)
    codes = sampling.strata(used, category, unit)
    spread = sampling.sampling_spread(passes.astype(float), weights, codes, unit)
    seen = spread.error > 0
    loads = spread.parts[seen] / np.where(seen, spread.error, 1.0)[seen, None]
    largest = np.zeros(_DRAWS)
    if seen.any():
        # The levels' deviations hang together as their loads do; few levels need few draws.
        size, axes = np.linalg.eigh(loads @ loads.T)
        root = axes * np.sqrt(np.maximum(size, 0.0))
        draws = np.random.default_rng(seed).standard_normal((_DRAWS, len(root)))
        largest = np.abs(draws @ root.T).max(axis=1)
    quantile = max(float(np.quantile(largest, intervals.LEVEL)), intervals.Z)
    band = intervals.near_an_end(
        share, spread.error, spread.df, sampling.distinct(used, unit), quantile=quantile
    )
    return Profile(share, band, int(judged.sum()))
