"""Many pairs of agents told apart together: p values adjusted step by step."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from sts_analysis.statistics import intervals
from sts_analysis.statistics.paired import Chance

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


def step_down(p: np.ndarray, chance: Chance, *, draws: int) -> Adjusted:
    """Adjusts two-sided p values of differences for the number of pairs.

    The clearest pair is held against the largest of all chance differences. Once it is separated,
    the next is held against the largest of those that are left, and so on: more pairs are
    separated than if each were held against all, at the same chance of any error.

    Args:
      p: float64[P], in (0, 1], of each pair alone.
      chance: what the pairs' differences would be by chance alone, in units of their errors. It is
        asked once of each pair, from the least clear one on.
      draws: of the multiplier bootstrap, of each pair.

    Source: Romano and Wolf 2005, Econometrica 73:1237, algorithm 4.1; for ranks, Mogstad, Romano,
      Shaikh and Wilhelm 2024, Rev. Econ. Stud. 91:476. A pair's p enters as the normal score with
      that p, so that few degrees of freedom are not taken for many; see Chernozhukov, Chetverikov
      and Kato 2013, Ann. Stat. 41:2786, for the multipliers.
    """
    if not len(p):
        return Adjusted(p, p, 1 - intervals.LEVEL)
    score = stats.norm.isf(np.maximum(p, 1e-300) / 2)
    order = np.argsort(-score, kind="stable")
    beyond = np.zeros(len(p), np.int64)
    highest = np.zeros(draws)
    for row, made in zip(order[::-1], chance(order[::-1]), strict=True):
        np.maximum(highest, np.abs(made, out=made), out=highest)
        beyond[row] = np.count_nonzero(highest >= score[row])
    highest.sort()
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate((1 + beyond[order]) / (1 + draws))
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
