"""One agents x scenarios table of outcomes, the input of every statistic about agents.

Axes: A agents, S scenarios, N continuations (the most that any agent has on any scenario).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from sts.ratings import ACCESS_LEVELS
from sts_analysis.inputs.subject import SCENARIO
from sts_analysis.statistics import sampling

BASELINE_SIGHTS = ACCESS_LEVELS[1:]


class Outcomes(NamedTuple):
    """What one set of labels says about every agent on every scenario.

    Attributes:
      agents: A names, in alphabetical order.
      baseline: bool[A], agents that see more than an observation; outside the ranking.
      scenarios: S names, by category and then by name.
      category: int64[S], index into `categories`.
      categories: names, in alphabetical order; "" alone where no category is known.
      kind: S of "instruction", "question" or "" (unknown).
      values: float64[A, S, N], y of each judged continuation, NaN elsewhere.
      unit: int64[S], which scenarios were drawn together; see `sampling.units`.
      shared: float64[A, S], what copies of a clip add to the variance of a mean; see `copies`.
      settled: int64[A, S], continuations that a rule has settled; None where there is none.
      waiting: int64[A, S], continuations that nobody has looked at yet; None likewise.
    """

    agents: tuple[str, ...]
    baseline: np.ndarray
    scenarios: tuple[str, ...]
    category: np.ndarray
    categories: tuple[str, ...]
    kind: tuple[str, ...]
    values: np.ndarray
    unit: np.ndarray | None = None
    shared: np.ndarray | None = None
    settled: np.ndarray | None = None
    waiting: np.ndarray | None = None

    def of_scenarios(self, columns: np.ndarray) -> Outcomes:
        """The same for some scenarios, bool[S]; categories left without one are dropped."""
        kept, category = np.unique(self.category[columns], return_inverse=True)
        return self._replace(
            scenarios=tuple(np.array(self.scenarios, dtype=object)[columns]),
            category=category.astype(np.int64),
            categories=tuple(self.categories[c] for c in kept),
            kind=tuple(np.array(self.kind, dtype=object)[columns]),
            values=self.values[:, columns],
            unit=None if self.unit is None else self.unit[columns],
            shared=None if self.shared is None else self.shared[:, columns],
            settled=None if self.settled is None else self.settled[:, columns],
            waiting=None if self.waiting is None else self.waiting[:, columns],
        )


class Summary(NamedTuple):
    """Numbers, means and spread of each agent's continuations on each scenario.

    Attributes:
      number: int64[A, S], judged continuations.
      mean: float64[A, S], NaN where nothing is judged.
      spread: float64[A, S], unbiased variance within the scenario, NaN below two.
      shared: float64[A, S], what copies of a clip add to the variance of a mean, as they share the
        errors of their judges; None where there are none.
    """

    number: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    shared: np.ndarray | None = None

    def at(self, index: np.ndarray | tuple[slice, np.ndarray]) -> Summary:
        """The same for some agents, or for all agents on some scenarios."""
        shared = None if self.shared is None else self.shared[index]
        return Summary(self.number[index], self.mean[index], self.spread[index], shared)


def summarise(values: np.ndarray) -> Summary:
    """Reduces float64[A, S, N] with NaN gaps to counts, means and variances."""
    judged = np.isfinite(values)
    count = judged.sum(axis=-1)
    filled = np.where(judged, values, 0.0)
    mean = np.where(count > 0, filled.sum(axis=-1) / np.maximum(count, 1), np.nan)
    centred = np.where(judged, values - mean[..., None], 0.0)
    squares = (centred**2).sum(axis=-1)
    spread = np.where(count > 1, squares / np.maximum(count - 1, 1), np.nan)
    return Summary(count, mean, spread)


def continuation_values(ratings: pd.DataFrame, source: str) -> pd.DataFrame:
    """The value y of every continuation under one source of labels.

    y is the mean of the annotators' verdicts, success 1, failure and not done 0; "cannot judge"
    is left out. Reference episodes are no continuations of an agent and are left out too. What a
    rule has settled, where people judge the others, is not done: y is 0, and nobody's verdict.

    Args:
      ratings: a checked ratings table.
      source: "human", "automatic" or "model"; sources are never mixed.

    Returns:
      One row per continuation of the whole table, whatever the source of its rows: agent,
      scenario, category, kind, sees, horizon, continuation, y (NaN where no verdict counts),
      annotations (verdicts that count), cannot_judge (the others), unjudgeable (all who looked at
      it could not judge it) and settled (a rule has settled it).
    """
    columns = ["agent", "scenario", "category", "kind", "sees", "horizon", "continuation"]
    rows = ratings.loc[ratings["truth"] == "", [*columns, "source", "verdict"]]
    own = (rows["source"] == source) & (rows["verdict"] != "")
    mine = rows.loc[own, ["continuation", "verdict"]]
    counted = mine[mine["verdict"] != "cannot_judge"]
    success = (counted["verdict"] == "success").astype(np.float64)
    by_continuation = success.groupby(counted["continuation"])
    unable = mine[mine["verdict"] == "cannot_judge"].groupby("continuation").size()
    every = rows[columns].drop_duplicates("continuation").reset_index(drop=True)
    name = every["continuation"]
    y = name.map(by_continuation.mean()).astype(np.float64)
    by_rule = rows["source"] == "settled" if source == "human" else own & False
    settled = name.isin(rows.loc[by_rule, "continuation"])
    y = y.mask(settled, 0.0)
    cannot_judge = name.map(unable).fillna(0).astype(np.int64)
    return every.assign(
        y=y,
        annotations=name.map(by_continuation.size()).fillna(0).astype(np.int64),
        cannot_judge=cannot_judge,
        unjudgeable=y.isna() & (cannot_judge > 0),
        settled=settled,
    )


def arrange(
    continuations: pd.DataFrame,
    value: str = "y",
    *,
    scenarios: pd.DataFrame | None = None,
    together: Sequence[Sequence[str]] = (),
) -> Outcomes:
    """Lays a column of the table of continuations out by agent and scenario.

    Args:
      continuations: as `continuation_values` returns it, at least one row.
      value: the column to lay out; rows where it is NaN leave gaps.
      scenarios: of `Subject`; one that nobody has continued is a gap for every agent.
      together: names of scenarios that belong together, by group.
    """
    table = continuations.sort_values("continuation", kind="stable")
    seen = table[SCENARIO].drop_duplicates("scenario").astype(object)
    scenarios = pd.concat([scenarios, seen]).drop_duplicates("scenario")
    scenarios = scenarios.sort_values(["category", "scenario"], kind="stable")
    agents = table[["agent", "sees"]].drop_duplicates("agent").sort_values("agent")
    categories = tuple(dict.fromkeys(scenarios["category"]))
    row = pd.Index(agents["agent"]).get_indexer(table["agent"])
    column = pd.Index(scenarios["scenario"]).get_indexer(table["scenario"])
    place = table.groupby(["agent", "scenario"], sort=False).cumcount().to_numpy()
    values = np.full((len(agents), len(scenarios), int(place.max()) + 1), np.nan)
    values[row, column, place] = table[value].to_numpy(dtype=np.float64)
    names = pd.Index(scenarios["scenario"])
    groups = [names.get_indexer(pd.Index(list(group))) for group in together]
    settled = table["settled"].to_numpy()
    waits = (table[value].isna() & ~table["unjudgeable"]).to_numpy()
    each = row * len(scenarios) + column
    counts = (
        [
            np.bincount(each[kind], minlength=len(agents) * len(scenarios)).reshape(
                values.shape[:2]
            )
            for kind in (settled, waits)
        ]
        if settled.any()
        else [None, None]
    )
    return Outcomes(
        agents=tuple(agents["agent"]),
        baseline=agents["sees"].isin(BASELINE_SIGHTS).to_numpy(),
        scenarios=tuple(scenarios["scenario"]),
        category=pd.Index(categories).get_indexer(scenarios["category"]).astype(np.int64),
        categories=categories,
        kind=tuple(scenarios["kind"]),
        values=values,
        unit=sampling.units(len(names), groups),
        settled=counts[0],
        waiting=counts[1],
    )
