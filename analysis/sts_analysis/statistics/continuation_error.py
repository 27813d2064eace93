"""The standard error of a rate that comes from continuations alone."""

import numpy as np

from sts_analysis.statistics.outcomes import Summary


def continuation_error(summary: Summary, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Standard error from continuations alone: SE^2 = sum_s w_s^2 p_s (1 - p_s) / (n_s - 1).

    And from what copies of a clip share, where there are any.

    A scenario with one judged continuation shows no spread; it takes the mean spread of the same
    agent's other scenarios.

    Args:
      summary: [R, S].
      weights: float64[R, S].

    Returns:
      float64[R], NaN where no scenario has two; and int64[R], how many scenarios borrowed.
    """
    used = weights > 0
    known = used & np.isfinite(summary.spread)
    filled = np.where(known, summary.spread, 0.0)
    mean = filled.sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    spread = np.where(known, filled, mean[:, None])
    each = spread / np.maximum(summary.number, 1)
    if summary.shared is not None:
        each = each + summary.shared
    variance = np.where(used, weights**2 * each, 0.0).sum(axis=1)
    error = np.where(known.any(axis=1), np.sqrt(variance), np.nan)
    return error, (used & ~known).sum(axis=1)
