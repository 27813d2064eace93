"""Scores corrected for guessing: 0 for an agent that only guesses, 1 for a perfect one.

Source: Abramson et al. 2022, section 7; the correction: Abbott 1925, J. Econ. Entomol. 18:265; its
error by the delta method: Oehlert 1992, Am. Stat. 46:27.
"""

from typing import NamedTuple

import numpy as np

from sts_analysis.statistics import estimate as est
from sts_analysis.statistics.means import group_rows
from sts_analysis.statistics.tabulation import Outcomes

MAX_GUESSED = 0.8
"""Pass rate of the baseline above which a category is left out: little is left to be known."""


class GuessCorrected(NamedTuple):
    """Scores of A agents; NaN where unknown."""

    # float64[A], mean over scenarios of (p - g) / (1 - g), p and g the rates of the agent and of
    # the baseline in the scenario's category; below 0 for an agent worse than it
    score: np.ndarray
    se: np.ndarray  # float64[A]
    interval: np.ndarray  # float64[A, 2], up to 1; NaN where no spread is seen
    scenarios: np.ndarray  # int64[A], in which both have a value, of categories that count
    counted: np.ndarray  # bool[A, categories], categories that count


def correct_for_guessing(outcomes: Outcomes, baseline: int) -> GuessCorrected:
    """Correct the rates of all agents for guessing.

    The error is that of the score's linear form in both rates of each scenario, so difficulty that
    the agent shares with the baseline is counted as such.

    Args:
      outcomes: of one label source.
      baseline: index of the agent that guesses.
    """
    agents, category = len(outcomes.agents), outcomes.category
    member = (category[:, None] == np.arange(len(outcomes.categories))).astype(np.float64)
    score, se = np.full((2, agents), np.nan)
    interval, scenarios = np.full((agents, 2), np.nan), np.zeros(agents, np.int64)
    counted = np.zeros((agents, member.shape[1]), bool)
    known = np.isfinite(outcomes.value)
    for rows, both in group_rows(known & known[baseline]):
        x, g = (np.where(both, outcomes.value[chosen], 0.0) for chosen in (rows, baseline))
        size = np.maximum(both @ member, 1.0)
        guessed, passed = g @ member / size, x @ member / size
        is_counted = (both @ member > 0) & (guessed <= MAX_GUESSED)
        mask = both & is_counted[category]
        if not mask.any():
            continue
        weighting = est.weigh(mask, category, outcomes.unit)
        room = np.where(is_counted, 1 - guessed, 1.0)[category]
        # The score's derivatives: 1 / (1 - g) by p, and -(1 - p) / (1 - g)^2 by g.
        found = est.estimate(x / room - (1 - passed[:, category]) * g / room**2, weighting)
        score[rows], se[rows] = ((x - g) / room) @ weighting.weight, found.se
        half = np.where(found.se > 0, est.quantile(found.df) * found.se, np.nan)
        interval[rows] = score[rows, None] + np.stack([-half, half], axis=1)
        scenarios[rows], counted[rows] = mask.sum(), is_counted
    interval[:, 1] = np.minimum(interval[:, 1], 1.0)
    return GuessCorrected(score, se, interval, scenarios, counted)
