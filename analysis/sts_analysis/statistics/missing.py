"""Planned continuations that an agent lacks, and its values at the worst that they could be.

Axes: A agents, S scenarios.
"""

from typing import NamedTuple

import numpy as np

from sts_analysis.statistics.estimate import divide
from sts_analysis.statistics.tabulation import Outcomes


class WorstCase(NamedTuple):
    """Values of an agent whose missing continuations have one outcome."""

    value: np.ndarray  # float64[S], NaN where nothing is known
    existing_share: np.ndarray  # float64[S], share of each value that existing continuations have
    # float64[S], by what annotators' shares of the value become those of this one
    share: np.ndarray
    missing: np.ndarray  # int64[S], continuations with the outcome
    outcome: int  # 0 or 1


def count_missing(
    outcomes: Outcomes, planned: int | None = None, unjudged: np.ndarray | int = 0
) -> np.ndarray:
    """Count the planned continuations that agents lack, int64[A, S].

    Args:
      outcomes: with all continuations. Scenarios without any were not planned.
      planned: continuations of each agent in each scenario; None for as many as the agent itself
        has at most in one scenario.
      unjudged: int64[A, S], continuations that exist in addition to those.
    """
    made = outcomes.continuations
    existing = made.tally(made.agent >= 0, outcomes.value.shape) + unjudged
    each = existing.max(axis=1, keepdims=True) if planned is None else planned
    return np.where(existing.any(axis=0), np.maximum(each - existing, 0), 0)


def fill_missing(
    outcomes: Outcomes, missing: np.ndarray, agent: int, outcome: int, *, with_unjudgeable: bool
) -> WorstCase:
    """Return the values of an agent if all missing continuations had one outcome.

    Judged continuations stand for those that wait to be judged. A scenario of which some
    continuations wait and none is judged has no value.

    Args:
      outcomes: of all agents.
      missing: int64[A, S].
      agent: index.
      outcome: 0 for failures, 1 for successes.
      with_unjudgeable: whether unjudgeable continuations have that outcome, too.
    """
    made, lost = outcomes.continuations, missing[agent]
    existing = np.bincount(made.scenario[made.agent == agent], minlength=len(lost))
    share = outcomes.bound_share[agent] if with_unjudgeable else np.ones(len(lost))
    known = existing if with_unjudgeable else existing - outcomes.unjudgeable[agent]
    value = outcomes.value[agent]
    if with_unjudgeable:
        value = (outcomes.low, outcomes.high)[outcome][agent]
    kept = divide(known, known + lost)
    filled = np.where(known > 0, value * kept + outcome * (1 - kept), float(outcome))
    filled[known + lost == 0] = np.nan
    return WorstCase(filled, kept, share * kept, lost, outcome)
