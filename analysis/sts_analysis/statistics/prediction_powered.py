"""Pass rates in which a rule's verdicts on what nobody judged correct for which part was judged.

A rule, or a model, has a verdict on every continuation, and people on some. In each scenario the
rate by people is moved by how far the rule's rate on the judged ones is from its rate on all, times
a weight in [0, 1]; whatever the rule is worth, the rate stays one of people's judgements.

Source: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, Science 382:669; the weight:
Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453; cross-fitting: Zrnic and Candes 2024, Proc.
Natl. Acad. Sci. 121(15), arXiv 2309.16598; over scenarios, Cochran 1977, sections 7.3 and 12.6.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sts_analysis.statistics import intervals, sampling
from sts_analysis.statistics.outcomes import summarise

FOLDS = 10
FEWEST_WORLDS = 4.0
"""Worlds of equal size that those judged must be worth."""
PICKED = 3.29
"""Standard errors, p = .001: what was judged is then no random part of its scenario."""


class Beside(NamedTuple):
    """What people and a rule say of the same continuations.

    Attributes:
      judged: int64[A, S], continuations that people judged.
      people: float64[A, S], their mean verdict; NaN where none is judged.
      rule: float64[A, S], the rule's mean verdict on the judged ones; NaN likewise.
      total: int64[A, S], continuations in all, without those that nobody could judge.
      rule_total: float64[A, S], the rule's mean verdict on these; NaN where there is none.
    """

    judged: np.ndarray
    people: np.ndarray
    rule: np.ndarray
    total: np.ndarray
    rule_total: np.ndarray


class Powered(NamedTuple):
    """Prediction-powered rates of A agents, scenarios sampled; NaN where nothing is known.

    Attributes:
      rate: float64[A], not clipped.
      error: float64[A], standard error.
      df: float64[A], degrees of freedom of the error; NaN where no spread is seen.
      interval: float64[A, 2].
      ordinary: bool[A], the interval is Student's, and Wilson's elsewhere.
      weight: float64[A], of the rule's verdicts, the mean over scenarios.
      units: int64[A], how many worlds are judged.
      worth: float64[A], worlds of equal size that these are worth.
      parts: float64[A, S], each world's share of the error, where its first scenario stands.
    """

    rate: np.ndarray
    error: np.ndarray
    df: np.ndarray
    interval: np.ndarray
    ordinary: np.ndarray
    weight: np.ndarray
    units: np.ndarray
    worth: np.ndarray
    parts: np.ndarray


def lay_beside(people: np.ndarray, rule: np.ndarray, judgeable: np.ndarray) -> Beside:
    """Reduces both to means of scenarios.

    Args:
      people: float64[A, S, N], NaN where nobody has judged.
      rule: float64[A, S, N].
      judgeable: bool[A, S, N], a continuation that people have judged or may still judge.
    """
    judged = np.isfinite(people)
    own, every = (summarise(np.where(kept, rule, np.nan)) for kept in (judged, judgeable))
    summary = summarise(people)
    return Beside(summary.number, summary.mean, own.mean, judgeable.sum(axis=-1), every.mean)


def folds(worlds: Sequence[str]) -> np.ndarray:
    """int64[S], the fold of each scenario's world, from 0; scenarios of one world share theirs.

    There are `FOLDS`, or one for each world where these are fewer, of sizes that differ by at most
    one. A world's fold depends on the hashes of all worlds' names, and not on any order.
    """
    digest = {one: hashlib.blake2b(one.encode(), digest_size=16).digest() for one in set(worlds)}
    place = {one: i for i, one in enumerate(sorted(digest, key=digest.__getitem__))}
    return np.array([place[one] % FOLDS for one in worlds], dtype=np.int64)


def picked(beside: Beside, category: np.ndarray) -> np.ndarray:
    """bool[A], whether the rule says otherwise of what was judged than chance would.

    Of continuations picked at random within a scenario the difference is 0 in the mean. Its sum is
    held against its own size, so that ten scenarios or fewer never tell.

    Source: Efron 1969, J. Am. Stat. Assoc. 64:1278, for sums over their own root of squares.
    """
    partly = (beside.judged > 0) & (beside.judged < beside.total)
    weights = sampling.scenario_weights(partly, category)
    apart = weights * np.where(partly, np.nan_to_num(beside.rule - beside.rule_total), 0.0)
    size = np.sqrt((apart**2).sum(axis=1))
    far: np.ndarray = np.abs(apart.sum(axis=1)) > np.where(size > 0, PICKED * size, np.inf)
    return far


def fitted_weights(
    beside: Beside, category: np.ndarray, fold: np.ndarray, unit: np.ndarray | None = None
) -> np.ndarray:
    """float64[A, S], the weight of the rule in each scenario, in [0, 1].

    It is fitted on the other folds, as the one with which the rate errs least there. So what people
    say of a world never sets the weight of its own correction.

    Args:
      beside: [A, S].
      category: int64[S], from 0 without gaps.
      fold: int64[S], of `folds`.
      unit: of `sampling.units`; a unit is of one fold.
    """
    own, every = _shares(beside, category)
    weight = np.zeros(own.shape)
    for one in np.unique(fold):
        others, inside = fold != one, fold == one
        if others.any():
            kept = Beside._make(part[:, others] for part in beside)
            left = None if unit is None else unit[others]
            shares = own[:, others], every[:, others]
            weight[:, inside] = _best_weight(kept, *shares, category[others], left)[:, None]
    return np.clip(weight, 0.0, 1.0)


def powered_rates(
    beside: Beside, category: np.ndarray, weight: np.ndarray, unit: np.ndarray | None = None
) -> Powered:
    """Rates by people, with what a rule says of all.

    A scenario that nobody has judged counts by the rule, beside the others of its category, which
    are taken for a random part of it, as they are in a pass rate.

    Args:
      beside: [A, S].
      category: int64[S], from 0 without gaps.
      weight: float64[A, S], of `fitted_weights`; with 0 these are the rates by people alone.
      unit: of `sampling.units`: worlds, of which those of one pair are one.
    """
    judged = beside.judged > 0
    own, every = _shares(beside, category)
    centre = _category_means(beside.rule_total, every, category)  # where weights of folds differ
    moved = beside.people - weight * (beside.rule - centre)
    added = weight * (beside.rule_total - centre)
    rate = sampling.weighted_mean(moved, own) + np.nan_to_num(sampling.weighted_mean(added, every))
    codes = sampling.strata(judged, category, unit)
    parts = _parts(moved, own, codes, unit) + _parts(added, every, codes, unit)
    parts, error, df = _error(parts, codes, own, unit)
    units, worth = sampling.distinct(judged, unit), _worth(sampling.by_unit(own, unit))
    rate = np.round(rate, 12)
    interval, ordinary = intervals.of_mean(np.clip(rate, 0.0, 1.0), error, df, units)
    mean = (own * weight).sum(axis=1)
    return Powered(rate, error, df, interval, ordinary, mean, units, worth, parts)


class Differences(NamedTuple):
    """Differences of two prediction-powered rates; NaN where nothing is known.

    Attributes:
      difference: float64[P], rate of the first minus rate of the second.
      interval: float64[P, 2], of each pair alone.
      df: float64[P], the smaller of the two agents'.
    """

    difference: np.ndarray
    interval: np.ndarray
    df: np.ndarray


def powered_differences(rates: Powered, pairs: np.ndarray) -> Differences:
    """How far agents are apart, worlds paired: what is hard for both in a world cancels.

    Args:
      rates: of `powered_rates`.
      pairs: int64[P, 2], rows of it.
    """
    a, b = pairs.T
    together = rates.parts @ rates.parts.T
    own = together.diagonal()
    error = np.sqrt(np.maximum(own[a] + own[b] - 2 * together[a, b], 0.0))
    df = np.minimum(rates.df[a], rates.df[b])
    difference = np.round(rates.rate[a] - rates.rate[b], 12)
    seen = (error > 1e-9) & np.isfinite(df)
    ends = intervals.student(difference, error, np.where(seen, df, 1.0))
    return Differences(difference, np.where(seen[:, None], np.clip(ends, -1.0, 1.0), np.nan), df)


def _shares(beside: Beside, category: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What judged scenarios weigh, and what all do: a category weighs the same in both."""
    own = sampling.scenario_weights(beside.judged > 0, category)
    member = (category[:, None] == np.arange(category.max() + 1)).astype(np.float64)
    there = beside.total > 0
    share = (own @ member) / np.maximum(there @ member, 1)
    return own, np.where(there, share[:, category], 0.0)


