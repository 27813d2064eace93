"""Sums of rewards and their products over environments, for means and standard errors.

Rewards are whole halves, so the sums are exact integers: they do not depend on the order of
addition or the number of processes, and their memory not on the number of environments.

Axes: E environments, A agents.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class RewardSums(NamedTuple):
    """Sums over environments, which `add_sums` adds up."""

    episodes: int  # E, the number of environments
    total: NDArray[np.object_]  # object[A] of int, each agent's total reward
    # object[A, A] of int, the sum of products of each two agents' rewards
    products: NDArray[np.object_]


class Estimate(NamedTuple):
    """Mean over environments and its standard error; no error for a single environment."""

    mean: float
    standard_error: float | None


def sum_rewards(received: NDArray[np.int64]) -> RewardSums:
    """Return the sums of int64[E, A], each agent's team reward in each environment.

    They are Python integers, because products for large teams and long episodes exceed 64 bits.
    """
    exact_rewards = received.astype(object)
    return RewardSums(len(exact_rewards), exact_rewards.sum(0), exact_rewards.T @ exact_rewards)


def add_sums(sums: Iterable[RewardSums]) -> RewardSums:
    """Add up sums over one or more sets of environments."""
    summands = list(sums)
    return RewardSums(
        sum(part.episodes for part in summands),
        np.sum([part.total for part in summands], axis=0),
        np.sum([part.products for part in summands], axis=0),
    )


def estimate_mean(sums: RewardSums, weights: NDArray[np.int64], unit: int) -> Estimate:
    """Return the mean over environments of a weighted sum of the agents' rewards.

    `weights` is int64[A]: 1 for one agent gives its own reward, 1 and -1 the difference of two.
    `unit` is the divisor that turns an episode's reward into a mean reward.
    """
    n, exact_weights = sums.episodes, weights.astype(object)
    total = int(exact_weights @ sums.total)
    square = int(exact_weights @ sums.products @ exact_weights)
    if n == 1:
        return Estimate(total / unit, None)
    variance = Fraction(n * square - total * total, n * (n - 1))
    return Estimate(total / (n * unit), sqrt(variance / n) / unit)
