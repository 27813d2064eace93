"""How often a metric orders agents as the suite does."""

import numpy as np


def order_accuracy(
    pairs: np.ndarray, difference: np.ndarray, separated: np.ndarray, metric: np.ndarray
) -> tuple[float | None, int]:
    """How often a metric orders two agents as the suite does, where the suite separates them.

    Args:
      pairs: int64[P, 2], indices of agents.
      difference: float64[P], in pass rate.
      separated: bool[P].
      metric: float64[A], NaN where an agent has none; equal values count one half.

    Returns:
      The share, None without such a pair, and the number of pairs.
    """
    other = metric[pairs[:, 0]] - metric[pairs[:, 1]]
    use = separated & np.isfinite(other)
    if not use.any():
        return None, 0
    agree = np.where(other == 0, 0.5, np.sign(other) == np.sign(difference))
    return float(agree[use].mean()), int(use.sum())
