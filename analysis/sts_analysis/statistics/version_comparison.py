"""The change of pass rates between two versions of a suite.

Scenarios of both versions have the same value in both and cancel, as far as they weigh the same.
What is left is an exchange: some scenarios gain weight, others lose it.
"""

from typing import NamedTuple

import numpy as np

from sts_analysis.statistics import estimate as est
from sts_analysis.statistics.means import Means, estimate_means, group_rows
from sts_analysis.statistics.tabulation import Outcomes

_SAME = 1e-12
"""What is smaller is no difference of weights."""


class VersionComparison(NamedTuple):
    """Rates of A agents over two versions of a suite and over their parts, and the change."""

    rates: dict[str, Means]  # over "old", "kept", "added", "retired" and "new" scenarios
    difference: np.ndarray  # float64[A], new minus old; NaN where one has nothing judged
    se: np.ndarray  # float64[A]
    df: np.ndarray  # float64[A], Satterthwaite's
    interval: np.ndarray  # float64[A, 2]; NaN where nothing judged was exchanged


def compare_versions(outcomes: Outcomes, old: np.ndarray, new: np.ndarray) -> VersionComparison:
    """Compare the rate of each agent over one version with that over another.

    The difference is the rate over scenarios that gained weight minus the rate over those that lost
    it, times the weight exchanged. Kept, added and retired scenarios of a category were not chosen
    alike, so residuals are taken from means of their own. A unit with scenarios on both sides
    counts once. If a side shows no spread, the interval is the wider of Student's and Newcombe's.

    Args:
      outcomes: of the scenarios of both versions, each once.
      old: bool[S], scenarios of one version.
      new: bool[S], scenarios of the other.

    Source: Satterthwaite 1946, Biometrics Bull. 2:110; Newcombe 1998, Stat. Med. 17:873.
    """
    agents, category, unit = len(outcomes.agents), outcomes.category, outcomes.unit
    masks = {"old": old, "kept": old & new, "added": new & ~old, "retired": old & ~new, "new": new}
    rates = {name: _estimate_subset(outcomes, inside) for name, inside in masks.items()}
    stratum = 3 * category + np.where(old & new, 0, np.where(new, 1, 2))
    difference, se, df = np.full((3, agents), np.nan)
    interval = np.full((agents, 2), np.nan)
    for rows, mask in group_rows(np.isfinite(outcomes.value)):
        if not (mask & old).any() or not (mask & new).any():
            continue
        weights = [
            est.weigh(mask & version, np.where(version, category, -1), unit).weight
            for version in (new, old)
        ]
        gain = weights[0] - weights[1]
        gain[np.abs(gain) < _SAME] = 0.0
        total = gain[gain > 0].sum()
        if not total:
            difference[rows] = 0.0
            continue
        sides = [
            est.weigh(change > 0, stratum, unit, np.maximum(change, 0.0))
            for change in (gain, -gain)
        ]
        gained, lost = (est.estimate(outcomes.value[rows], side) for side in sides)
        squares = gained.se**2, lost.se**2
        below = squares[0] ** 2 / gained.df + squares[1] ** 2 / lost.df
        apart = gained._replace(unit_errors=gained.unit_errors - lost.unit_errors)
        seen = (gained.se > 0) & (lost.se > 0)
        found = est.compare(
            apart.se,
            np.where(below > 0, sum(squares) ** 2 / np.where(below > 0, below, 1.0), 1.0),
            # Below the minimum `compare` takes the wider of both intervals.
            np.where(seen, est.MIN_DIFFERING_UNITS, 0),
            (gained.value, lost.value),
            (gained.interval, lost.interval),
        )
        difference[rows], se[rows] = total * found.value, total * found.se
        df[rows], interval[rows] = found.df, total * found.interval
    return VersionComparison(rates, difference, se, df, interval)


def _estimate_subset(outcomes: Outcomes, inside: np.ndarray) -> Means:
    category = np.where(inside, outcomes.category, -1)
    return estimate_means(np.where(inside, outcomes.value, np.nan), category, outcomes.unit)
