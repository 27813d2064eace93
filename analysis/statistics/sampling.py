"""Scenarios as a stratified sample: weights, variance and one shared set of resamples.

A category weighs its share of the suite's scenarios, and a scenario its share of its category.
Each function works on many rows at once (agents, or pairs of agents).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


def scenario_weights(judged: np.ndarray, category: np.ndarray) -> np.ndarray:
    """How much each scenario weighs in each row's rate.

    A scenario without a value gives its weight to the others of its category; a category without
    any gives it to the other categories.

    Args:
      judged: bool[R, S].
      category: int64[S].

    Returns:
      float64[R, S] that sum to 1, or to 0 in a row where nothing is judged.
    """
    member = category[:, None] == np.arange(category.max() + 1)
    present = judged.astype(np.int64) @ member
    share = np.where(present > 0, member.sum(axis=0), 0) / np.maximum(present, 1)
    weights = np.where(judged, share[:, category], 0.0)
    total = np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    normalised: np.ndarray = weights / total
    return normalised


def strata(judged: np.ndarray, category: np.ndarray) -> np.ndarray:
    """The strata within which each row's variance is taken.

    Strata are categories. One with a single judged scenario shows no spread, so such categories
    are collapsed into one stratum, with the smallest other category if there is only one of them;
    this errs towards a larger variance.

    Args:
      judged: bool[R, S].
      category: int64[S].

    Returns:
      int64[R, S].

    Source: Cochran 1977, Sampling Techniques, section 5A.12 (collapsed strata).
    """
    collapsed = int(category.max()) + 1
    member = category[:, None] == np.arange(collapsed)
    present = judged.astype(np.int64) @ member
    single = (present == 1)[:, category]
    codes = np.where(single, collapsed, category[None, :])
    for row in np.flatnonzero((present == 1).sum(axis=1) == 1):
        others = np.flatnonzero(present[row] > 1)
        if others.size:
            smallest = others[np.argmin(present[row, others])]
            codes[row, category == smallest] = collapsed
    return codes


class Spread(NamedTuple):
    """How far each row's weighted mean can be off because its scenarios are a sample.

    Attributes:
      parts: float64[R, S], each scenario's share of the error; their squares sum to the squared
        standard error.
      error: float64[R], standard error; NaN with fewer than two scenarios.
      df: float64[R], Satterthwaite's degrees of freedom; NaN where the error is 0 or NaN.
    """

    parts: np.ndarray
    error: np.ndarray
    df: np.ndarray


def weighted_mean(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted mean of each row of float64[R, S] over its finite values; NaN without any."""
    total = np.where(weights > 0, values, 0.0) * weights
    return np.where(weights.sum(axis=1) > 0, total.sum(axis=1), np.nan)


def sampling_spread(values: np.ndarray, weights: np.ndarray, codes: np.ndarray) -> Spread:
    """Stratified standard error of a weighted mean: SE^2 = sum_c w_c^2 s_c^2 / m_c.

    Args:
      values: float64[R, S].
      weights: float64[R, S], 0 where there is no value.
      codes: int64[R, S], strata.

    Source: Cochran 1977, sections 5.3 and 5.4; Satterthwaite 1946, Biometrics Bull. 2:110.
    """
    used = weights > 0
    parts = np.zeros(values.shape)
    numerator = np.zeros(len(values))
    denominator = np.zeros(len(values))
    for stratum in np.unique(codes):
        inside = used & (codes == stratum)
        size = inside.sum(axis=1)
        share = np.where(inside, weights, 0.0)
        total = np.maximum(share.sum(axis=1), 1e-300)
        centre = (share * np.where(inside, values, 0.0)).sum(axis=1) / total
        centred = np.where(inside, weights * (values - centre[:, None]), 0.0)
        centred *= np.sqrt(size / np.maximum(size - 1, 1))[:, None]
        centred[np.abs(centred) < 1e-14] = 0.0
        parts += centred
        variance = (centred**2).sum(axis=1)
        numerator += variance
        denominator += variance**2 / np.maximum(size - 1, 1)
    enough = used.sum(axis=1) >= 2
    error = np.where(enough, np.sqrt(numerator), np.nan)
    seen = enough & (numerator > 0)
    df = np.where(seen, numerator**2 / np.where(seen, denominator, 1.0), np.nan)
    return Spread(parts, error, df)


def kinds(category: np.ndarray, groups: Sequence[np.ndarray]) -> np.ndarray:
    """int64[G], from 0: groups of scenarios of the same categories are of one kind.

    Args:
      category: int64[S].
      groups: int64 of each of the G groups, indices of its scenarios.
    """
    own = [tuple(sorted(category[columns].tolist())) for columns in groups]
    place = {kind: i for i, kind in enumerate(sorted(set(own)))}
    return np.array([place[kind] for kind in own], dtype=np.int64)


def resample_counts(
    category: np.ndarray, *, draws: int, seed: int, together: Sequence[np.ndarray] = ()
) -> np.ndarray:
    """The one set of scenario resamples that every scenario bootstrap of a report shares.

    Scenarios are drawn with replacement within their category (categories of one scenario are
    collapsed, as in `strata`), and those that belong together are drawn together, among others of
    the same categories.

    Args:
      category: int64[S].
      draws: how many resamples.
      seed: equal seeds give equal resamples.
      together: int64 of each group of scenarios that belong together, their indices.

    Returns:
      float64[draws, S], how often each scenario was drawn.
    """
    rng = np.random.default_rng(seed)
    label = np.arange(len(category))
    for columns in together:
        label[np.isin(label, label[columns])] = label[columns].min()
    _, unit = np.unique(label, return_inverse=True)
    kind = kinds(category, [np.flatnonzero(unit == one) for one in range(unit.max() + 1)])
    codes = strata(np.ones((1, len(kind)), dtype=bool), kind)[0]
    counts = np.ones((draws, len(kind)))
    for stratum in np.unique(codes):
        columns = np.flatnonzero(codes == stratum)
        share = np.full(columns.size, 1 / columns.size)
        counts[:, columns] = rng.multinomial(columns.size, share, size=draws)
    return counts[:, unit]
