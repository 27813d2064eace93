"""Ranks, and the sets of ranks that comparisons leave open."""

from __future__ import annotations

import numpy as np

from analysis.statistics.comparisons import ALPHA, Comparisons


def rank_sets(ranking: np.ndarray, comparisons: Comparisons) -> np.ndarray:
    """The ranks each agent can hold: [1 + significantly better, J - significantly worse].

    J agents stand in its ranking, and only these count. All sets hold together with 95%, because
    the comparisons' adjusted p values do.

    Args:
      ranking: int64[A], which ranking each agent stands in.
      comparisons: of the A agents.

    Returns:
      int64[A, 2].

    Source: Mogstad, Romano, Shaikh and Wilhelm 2024, Rev. Econ. Stud. 91:476.
    """
    sets = np.array([[1, np.sum(ranking == own)] for own in ranking], dtype=np.int64).reshape(-1, 2)
    for (a, b), difference, p in zip(
        comparisons.pairs, comparisons.difference, comparisons.p_adjusted, strict=True
    ):
        if p < ALPHA and ranking[a] == ranking[b]:
            better, worse = (a, b) if difference > 0 else (b, a)
            sets[worse, 0] += 1
            sets[better, 1] -= 1
    return sets


def ranks(rate: np.ndarray, ranking: np.ndarray) -> list[int]:
    """1 for the highest rate of each ranking; equal rates share a rank."""
    above = (rate > rate[:, None] + 1e-12) & (ranking == ranking[:, None])
    return [1 + int(count) for count in above.sum(axis=1)]
