"""Many pairs of agents told apart together: p values adjusted step by step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from analysis.statistics import intervals

_AT_ONCE = 4_000_000
"""Numbers held at once, so that the draws of many pairs do not fill memory."""
_LEAST = 1e-12
"""A level at which nothing is told, for draws that are too few."""


class Adjusted(NamedTuple):
    """Many tests, adjusted for their number.

    Attributes:
      p: float64[P].
      single: float64[P], as adjusted without steps, at least as large.
      alpha: level at which single intervals hold together with 95%, in (0, .05].
    """

    p: np.ndarray
    single: np.ndarray
    alpha: float


def step_down(
    p: np.ndarray, loads: np.ndarray, *, draws: int, rng: np.random.Generator
) -> Adjusted:
    """Adjusts two-sided p values of differences for the number of pairs.

    The clearest pair is held against the largest of all chance differences. Once it is separated,
    the next is held against the largest of those that are left, and so on: more pairs are
    separated than if each were held against all, at the same chance of any error.

    Args:
      p: float64[P], in (0, 1], of each pair alone.
      loads: float64[P, F], of each pair on independent factors, rows of length 1.
      draws: of the multiplier bootstrap.
      rng: its generator.

    Source: Romano and Wolf 2005, Econometrica 73:1237, algorithm 4.1; for ranks, Mogstad, Romano,
      Shaikh and Wilhelm 2024, Rev. Econ. Stud. 91:476. A pair's p enters as the normal score with
      that p, so that few degrees of freedom are not taken for many; see Chernozhukov, Chetverikov
      and Kato 2013, Ann. Stat. 41:2786, for the multipliers.
    """
    if not len(p):
        return Adjusted(p, p, 1 - intervals.LEVEL)
    score = stats.norm.isf(np.maximum(p, 1e-300) / 2)
    order = np.argsort(-score, kind="stable")
    sorted_score, sorted_loads = score[order], loads[order].T
    beyond = np.zeros(len(p))
    maxima = []
    size = max(_AT_ONCE // len(p), 1)
    for count in np.diff(np.append(np.arange(0, draws, size), draws)):
        chance = np.abs(rng.standard_normal((count, loads.shape[1])) @ sorted_loads)
        left = np.maximum.accumulate(chance[:, ::-1], axis=1)[:, ::-1]
        maxima.append(left[:, 0].copy())
        beyond += (left >= sorted_score).sum(axis=0)
    highest = np.sort(np.concatenate(maxima))
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate((1 + beyond) / (1 + draws))
    adjusted = np.minimum(np.maximum(adjusted, p), 1.0)
    above = draws - np.searchsorted(highest, score, side="left")
    single = np.minimum(np.maximum((1 + above) / (1 + draws), p), 1.0)
    return Adjusted(np.minimum(adjusted, single), single, _alpha(highest))


def _alpha(highest: np.ndarray) -> float:
    """The p of a pair alone from which on its single-step p is no longer below 5%."""
    few = int(np.ceil((1 - intervals.LEVEL) * (1 + len(highest)) - 1e-9)) - 1
    # A score up to this one has at least so many draws beyond it that it is not separated.
    reach = highest[-few] if few > 0 else np.inf
    return float(np.clip(2 * stats.norm.sf(reach), _LEAST, 1 - intervals.LEVEL))
