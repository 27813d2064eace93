"""Simulated chances of success of agents over scenarios.

Axes: A agents, C categories, S scenarios.
"""

import functools
import math
from typing import NamedTuple

import numpy as np
from scipy import optimize, special, stats

# Evenly spaced normal scores are dense in both tails, where chances reach 0 and 1.
_QUANTILES = special.ndtr(np.linspace(-6.5, 6.5, 1301))
_EDGE = 1e-3
POPULATION = special.ndtri((np.arange(200) + 0.5) / 200)
"""The middles of 200 equal shares of a normal distribution."""
_MAX_DEVIATION = 10.0


class Accuracy(NamedTuple):
    """How often annotators are right about successes, and about other continuations."""

    sensitivity: float
    specificity: float

    @property
    def scale(self) -> float:
        """How much of a difference is left in verdicts (Rogan and Gladen 1978, AJE 107:71)."""
        return self.sensitivity + self.specificity - 1

    def verdict_variance(self, rate: np.ndarray) -> np.ndarray:
        """Return the variance of a single verdict about its continuation, at true rates."""
        right, other = self.sensitivity, self.specificity
        return rate * right * (1 - right) + (1 - rate) * other * (1 - other)

    def call(self, strictness: np.ndarray) -> np.ndarray:
        """Return how often annotators call a success, and anything else, a success.

        Args:
          strictness: float64[...], added to the log odds of calling something a success.

        Returns:
          float64[2, ...].
        """
        base = special.logit(np.array([self.sensitivity, 1 - self.specificity]))
        return np.asarray(special.expit(np.add.outer(base, strictness)))

    def average(self, deviation: float) -> "Accuracy":
        """Return the accuracy of all annotators together, if their log odds vary so much."""
        success, other = self.call(deviation * POPULATION).mean(axis=1)
        return Accuracy(float(success), 1 - float(other))

    def find_deviation(self, rate: float, variance: float) -> float:
        """Find the standard deviation, in log odds, that gives judged rates a variance.

        Args:
          rate: true pass rate.
          variance: of the rate as judged, between annotators.
        """

        def exceed(deviation: float) -> float:
            success, other = self.call(deviation * POPULATION)
            return float((rate * success + (1 - rate) * other).var()) - variance

        if not exceed(0.0) < 0 < exceed(_MAX_DEVIATION):
            return 0.0
        return float(optimize.brentq(exceed, 0.0, _MAX_DEVIATION))


class ChanceModel(NamedTuple):
    """The distribution of chances of success: beta for each agent and category."""

    rate: np.ndarray  # float64[A, C], their mean
    icc: np.ndarray  # float64[A], their variance over rate (1 - rate)
    correlation: float  # of two agents' chances in one scenario
    # of their variances and covariances, what two scenarios of a unit share
    trajectory_share: float

    def draw(
        self, category: np.ndarray, unit: np.ndarray, rng: np.random.Generator, studies: int
    ) -> np.ndarray:
        """Draw chances of new scenarios, float64[A, studies, S].

        With probability sqrt(correlation) an agent takes the quantile that all agents share, else
        its own; a scenario takes its unit's with probability sqrt(trajectory_share), else its own.

        Args:
          category: int64[S].
          unit: int64[S], from 0.
          rng: random numbers; how many are drawn depends on the sizes alone.
          studies: number of independent draws.
        """

        def draw_quantiles(number: int) -> np.ndarray:
            each = rng.random((len(self.rate), studies, number))
            # Two agents both take the shared one with probability sqrt(r) sqrt(r) = r.
            common = rng.random(each.shape) < math.sqrt(self.correlation)
            return np.where(common, rng.random((studies, number)), each)

        from_unit = rng.random((studies, len(unit))) < math.sqrt(self.trajectory_share)
        of_units = draw_quantiles(int(unit.max()) + 1)[..., unit]
        chance = np.where(from_unit, of_units, draw_quantiles(len(unit)))
        for agent, category_index in np.ndindex(self.rate.shape):
            inside = category == category_index
            table = _tabulate(float(self.rate[agent, category_index]), float(self.icc[agent]))
            chance[agent][:, inside] = np.interp(chance[agent][:, inside], _QUANTILES, table)
        return chance


@functools.lru_cache(maxsize=10_000)
def _tabulate(rate: float, icc: float) -> np.ndarray:
    """Return the chance at each quantile."""
    rate, icc = (min(max(share, _EDGE), 1 - _EDGE) for share in (rate, icc))
    # A beta whose parameters sum to `total` has the variance rate (1 - rate) / (total + 1).
    total = (1 - icc) / icc
    return np.asarray(stats.beta.ppf(_QUANTILES, rate * total, (1 - rate) * total))
