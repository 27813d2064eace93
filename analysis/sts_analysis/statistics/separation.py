"""Which scenarios tell agents apart, and whether they do so as the others do.

Source: the item-rest correlation is that of Henrysson 1963, "Correction of item-total correlations
in item analysis", Psychometrika 28.
"""

from typing import NamedTuple

import numpy as np

from sts_analysis.statistics.outcomes import Summary

FEWEST = 3
"""Agents of which a correlation says something."""


class Separation(NamedTuple):
    """How far each scenario tells agents apart.

    Attributes:
      spread: float64[S], the highest pass rate minus the lowest; NaN below two agents.
      discrimination: float64[S], correlation across agents of their rate here with their rate over
        all other scenarios; NaN below three agents, and where either is the same for all.
    """

    spread: np.ndarray
    discrimination: np.ndarray


def separation(summary: Summary) -> Separation:
    """Returns how far each scenario tells apart the agents of a summary, [A, S]."""
    judged = summary.number > 0
    number = judged.sum(axis=0)
    top = np.where(judged, summary.mean, -np.inf).max(axis=0, initial=-np.inf)
    low = np.where(judged, summary.mean, np.inf).min(axis=0, initial=np.inf)
    spread = np.where(number > 1, top - low, np.nan)
    here = np.where(judged, summary.mean, 0.0)
    others = judged.sum(axis=1, keepdims=True) - judged
    rest = (here.sum(axis=1, keepdims=True) - here) / np.maximum(others, 1)
    both = judged & (others > 0)
    return Separation(spread, _correlation(here, rest, both))


def _correlation(one: np.ndarray, other: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Returns the correlation of each column of two tables over the rows that are there."""
    number = np.maximum(there.sum(axis=0), 1)
    a, b = (
        np.where(there, table - np.where(there, table, 0.0).sum(axis=0) / number, 0.0)
        for table in (one, other)
    )
    size = np.sqrt((a**2).sum(axis=0) * (b**2).sum(axis=0))
    enough = (there.sum(axis=0) >= FEWEST) & (size > 1e-12)
    return np.where(enough, (a * b).sum(axis=0) / np.where(enough, size, 1.0), np.nan)
