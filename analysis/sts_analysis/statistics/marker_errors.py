"""Errors of annotators' markers: their distance from the known step of reference episodes.

Source: Abramson et al. 2022, appendix A.3.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sts_analysis.statistics.means import estimate_means

TOLERANCES = (0, 1, 2, 3, 5, 10, 20)
"""Numbers of steps that a marker may be off."""


class MarkerErrors(NamedTuple):
    """Errors of markers where the verdict is right; NaN without a marker.

    Attributes:
      markers: int.
      median: float, steps, positive for late.
      within: float64[T], share of markers off by at most each of `TOLERANCES`.
      intervals: float64[T, 2], of these shares; an episode is a unit.
    """

    markers: int
    median: float
    within: np.ndarray
    intervals: np.ndarray


def measure_marker_errors(references: pd.DataFrame) -> MarkerErrors:
    """Measure the errors of markers.

    Args:
      references: rows of people in a checked ratings table that have a truth, each answer once.
    """
    right = references[references["verdict"].to_numpy() == references["truth"].to_numpy()]
    right = right[(right["step"].notna() & right["truth_step"].notna()).to_numpy()]
    error = (right["step"] - right["truth_step"]).to_numpy(np.float64)
    unit = np.unique(right["continuation"], return_inverse=True)[1]
    near = (np.abs(error) <= np.array(TOLERANCES)[:, None]).astype(np.float64)
    means = estimate_means(near, np.zeros(len(error), np.int64), unit)
    median = float(np.median(error)) if len(error) else np.nan
    return MarkerErrors(len(error), median, means.value, means.interval)
