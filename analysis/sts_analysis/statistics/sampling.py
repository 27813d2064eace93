"""Scenarios as a stratified sample: weights, units and variance.

A category weighs its share of the suite's scenarios, and a scenario its share of its category.
Scenarios that belong together, such as the halves of a pair, weigh as all others do, and were drawn
together: they are one unit of the sample. Each function works on many rows at once (agents, or
pairs of agents).
"""

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
    member = _members(category)
    present = judged.astype(np.float64) @ member
    share = np.where(present > 0, member.sum(axis=0), 0) / np.maximum(present, 1)
    weights = np.where(judged, share[:, category], 0.0)
    total = np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    normalised: np.ndarray = weights / total
    return normalised


def units(count: int, groups: Sequence[np.ndarray]) -> np.ndarray | None:
    """int64[S], a number for each scenario; None where no two belong together.

    Scenarios of one number are one unit; those of a part of the scenarios keep their numbers.

    Args:
      count: S.
      groups: int64 of each group of scenarios that belong together, their indices; one that stands
        in two groups joins them.
    """
    if not groups:
        return None
    label = np.arange(count)
    for columns in groups:
        label[np.isin(label, label[columns])] = label[columns].min()
    numbers: np.ndarray = np.unique(label, return_inverse=True)[1]
    return numbers


def distinct(used: np.ndarray, unit: np.ndarray | None) -> np.ndarray:
    """int64[R], how many units each row uses; `used` is bool[R, S]."""
    if unit is not None and unit.size:
        order = np.argsort(unit, kind="stable")
        starts = np.flatnonzero(np.diff(unit[order], prepend=unit.min() - 1))
        used = np.logical_or.reduceat(used[:, order], starts, axis=1)
    count: np.ndarray = used.sum(axis=1)
    return count


def by_unit(parts: np.ndarray, unit: np.ndarray | None) -> np.ndarray:
    """float64[R, S], the sum of each unit's parts where its first scenario stands, else 0."""
    if unit is None:
        return parts
    _, first, number = np.unique(unit, return_index=True, return_inverse=True)
    merged = np.zeros(parts.shape)
    np.add.at(merged.T, first[number], parts.T)
    return merged


def strata(judged: np.ndarray, category: np.ndarray, unit: np.ndarray | None = None) -> np.ndarray:
    """The strata within which each row's variance is taken.

    Strata are categories. One with a single judged unit shows no spread, so such categories
    are collapsed into one stratum, with the smallest other category if there is only one of them;
    this errs towards a larger variance.

    Args:
      judged: bool[R, S].
      category: int64[S].
      unit: of `units`.

    Returns:
      int64[R, S].

    Source: Cochran 1977, Sampling Techniques, section 5A.12 (collapsed strata).
    """
    collapsed = int(category.max()) + 1
    present = _sizes(judged, _members(category), unit)
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


def sampling_spread(
    values: np.ndarray, weights: np.ndarray, codes: np.ndarray, unit: np.ndarray | None = None
) -> Spread:
    """Stratified standard error of a weighted mean: SE^2 = sum_c w_c^2 s_c^2 / m_c.

    What one unit adds to the error is one part, which stands where its first scenario does.

    Args:
      values: float64[R, S].
      weights: float64[R, S], 0 where there is no value.
      codes: int64[R, S], strata.
      unit: of `units`.

    Source: Cochran 1977, sections 5.3 and 5.4, and chapter 9 for clusters; Satterthwaite 1946,
      Biometrics Bull. 2:110.
    """
    used = weights > 0
    kept = np.where(used, values, 0.0)
    parts = np.zeros(kept.shape)
    for rows, code in _alike(codes):
        own = slice(None) if len(weights) == 1 else rows
        parts[rows] = _parts(kept[rows], weights[own], used[own], code, unit)
    return spread_of_parts(parts, used, codes, unit)


def spread_of_parts(
    parts: np.ndarray, used: np.ndarray, codes: np.ndarray, unit: np.ndarray | None = None
) -> Spread:
    """The spread that has these parts.

    Args:
      parts: float64[R, S], of `Spread`.
      used: bool[R, S] or one row for all, where there is a value.
      codes: int64[R, S] or one row for all, strata.
      unit: of `units`.
    """
    numerator, denominator = np.zeros((2, len(parts)))
    for rows, code in _alike(codes):
        member = _members(np.unique(code, return_inverse=True)[1])
        squares = parts[rows] ** 2 @ member
        size = _sizes(used if len(used) == 1 else used[rows], member, unit)
        numerator[rows] = squares.sum(axis=1)
        denominator[rows] = (squares**2 / np.maximum(size - 1, 1)).sum(axis=1)
    enough = distinct(used, unit) >= 2
    error = np.where(enough, np.sqrt(numerator), np.nan)
    seen = enough & (numerator > 0)
    df = np.where(seen, numerator**2 / np.where(seen, denominator, 1.0), np.nan)
    return Spread(parts, error, df)


def _parts(
    values: np.ndarray,
    weights: np.ndarray,
    used: np.ndarray,
    code: np.ndarray,
    unit: np.ndarray | None,
) -> np.ndarray:
    """Parts of the errors of rows with the same strata; those without a value are 0."""
    member = _members(np.unique(code, return_inverse=True)[1])
    size = _sizes(used, member, unit)
    centre = (values * weights) @ member / np.maximum(weights @ member, 1e-300)
    scale = np.sqrt(size / np.maximum(size - 1, 1))
    parts: np.ndarray = weights * (values - centre @ member.T) * (scale @ member.T)
    parts[np.abs(parts) < 1e-14] = 0.0
    # A unit's scenarios may be of several strata, and count in the first one's.
    return parts if unit is None else by_unit(parts, unit)


def _sizes(used: np.ndarray, member: np.ndarray, unit: np.ndarray | None) -> np.ndarray:
    """float64[R, C], how many units each row uses of each stratum."""
    if unit is None:
        size: np.ndarray = used.astype(np.float64) @ member
        return size
    columns = [np.flatnonzero(own) for own in member.T]
    return np.stack([distinct(used[:, own], unit[own]) for own in columns], axis=1)


def _alike(codes: np.ndarray) -> list[tuple[slice | np.ndarray, np.ndarray]]:
    """The rows with the same strata, and these: one kind, but where categories are collapsed."""
    if (codes == codes[:1]).all():
        return [(slice(None), code) for code in codes[:1]]
    patterns, of_row = np.unique(codes, axis=0, return_inverse=True)
    return [(np.flatnonzero(of_row.ravel() == at), code) for at, code in enumerate(patterns)]


def _members(place: np.ndarray) -> np.ndarray:
    """float64[S, C], 1 where a scenario is of a category, int64[S]; products with it are sums."""
    member: np.ndarray = place[:, None] == np.arange(place.max() + 1)
    return member.astype(np.float64)


def kinds(category: np.ndarray, groups: Sequence[np.ndarray]) -> np.ndarray:
    """int64[G], from 0: groups of scenarios of the same categories are of one kind.

    Args:
      category: int64[S].
      groups: int64 of each of the G groups, indices of its scenarios.
    """
    own = [tuple(sorted(category[columns].tolist())) for columns in groups]
    place = {kind: i for i, kind in enumerate(sorted(set(own)))}
    return np.array([place[kind] for kind in own], dtype=np.int64)
