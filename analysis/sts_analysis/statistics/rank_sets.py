"""Ranks, and the sets of ranks that comparisons leave open."""

import numpy as np


def rank_sets(
    ranking: np.ndarray, pairs: np.ndarray, difference: np.ndarray, separated: np.ndarray
) -> np.ndarray:
    """The ranks each agent can hold: [1 + significantly better, J - significantly worse].

    J agents stand in its ranking, and only these count. All sets hold together with 95% where what
    is said of all pairs does.

    Args:
      ranking: int64[A], which ranking each agent stands in.
      pairs: int64[P, 2], both agents of each pair.
      difference: float64[P], of their rates, the first's less the second's.
      separated: bool[P].

    Returns:
      int64[A, 2].

    Source: Mogstad, Romano, Shaikh and Wilhelm 2024, Rev. Econ. Stud. 91:476.
    """
    first, second = pairs.T
    apart = separated & (ranking[first] == ranking[second])
    ahead = difference > 0
    better, worse = np.where(ahead, first, second)[apart], np.where(ahead, second, first)[apart]
    every = (ranking == ranking[:, None]).sum(axis=1)
    return np.stack(
        [
            1 + np.bincount(worse, minlength=len(ranking)),
            every - np.bincount(better, minlength=len(ranking)),
        ],
        axis=1,
    )


def ranks(rate: np.ndarray, ranking: np.ndarray) -> list[int]:
    """1 for the highest rate of each ranking; equal rates share a rank."""
    above = (rate > rate[:, None] + 1e-12) & (ranking == ranking[:, None])
    return [1 + int(count) for count in above.sum(axis=1)]
