"""How early agents succeed: the mean height of their incidence of success."""

from typing import NamedTuple

import numpy as np

from sts_analysis.statistics import intervals, sampling, settled
from sts_analysis.statistics.outcomes import Outcomes


class Areas(NamedTuple):
    """Mean height of F1 over each scenario's own horizon, averaged over scenarios.

    Attributes:
      area: float64[A], in [0, pass rate]; NaN where nothing is known.
      error: float64[A].
      interval: float64[A, 2]; NaN where the scenarios show no spread.
    """

    area: np.ndarray
    error: np.ndarray
    interval: np.ndarray


def mean_areas(outcomes: Outcomes) -> Areas:
    """The integral of F1 over [0, L] divided by L, with an interval for sampled scenarios.

    Its standard error is a pass rate's, to which that of a scenario bootstrap tends; the interval
    is Wilson's with Student's t, as an area is near 0 more often than a rate.

    Args:
      outcomes: its values are each continuation's own area: (L - T) / L for a success at step T,
        0 otherwise.
    """
    count, mean, *_ = settled.of_suite(outcomes)
    mean = np.where(count > 0, mean, 0.0)
    weights = sampling.scenario_weights(count > 0, outcomes.category)
    area = np.where(count.any(axis=1), (weights * mean).sum(axis=1), np.nan)
    codes = sampling.strata(count > 0, outcomes.category, outcomes.unit)
    spread = sampling.sampling_spread(mean, weights, codes, outcomes.unit)
    error = np.where(spread.error > 0, spread.error, np.nan)
    ends, _ = intervals.of_mean(area, error, spread.df, sampling.distinct(count > 0, outcomes.unit))
    seen = np.isfinite(error) & (area > 0) & (area < 1)
    return Areas(area, error, np.where(seen[:, None], ends, np.nan))
