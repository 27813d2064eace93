"""How alike two continuations of one scenario are, pooled over categories."""

import numpy as np

from sts_analysis.statistics.outcomes import Summary


def pooled_correlation(summary: Summary, category: np.ndarray) -> np.ndarray:
    """How alike two continuations of one scenario are, pooled over categories.

    The analysis-of-variance estimate with scenarios as groups and categories taken out, clipped
    to [0, 1]; 1 (no continuation counts as new evidence) where it cannot be estimated.

    Args:
      summary: [A, S].
      category: int64[S].

    Returns:
      float64[A].

    Source: Donner and Koval 1980, Biometrics 36:19; Ridout, Demetrio and Firth 1999, Biometrics
      55:137.
    """
    count = summary.number.astype(np.float64)
    filled = np.where(count > 0, summary.mean, 0.0)
    between = np.zeros(len(count))
    between_df = np.zeros(len(count))
    size = np.zeros(len(count))
    for stratum in range(int(category.max()) + 1):
        columns = category == stratum
        n = count[:, columns]
        total = n.sum(axis=1)
        centre = (n * filled[:, columns]).sum(axis=1) / np.maximum(total, 1)
        between += (n * (filled[:, columns] - centre[:, None]) ** 2).sum(axis=1)
        between_df += np.maximum((n > 0).sum(axis=1) - 1, 0)
        size += total - (n**2).sum(axis=1) / np.maximum(total, 1)
    within = (np.maximum(count - 1, 0) * np.nan_to_num(summary.spread)).sum(axis=1)
    within_df = np.maximum(count - 1, 0).sum(axis=1)
    size = size / np.maximum(between_df, 1)
    mean_between = between / np.maximum(between_df, 1)
    mean_within = within / np.maximum(within_df, 1)
    total_variance = mean_between + (size - 1) * mean_within
    possible = (between_df > 0) & (within_df > 0) & (total_variance > 0)
    rho = (mean_between - mean_within) / np.where(possible, total_variance, 1.0)
    return np.where(possible, np.clip(rho, 0.0, 1.0), 1.0)
