"""Whether what was chosen came with the chances it should have had."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEAST = 5.0
_ZERO = 1e-9


class Outcome(NamedTuple):
    """One independent choice: the chance of each thing that was possible, and which was taken."""

    chances: tuple[float, ...]
    taken: int


def uniformity(outcomes: Sequence[Outcome]) -> float | None:
    """Return p that the outcomes came with their chances; None when there is too little to tell.

    Choices among equally many things are counted together, by the rank of what was taken. With
    d = observed less expected counts and V their covariance, the statistic is d' V^+ d, and the sum
    over the numbers of things is chi-square with as many degrees of freedom as the V have rank.
    Where all chances are equal that is Pearson's test; where they differ from choice to choice
    it stays exact for large counts, which Pearson's does not. Ranks that are expected under 5 times
    are not counted.
    """
    from scipy.stats import chi2

    statistic, freedom = 0.0, 0
    for group in _by_size(outcomes):
        chances = np.array([o.chances for o in group])
        observed = np.bincount([o.taken for o in group], minlength=chances.shape[1])
        value, rank = _distance(chances, observed)
        statistic, freedom = statistic + value, freedom + rank
    return float(chi2.sf(statistic, freedom)) if freedom else None


def _by_size(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    groups: dict[int, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        if len(outcome.chances) > 1:
            groups[len(outcome.chances)].append(outcome)
    return list(groups.values())


def _distance(chances: NDArray[np.float64], observed: NDArray[np.int64]) -> tuple[float, int]:
    """Return (d' V^+ d, rank of V) of choices [N, K] and the counts [K] of what was taken."""
    expected = chances.sum(0)
    counted = expected >= LEAST
    if not counted.any():
        return 0.0, 0
    covariance = (np.diag(expected) - chances.T @ chances)[np.ix_(counted, counted)]
    off = (observed - expected)[counted]
    values, vectors = np.linalg.eigh(covariance)
    real = values > _ZERO * values[-1]
    along = vectors[:, real].T @ off
    return float((along**2 / values[real]).sum()), int(real.sum())
