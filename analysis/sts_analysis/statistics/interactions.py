"""Residuals of the additive model: what is not an agent family's mean plus a category's."""

import numpy as np
from scipy.special import stdtrit

from sts_analysis.statistics import estimate as est
from sts_analysis.statistics.means import group_rows

MIN_UNITS = 5
"""Units of a category in which every agent must have a value."""


def measure_interactions(
    values: np.ndarray, category: np.ndarray, unit: np.ndarray, family: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Measure the residuals of F families in C categories; every cell weighs the same.

    Args:
      values: float64[A, S], NaN for a scenario without a value.
      category: int64[S], from 0 to C - 1.
      unit: int64[S], from 0.
      family: int64[A], from 0 to F - 1; the agents of a family weigh the same.

    Returns:
      The K categories with enough units, int64; residuals float64[F, K]; and their intervals for
      all cells together (Bonferroni), float64[F, K, 2], NaN without an error.
    """
    shape = len(values), int(category.max()) + 1
    mean, df, units = np.zeros((3, *shape))
    unit_errors = np.zeros((*shape, int(unit.max()) + 1))
    for c in range(shape[1]):
        for rows, mask in group_rows(np.isfinite(values) & (category == c)):
            found = est.estimate(np.nan_to_num(values[rows]), est.weigh(mask, category, unit))
            mean[rows, c], unit_errors[rows, c] = found.value, found.unit_errors
            df[rows, c], units[rows, c] = found.df, found.units
    counted = np.flatnonzero(units.min(axis=0) >= MIN_UNITS)
    weight = (family == np.arange(family.max() + 1)[:, None]) / np.bincount(family)[:, None]
    # A family's mean less that of all families, and below a category's less that of all categories.
    weight = weight - weight.mean(axis=0)
    centre = np.eye(len(counted)) - 1 / max(len(counted), 1)
    residual = weight @ mean[:, counted] @ centre
    # Summed over categories before squaring, as a unit may have scenarios in several.
    deviations = centre @ np.tensordot(weight, unit_errors[:, counted], 1)
    se = est.take_root((deviations**2).sum(axis=-1))
    size = 1 / units[:, counted].min(axis=0)  # variances if scenarios are alike, for Satterthwaite
    below = (size**2 / df[:, counted].min(axis=0)) @ centre**4
    free = est.divide((size @ centre**2) ** 2, below)
    tail = (1 - est.CONFIDENCE) / (2 * max(residual.size, 1))
    half = stdtrit(free, 1 - tail) * np.where(se > 0, se, np.nan)
    return counted, residual, np.clip(np.stack([residual - half, residual + half], axis=-1), -1, 1)
