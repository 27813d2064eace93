"""Copies of a clip share what is said of it, and so its judges' errors.

Where an agent's continuations of a scenario look the same, n of them are no n independent
judgements. Scenarios as a sample cover this, as copies lie within a scenario; for these scenarios
alone what copies share is a part of the error of its own.

Axes: A agents, S scenarios.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from sts_analysis.statistics.outcomes import Outcomes

MOST = 0.25
"""No verdict on one clip, which is yes or no, varies by more."""


class Copies(NamedTuple):
    """What the errors of judges that copies share add to variances and covariances of means.

    Attributes:
      agents: how many, A.
      agent: int64[H], of each agent and clip.
      scenario: int64[H], of the same.
      clip: int64[H], of the same; a number for each clip and scenario.
      share: float64[H], of the agent's continuations of the scenario, those that are this clip.
      error: float64[H], variance of the clip's value because judges err.
      number: float64[A, S], judged continuations.
    """

    agents: int
    agent: np.ndarray
    scenario: np.ndarray
    clip: np.ndarray
    share: np.ndarray
    error: np.ndarray
    number: np.ndarray

    def within(self) -> np.ndarray:
        """float64[A, S], what copies add to the variance of each mean.

        The spread of continuations holds the errors of judges as if each had been judged alone;
        this is the rest: error x (n sum(share^2) - 1) / (n - 1).
        """
        added = np.zeros(self.number.shape)
        mean = np.zeros(self.number.shape)
        place = self.agent, self.scenario
        np.add.at(added, place, self.share**2 * self.error)
        np.add.at(mean, place, self.share * self.error)
        more = np.maximum(self.number - 1, 1)
        extra = np.where(self.number > 1, (self.number * added - mean) / more, 0.0)
        positive: np.ndarray = np.maximum(extra, 0.0)
        return positive

    def between(self, pairs: np.ndarray, weights: Callable[[int], np.ndarray]) -> np.ndarray:
        """float64[P], covariance of two agents' rates, int64[P, 2]: of clips that both made.

        Args:
          pairs: whose.
          weights: of a scenario, float64[P], how much it weighs in both rates of each pair.
        """
        shared = np.zeros(len(pairs))
        several = np.bincount(self.clip)[self.clip] > 1
        for s in np.unique(self.scenario[several]).tolist():
            own = several & (self.scenario == s)
            column = np.unique(self.clip[own], return_inverse=True)[1]
            loads = np.zeros((self.agents, column.max() + 1))
            loads[self.agent[own], column] = self.share[own] * np.sqrt(self.error[own])
            shared += weights(s) ** 2 * (loads @ loads.T)[pairs[:, 0], pairs[:, 1]]
        return shared

    def among(self, number: np.ndarray) -> Copies:
        """The same where a continuation is one of another number, float64[A, S]."""
        ratio = (np.maximum(self.number, 1) / number)[self.agent, self.scenario]
        return self._replace(share=self.share * ratio)

    def at(self, rows: np.ndarray) -> Copies:
        """The same for some agents, in another order."""
        place = np.full(self.agents, -1)
        place[rows] = np.arange(len(rows))
        kept = place[self.agent] >= 0
        return Copies(
            len(rows),
            place[self.agent[kept]],
            self.scenario[kept],
            self.clip[kept],
            self.share[kept],
            self.error[kept],
            self.number[rows],
        )


def find_copies(
    ratings: pd.DataFrame, continuations: pd.DataFrame, outcomes: Outcomes
) -> Copies | None:
    """Returns what copies share, of people's judgements; None where no clip has two continuations.

    Args:
      ratings: a checked ratings table, as `valued` returns it.
      continuations: of `continuation_values`, of the human labels in it.
      outcomes: the same, laid out.
    """
    human = ratings[(ratings["truth"] == "") & (ratings["source"] == "human")]
    human = human[~human["verdict"].isin(("", "cannot_judge"))]
    if not (human["clip"] != "").any():
        return None
    clip_of = human.drop_duplicates("continuation").set_index("continuation")["clip"]
    rows = continuations[continuations["y"].notna()]
    rows = rows.assign(clip=rows["continuation"].map(clip_of.astype(object)).fillna(""))
    rows = rows[rows["clip"] != ""]
    if not rows["clip"].duplicated().any():
        return None
    agent = pd.Index(outcomes.agents).get_indexer(pd.Index(rows["agent"]))
    scenario = pd.Index(outcomes.scenarios).get_indexer(pd.Index(rows["scenario"]))
    number = np.isfinite(outcomes.values).sum(axis=2).astype(np.float64)
    table = rows[["clip", "y", "annotations"]].assign(agent=agent, scenario=scenario)
    each = table.groupby(["agent", "scenario", "clip"], sort=False).agg(
        size=("y", "size"), y=("y", "first"), verdicts=("annotations", "first")
    )
    each = each.reset_index()
    error = _verdict_variance(each) / np.maximum(each["verdicts"].to_numpy(), 1)
    a, s = each["agent"].to_numpy(), each["scenario"].to_numpy()
    code = each.groupby(["scenario", "clip"], sort=False).ngroup().to_numpy()
    share = each["size"].to_numpy() / number[a, s]
    return Copies(len(outcomes.agents), a, s, code, share, error, number)


def _verdict_variance(each: pd.DataFrame) -> float:
    """How much one verdict on a clip varies, seen where two or more people judged one.

    Where nobody did, no verdict can vary by more than clips do of one agent in one scenario, or, if
    each of these is one clip, than all clips; this errs to the wide side.
    """
    clips = each.drop_duplicates("clip")
    y, m = clips["y"].to_numpy(), clips["verdicts"].to_numpy().astype(np.float64)
    several = m > 1
    if several.any():
        return float(np.mean((y * (1 - y) * m / np.where(several, m - 1, 1))[several]))
    groups = each.groupby(["agent", "scenario"])["y"]
    spread = groups.var().dropna()
    seen = float(spread.mean() if len(spread) else np.mean(y) * (1 - np.mean(y)))
    return min(seen, MOST)
