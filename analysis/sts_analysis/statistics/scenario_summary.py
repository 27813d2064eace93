"""Difficulty and discrimination of scenarios: which are hard, and which show good agents.

Source: difficulty: Abramson et al. 2022, section 5.2; discrimination is the item-rest correlation
of Henrysson 1963, Psychometrika 28:211.
"""

from typing import NamedTuple

import numpy as np

MIN_AGENTS = 3
"""Agents from which on a scenario has a discrimination."""


class ScenarioSummary(NamedTuple):
    """Summary of S scenarios over some agents; NaN where too few agents have a value.

    Attributes:
      difficulty: float64[S], mean failure.
      range: float64[S], the highest pass rate minus the lowest; from two agents on.
      discrimination: float64[S], correlation of agents' rates here with their mean over all other
        scenarios; also NaN where either is the same for all.
    """

    difficulty: np.ndarray
    range: np.ndarray
    discrimination: np.ndarray


def summarise_scenarios(values: np.ndarray) -> ScenarioSummary:
    """Summarise scenarios over agents.

    Args:
      values: float64[A, S], `Outcomes.value` of the agents that are ranked.
    """
    known = np.isfinite(values)
    agents = known.sum(axis=0)
    here = np.where(known, values, 0.0)
    others = known.sum(axis=1, keepdims=True) - known
    rest = (here.sum(axis=1, keepdims=True) - here) / np.maximum(others, 1)
    top = np.where(known, values, -np.inf).max(axis=0, initial=-np.inf)
    low = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
    difficulty = 1 - here.sum(axis=0) / np.maximum(agents, 1)
    return ScenarioSummary(
        difficulty=np.where(agents > 0, difficulty, np.nan),
        range=np.where(agents > 1, top - low, np.nan),
        discrimination=_correlate(here, rest, known & (others > 0)),
    )


def _correlate(x: np.ndarray, y: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return float64[S], the correlation of each column of two tables [A, S] over known rows."""
    number = known.sum(axis=0)
    a, b = (
        np.where(known, table - np.where(known, table, 0.0).sum(axis=0) / np.maximum(number, 1), 0)
        for table in (x, y)
    )
    size = np.sqrt((a**2).sum(axis=0) * (b**2).sum(axis=0))
    enough = (number >= MIN_AGENTS) & (size > 1e-12)
    return np.where(enough, (a * b).sum(axis=0) / np.where(enough, size, 1.0), np.nan)
