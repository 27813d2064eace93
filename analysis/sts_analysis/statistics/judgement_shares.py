"""Whose judgement a value is: what part of each agent's rate on a scenario each annotator gave.

Axes: A agents, S scenarios, K annotators.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from sts_analysis.statistics.outcomes import Outcomes
from sts_analysis.statistics.settled import Parts


class Shares(NamedTuple):
    """The parts of agents' rates by annotator.

    A rate on a scenario is the mean over continuations of the mean over verdicts, so each verdict
    is a share of it. What a rule has settled and what a reviewer has decided is nobody's.

    Attributes:
      annotators: K names, in alphabetical order.
      share: float64[A, S, K], of an agent's rate on a scenario, what each annotator gave; sums to
        1 over annotators where all of it is somebody's, to 0 where nothing is.
      value: float64[A, S, K], the sum of the same verdicts, success 1, each times its share.
    """

    annotators: tuple[str, ...]
    share: np.ndarray
    value: np.ndarray

    def of_agents(self, rows: np.ndarray) -> Shares:
        """The same for some agents, in another order."""
        return self._replace(share=self.share[rows], value=self.value[rows])


def judgement_shares(ratings: pd.DataFrame, outcomes: Outcomes, parts: Parts) -> Shares:
    """Returns who gave what, of people's judgements.

    Args:
      ratings: a checked ratings table, as `valued` returns it.
      outcomes: of the human labels in it.
      parts: of how many one continuation is one.
    """
    own = ratings[(ratings["truth"] == "") & (ratings["source"] == "human")]
    said = own[~own["verdict"].isin(("", "cannot_judge"))]
    verdicts = said.groupby("continuation")["verdict"].transform("size").to_numpy()
    agent = pd.Index(outcomes.agents).get_indexer(pd.Index(said["agent"]))
    scenario = pd.Index(outcomes.scenarios).get_indexer(pd.Index(said["scenario"]))
    part = 1 / (verdicts * parts.judged[agent, scenario])
    somebody = ((said["annotator"] != "") & (said["adjudicated"] == "")).to_numpy()
    code, people = pd.factorize(said["annotator"][somebody], sort=True)
    shape = (*parts.judged.shape, len(people))
    place = np.ravel_multi_index((agent[somebody], scenario[somebody], code), shape)
    success = (said["verdict"] == "success").to_numpy()[somebody]
    size = int(np.prod(shape))
    share = np.bincount(place, part[somebody], size).reshape(shape)
    value = np.bincount(place, part[somebody] * success, size).reshape(shape)
    return Shares(tuple(map(str, people)), share, value)