def _category_means(values: np.ndarray, weights: np.ndarray, category: np.ndarray) -> np.ndarray:
    """float64[A, S], the weighted mean of each scenario's category."""
    member = (category[:, None] == np.arange(category.max() + 1)).astype(np.float64)
    total = (weights * np.where(weights > 0, values, 0.0)) @ member
    mean: np.ndarray = (total / np.maximum(weights @ member, 1e-300))[:, category]
    return mean


def _best_weight(
    beside: Beside,
    own: np.ndarray,
    every: np.ndarray,
    category: np.ndarray,
    unit: np.ndarray | None,
) -> np.ndarray:
    """float64[A], covariance over variance: the weight with the least error in these scenarios."""
    codes = sampling.strata(own > 0, category, unit)
    people = _parts(beside.people, own, codes, unit)
    rule = _parts(beside.rule, own, codes, unit) - _parts(beside.rule_total, every, codes, unit)
    square, both = (rule**2).sum(axis=1), (people * rule).sum(axis=1)
    found: np.ndarray = np.where(square > 0, both / np.where(square > 0, square, 1.0), 0.0)
    return found


def _parts(
    values: np.ndarray, weights: np.ndarray, codes: np.ndarray, unit: np.ndarray | None
) -> np.ndarray:
    return sampling.sampling_spread(values, weights, codes, unit).parts


