"""Outcomes made from arrays, without a table, and the mean of a single row.

Axes: A agents, S scenarios, N continuations of each, K annotators.
"""

from __future__ import annotations

import numpy as np

from sts_analysis.statistics.annotators import Judging
from sts_analysis.statistics.estimate import Estimates, estimate, weigh
from sts_analysis.statistics.tabulation import Continuations, Outcomes, _values


def make_outcomes(
    y: np.ndarray,
    *,
    category: np.ndarray | None = None,
    unit: np.ndarray | None = None,
    auto: np.ndarray | None = None,
    unjudgeable: np.ndarray | None = None,
    judging: Judging | None = None,
    horizon: int = 60,
) -> Outcomes:
    """Make outcomes of agents a0, a1, ... in scenarios s000, s001, ...

    Args:
      y: float64[A, S, N], NaN for a continuation without a verdict.
      category: int64[S]; None for a single category.
      unit: int64[S]; None if each scenario is a unit.
      auto: bool[A, S, N], auto-resolved continuations; their y is not used.
      unjudgeable: bool[A, S, N].
      judging: who judged.
      horizon: of all continuations.
    """
    agents, scenarios, _ = y.shape
    none = np.zeros(y.shape, bool)
    auto = none if auto is None else auto
    category = np.zeros(scenarios, np.int64) if category is None else category
    place = np.indices(y.shape).reshape(3, -1)
    made = Continuations(
        number=np.arange(y.size),
        agent=place[0],
        scenario=place[1],
        y=np.where(auto, 0.0, y).ravel(),
        verdicts=(np.isfinite(y) & ~auto).ravel().astype(np.int64),
        unjudgeable=(none if unjudgeable is None else unjudgeable).ravel(),
        auto_resolved=auto.ravel(),
        horizon=np.full(y.size, float(horizon)),
    )
    return Outcomes(
        source="human",
        agents=tuple(f"a{a}" for a in range(agents)),
        baseline=np.zeros(agents, bool),
        scenarios=tuple(f"s{s:03}" for s in range(scenarios)),
        category=category,
        categories=tuple(f"c{c}" for c in range(int(category.max()) + 1)),
        kind=("",) * scenarios,
        unit=np.arange(scenarios) if unit is None else unit,
        **_values(made, (agents, scenarios)),
        continuations=made,
        judging=judging,
        judged_clips=made.verdicts.reshape(agents, -1).sum(axis=1),
        draw="",
        round=0,
        rounds=0,
    )


def estimate_mean(values: np.ndarray, category: np.ndarray, unit: np.ndarray) -> Estimates:
    """Estimate one mean, of float64[S] with NaN for scenarios without a value; R is 1."""
    return estimate(values[None], weigh(np.isfinite(values), category, unit))
