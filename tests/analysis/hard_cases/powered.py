"""Prediction-powered rates of few worlds, of which people judged a part.

The replicates are the rows: each is an agent of its own, on the same worlds.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from sts_analysis.statistics import prediction_powered as estimator
from sts_analysis.statistics.prediction_powered import Beside
from tests.analysis.hard_cases.case import Case, inside

CONTINUATIONS = 10
BETWEEN_WORLDS, BETWEEN_SCENARIOS = 0.8, 1.0


class Study(NamedTuple):
    """Replicates of one study.

    Attributes:
      truth: what an agent passes on all scenarios of all worlds.
      people: float64[R, S, N], NaN where nobody judged.
      rule: float64[R, S, N].
      category: int64[S].
      world: int64[S].
    """

    truth: float
    people: np.ndarray
    rule: np.ndarray
    category: np.ndarray
    world: np.ndarray

    @property
    def beside(self) -> Beside:
        """What the estimator takes."""
        return estimator.lay_beside(self.people, self.rule, np.ones(self.rule.shape, bool))

    @property
    def fold(self) -> np.ndarray:
        """int64[S]."""
        return estimator.folds([f"world {one}" for one in self.world])


def study(
    replicates: int,
    worlds: Sequence[int],
    *,
    judged: float,
    middle: float = 0.0,
    right: tuple[float, float] = (0.9, 0.9),
    categories: int = 2,
    alike: int = 1,
    seed: int = 91,
) -> Study:
    """Plays and judges replicates of one study.

    Args:
      replicates: R.
      worlds: how many scenarios each has; these resemble each other.
      judged: share of the continuations, at random.
      middle: logit of a scenario of the middle.
      right: how often the rule is right of successes and of failures, in a world of the middle; in
        some worlds it errs more.
      categories: of which a world's scenarios are in turn.
      alike: so many rows after each other are equal agents on the same scenarios.
      seed: of all of it.
    """
    rng = np.random.default_rng(seed)
    world = np.repeat(np.arange(len(worlds)), worlds)
    shape = (replicates, len(world), CONTINUATIONS)

    def drawn(spread: float, columns: int) -> np.ndarray:
        return np.repeat(rng.normal(0, spread, (replicates // alike, columns)), alike, axis=0)

    ease = drawn(BETWEEN_WORLDS, len(worlds))[:, world] + drawn(BETWEEN_SCENARIOS, len(world))
    success = rng.random(shape) < expit(middle + ease)[..., None]
    drift = drawn(0.5, len(worlds))[:, world, None]
    odds = np.log(np.array(right) / (1 - np.array(right)))
    said = success == (rng.random(shape) < expit(np.where(success, *odds) + drift))
    people = np.where(rng.random(shape) < judged, success, np.nan)
    spread = np.hypot(BETWEEN_WORLDS, BETWEEN_SCENARIOS)
    nodes, weights = np.polynomial.hermite_e.hermegauss(64)
    truth = (weights * expit(middle + spread * nodes)).sum() / weights.sum()
    category = np.arange(len(world)) % categories
    return Study(float(truth), people, said.astype(float), category, world)


def in_sample(own: Study, *, by_category: bool = False) -> np.ndarray:
    """float64[R, S], weights that are fitted on the scenarios that they correct.

    Args:
      own: the study.
      by_category: whether each category has a weight of its own.
    """
    group = own.category if by_category else np.zeros_like(own.category)
    weight = np.zeros(own.people.shape[:2])
    for one in np.unique(group):
        twice = np.tile(np.flatnonzero(group == one), 2)
        half = len(twice) // 2
        copies = Beside._make(part[:, twice] for part in own.beside)
        category = np.unique(own.category[twice], return_inverse=True)[1]
        fold = np.repeat([0, 1], half)  # of each half the weight is fitted on the other, its copy
        found = estimator.fitted_weights(copies, category, fold, own.world[twice])
        weight[:, twice[:half]] = found[:, :half]
    return weight


def independent(own: Study) -> np.ndarray:
    """float64[R, 2], the usual intervals, by which all continuations are independent.

    Source: Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453, section 3 and example 1.
    """
    seen = np.isfinite(own.people)
    people, rule = np.where(seen, own.people, 0.0), own.rule
    axes, n, rest = (1, 2), seen.sum(axis=(1, 2)), (~seen).sum(axis=(1, 2))
    rate, on = people.sum(axis=axes) / n, (rule * seen).sum(axis=axes) / n
    off = (rule * ~seen).sum(axis=axes) / rest
    apart = np.where(seen, rule - on[:, None, None], 0.0)
    both = (apart * (people - rate[:, None, None])).sum(axis=axes) / n
    square = np.maximum((apart**2).sum(axis=axes) / n, 1e-12)
    weight = np.clip(both / square / (1 + n / rest), 0, 1)
    left = np.where(seen, people - weight[:, None, None] * rule, np.nan)
    variance = np.nanvar(left, axis=axes) / n + weight**2 * off * (1 - off) / rest
    value = rate - weight * (on - off)
    half = 1.96 * np.sqrt(variance)
    return np.stack([value - half, value + half], axis=1)


def by_rule(own: Study) -> np.ndarray:
    """float64[R, 2], intervals of the rule's own pass rates."""
    beside = estimator.lay_beside(own.rule, own.rule, np.ones(own.rule.shape, bool))
    none = np.zeros(beside.judged.shape)
    return estimator.powered_rates(beside, own.category, none, own.world).interval


def made(own: Study) -> np.ndarray:
    """float64[R, 2], as a report makes them."""
    weight = estimator.fitted_weights(own.beside, own.category, own.fold, own.world)
    return estimator.powered_rates(own.beside, own.category, weight, own.world).interval


def naive(own: Study, way: str) -> np.ndarray:
    """float64[R, 2], intervals made in one of three ways that do not hold."""
    if way == "in sample":
        weight = in_sample(own)
        return estimator.powered_rates(own.beside, own.category, weight, own.world).interval
    return independent(own) if way == "independent" else by_rule(own)


def simulate(
    replicates: int,
    *,
    way: str,
    worlds: tuple[int, ...],
    judged: float,
    middle: float = 0.0,
    right: tuple[float, float] = (0.9, 0.9),
) -> tuple[float, float]:
    """Coverage in a naive way, and as a report makes it."""
    own = study(replicates, worlds, judged=judged, middle=middle, right=right)
    return inside(naive(own, way), own.truth), inside(made(own), own.truth)


CASES = [
    Case(
        "prediction-powered rate",
        "5 worlds of 4 scenarios, 30% judged; naive: weight fitted on the same scenarios",
        functools.partial(simulate, way="in sample", worlds=(4,) * 5, judged=0.3),
        naive_low=0.935,
    ),
    Case(
        "prediction-powered rate",
        "10 worlds of 1 to 12 scenarios, 30% judged; naive: continuations as independent",
        functools.partial(
            simulate, way="independent", worlds=(1, 1, 1, 2, 2, 3, 4, 6, 8, 12), judged=0.3
        ),
        replicates=300,
    ),
    Case(
        "prediction-powered rate",
        "20 worlds of 4 scenarios, rate .08, 20% judged; naive: the rule alone",
        functools.partial(
            simulate, way="rule", worlds=(4,) * 20, judged=0.2, middle=-3.0, right=(0.8, 0.9)
        ),
        replicates=200,
    ),
]
