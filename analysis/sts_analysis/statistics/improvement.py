"""On how many scenarios one agent passes more often than another."""

from typing import NamedTuple

import numpy as np

from sts_analysis.statistics import intervals, sampling
from sts_analysis.statistics.outcomes import Summary
from sts_analysis.statistics.paired import Paired


class Improvements(NamedTuple):
    """Of P pairs of agents; NaN where they share no scenario.

    Attributes:
      chance: float64[P], share of scenarios on which the first passes more often; equal ones half.
      interval: float64[P, 2], scenarios sampled.
    """

    chance: np.ndarray
    interval: np.ndarray


def improvements(
    summary: Summary, category: np.ndarray, pairs: np.ndarray, unit: np.ndarray | None = None
) -> Improvements:
    """The chance that, on a scenario drawn anew, the first agent of a pair does better.

    Better is what is seen in as many continuations as there are; so it is nearer to one half than
    endlessly many continuations would make it.

    Args:
      summary: [A, S].
      category: int64[S].
      pairs: int64[P, 2].
      unit: of `sampling.units`.

    Source: Agarwal et al. 2021 (arXiv 2108.13264), section 4.3, over scenarios in place of runs:
      of successes and failures, over runs, it would be one half plus half the difference.
    """
    paired = Paired(pairs, summary.number > 0, category, unit)
    _, level = np.unique(np.nan_to_num(summary.mean, nan=-1.0).round(9), return_inverse=True)
    levels = level.reshape(summary.mean.shape).astype(np.int32)

    def work(some: np.ndarray) -> tuple[np.ndarray, ...]:
        common, weights = paired.shared(some)
        values = (np.sign(levels[some[:, 0]] - levels[some[:, 1]]) + 1) / 2
        chance = np.round(sampling.weighted_mean(values, weights), 12)
        spread = paired.spread(values, some)
        return chance, spread.error, spread.df, sampling.distinct(common, unit)

    chance, *known = paired.each(work)
    return Improvements(chance, intervals.of_mean(chance, *known)[0])
