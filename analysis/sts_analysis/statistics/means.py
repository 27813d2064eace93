"""Means of scenario values in [0, 1] of rows that may lack scenarios, with their intervals.

Axes: R rows (agents), S scenarios.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sts_analysis.statistics import estimate as est


class Means(NamedTuple):
    """Means of R rows; NaN, and 0 units, where a row has no value."""

    value: np.ndarray  # float64[R]
    se: np.ndarray  # float64[R]
    df: np.ndarray  # float64[R]
    interval: np.ndarray  # float64[R, 2], as of a pass rate
    units: np.ndarray  # int64[R], units with a value
    scenarios: np.ndarray  # int64[R], scenarios with a value


def estimate_means(values: np.ndarray, category: np.ndarray, unit: np.ndarray) -> Means:
    """Estimate the mean of each row; see `estimate`.

    Args:
      values: float64[R, S], NaN for a scenario without a value.
      category: int64[S]; scenarios of category -1 do not count towards any weight.
      unit: int64[S], from 0.
    """
    judged = np.isfinite(values)
    value, se, df = np.full((3, len(values)), np.nan)
    interval, units = np.full((len(values), 2), np.nan), np.zeros(len(values), np.int64)
    for rows, mask in group_rows(judged):
        found = est.estimate(np.where(mask, values[rows], 0.0), est.weigh(mask, category, unit))
        value[rows], se[rows], df[rows] = np.clip(found.value, 0, 1), found.se, found.df
        interval[rows], units[rows] = found.interval, found.units
    return Means(value, se, df, interval, units, judged.sum(axis=1))


def weigh_rows(judged: np.ndarray, category: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Return float64[R, S], the weight of each scenario in the mean of each row.

    Args:
      judged: bool[R, S], which scenarios have a value.
      category: int64[S], as in `estimate_means`.
      unit: int64[S], from 0.
    """
    weights = np.zeros(judged.shape)
    for rows, mask in group_rows(judged):
        weights[rows] = est.weigh(mask, category, unit).weight
    return weights


def group_rows(mask: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the places of equal rows of bool[R, S], int64[n], with the row they share.

    Rows that are False everywhere are left out.
    """
    words = [row.tobytes() for row in np.packbits(mask, axis=1)]  # much faster than unique rows
    group, kinds = pd.factorize(np.array(words, dtype=object))
    places = [np.flatnonzero(group == g) for g in range(len(kinds))]
    return [(rows, mask[rows[0]]) for rows in places if mask[rows[0]].any()]
