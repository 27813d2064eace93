"""Accuracy of annotators, and errors of their markers, on reference episodes.

An annotator is a test for success: sensitivity is the share of true successes that are judged a
success, specificity the share of the others that are not. An episode is a unit: what is hard to see
in it is hard for all.

Source: Abramson et al. 2022, sections 3.3 and 6, appendix A.3.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sts_analysis.statistics.means import Means, estimate_means
from sts_analysis.statistics.tabulation import UNCOUNTED

TOLERANCES = (0, 1, 2, 3, 5, 10, 20)
"""Numbers of steps that a marker may be off."""


class Accuracy(NamedTuple):
    """Accuracy of one annotator, or of several together; NaN without a reference of the kind."""

    successes: int  # int, answers on references that are successes
    sensitivity: float  # float
    sensitivity_interval: np.ndarray  # float64[2]
    non_successes: int  # int, answers on references that are not
    specificity: float  # float
    specificity_interval: np.ndarray  # float64[2]
    balanced: float  # float, balanced accuracy, the mean of both
    interval: np.ndarray  # float64[2], of the balanced accuracy
    cannot_judge: int  # int, references answered "cannot judge", left out above


class MarkerErrors(NamedTuple):
    """Errors of markers where the verdict is right; NaN without a marker."""

    markers: int  # int
    median: float  # float, steps, positive for late
    within: np.ndarray  # float64[T], share of markers off by at most each of `TOLERANCES`
    intervals: np.ndarray  # float64[T, 2], of these shares; an episode is a unit


def measure_accuracy(references: pd.DataFrame) -> Accuracy:
    """Measure the accuracy of all answers together.

    Args:
      references: rows of people in a checked ratings table that have a truth, each answer once.

    Source: interval of the balanced accuracy: Zou and Donner 2008, Stat. Med. 27:1693.
    """
    answered = references[~references["verdict"].isin(UNCOUNTED).to_numpy()]
    true = (answered["truth"] == "success").to_numpy()
    right = (answered["verdict"] == "success").to_numpy() == true
    episode = answered["continuation"].to_numpy()
    kinds = [_average(right[None, kind], episode[kind]) for kind in (true, ~true)]
    rates = np.array([kind.value[0] for kind in kinds])
    ends = np.array([kind.interval[0] for kind in kinds])
    # Distances of both ends from their rates add in squares; half, as the two are averaged.
    low, high = np.hypot(*np.abs(ends - rates[:, None])) / 2
    balanced = rates.mean()
    return Accuracy(
        successes=int(true.sum()),
        sensitivity=float(rates[0]),
        sensitivity_interval=ends[0],
        non_successes=int((~true).sum()),
        specificity=float(rates[1]),
        specificity_interval=ends[1],
        balanced=float(balanced),
        interval=np.clip([balanced - low, balanced + high], 0.0, 1.0),
        cannot_judge=int((references["verdict"] == "cannot_judge").sum()),
    )


def measure_marker_errors(references: pd.DataFrame) -> MarkerErrors:
    """Measure the errors of markers.

    Args:
      references: rows of people in a checked ratings table that have a truth, each answer once.
    """
    right = references[references["verdict"].to_numpy() == references["truth"].to_numpy()]
    right = right[(right["step"].notna() & right["truth_step"].notna()).to_numpy()]
    error = (right["step"] - right["truth_step"]).to_numpy(np.float64)
    near = np.abs(error) <= np.array(TOLERANCES)[:, None]
    means = _average(near, right["continuation"].to_numpy())
    median = float(np.median(error)) if len(error) else np.nan
    return MarkerErrors(len(error), median, means.value, means.interval)


def _average(hits: np.ndarray, episode: np.ndarray) -> Means:
    """Average the answers to episodes, int64[N], in each row of bool[R, N]."""
    unit = np.unique(episode, return_inverse=True)[1]
    return estimate_means(hits.astype(np.float64), np.zeros(len(unit), np.int64), unit)