def _error(
    parts: np.ndarray, codes: np.ndarray, own: np.ndarray, unit: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The parts, their standard error, and its degrees of freedom by the units of each stratum.

    Worlds of unequal size make the error larger and leave it fewer degrees of freedom; where each
    scenario is its own, both are those of a pass rate.
    """
    judged = own > 0
    units, fewer = sampling.distinct(judged, unit), np.ones(len(parts))
    if unit is not None:
        larger, fewer = unequal(sampling.by_unit(own, unit))
        parts = parts * np.sqrt(larger)[:, None]
    square, below = np.zeros(len(parts)), np.zeros(len(parts))
    for stratum in np.unique(codes):
        inside = codes == stratum
        squares = (np.where(inside, parts, 0.0) ** 2).sum(axis=1)
        square += squares
        below += squares**2 / np.maximum(sampling.distinct(inside & judged, unit) - 1, 1)
    seen = (units >= 2) & (square > 0)
    df = np.where(seen, fewer * square**2 / np.where(seen, below, 1.0), np.nan)
    return parts, np.where(units >= 2, np.sqrt(square), np.nan), df


def unequal(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What worlds of unequal weight do: factors of the squared error, and of its df; 1 if equal.

    The squared error is a sum of squares of w_u (x_u - mean), a quadratic form in what the U worlds
    give; its mean and variance are those of x_u of equal variance, whatever the world's size.

    Args:
      weights: float64[A, U], 0 or more, that sum to 1.

    Source: Bell and McCaffrey 2002, Survey Methodology 28:169.
    """
    n = np.maximum((weights > 0).sum(axis=1), 2)
    square = (weights**2).sum(axis=1)
    load = weights**2 * (n / (n - 1))[:, None]
    own = 1 - 2 * weights + square[:, None]
    s0, s1, s2 = ((load * weights**power).sum(axis=1) for power in range(3))
    mean = (load * own).sum(axis=1)
    across = (square * s0) ** 2 - 4 * square * s0 * s1 + 2 * s0 * s2 + 2 * s1**2
    variance = across + (load**2 * (own**2 - (own - 1) ** 2)).sum(axis=1)
    some = (variance > 0) & (mean > 0)
    safe = np.where(some, variance, 1.0)
    larger = np.where(some, square / np.where(some, mean, 1.0), 1.0)
    return np.round(larger, 12), np.round(np.where(some, mean**2 / safe / (n - 1), 1.0), 12)


def _worth(weights: np.ndarray) -> np.ndarray:
    """float64[A], the number of units of equal weight that those of each row are worth.

    Source: Kish 1965, Survey Sampling, section 11.7.
    """
    square = (weights**2).sum(axis=1)
    worth: np.ndarray = weights.sum(axis=1) ** 2 / np.where(square > 0, square, 1.0)
    return np.round(worth, 9)
