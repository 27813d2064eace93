"""What agents received over many environments, in so little memory that their number is no matter.

Rewards are whole halves, so sums of them and of their products are exact integers: the same
whichever process added them up and in whichever order, however many environments there are.

Axes: E environments, A agents.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Moments(NamedTuple):
    """Sums over environments; `plus` joins two.

    Attributes:
      episodes: how many environments, E.
      total: object[A] of int, each agent's reward in all.
      products: object[A, A] of int, the reward of one times that of another, in all.
    """

    episodes: int
    total: NDArray[np.object_]
    products: NDArray[np.object_]


class Estimate(NamedTuple):
    """A mean over environments and its standard error, which a single one cannot have."""

    mean: float
    standard_error: float | None


def moments(received: NDArray[np.int64]) -> Moments:
    """Return the sums of int64[E, A]: what each agent's team received in each environment.

    A word does not hold the products of the largest teams over the longest episodes.
    """
    whole = received.astype(object)
    return Moments(len(whole), whole.sum(0), whole.T @ whole)


def plus(parts: Iterable[Moments]) -> Moments:
    """Return the sums over all the environments of one part or more."""
    parts = list(parts)
    return Moments(
        sum(part.episodes for part in parts),
        np.sum([part.total for part in parts], axis=0),
        np.sum([part.products for part in parts], axis=0),
    )


def estimate(sums: Moments, weights: NDArray[np.int64], unit: int) -> Estimate:
    """Return the mean over environments of a weighted sum of the agents' rewards.

    Args:
      sums: over one environment or more.
      weights: int64[A]; 1 for one agent is its own reward, 1 and -1 the difference of two agents
        on the same environments.
      unit: what a reward is divided by, so that it becomes a mean reward.
    """
    n, whole = sums.episodes, weights.astype(object)
    total, square = int(whole @ sums.total), int(whole @ sums.products @ whole)
    if n == 1:
        return Estimate(total / unit, None)
    variance = Fraction(n * square - total * total, n * (n - 1))
    return Estimate(total / (n * unit), sqrt(variance / n) / unit)
