"""Bidding agent: the whole team goes to the cell of the highest bid so far."""

import numpy as np

from sts.plugin import Memory
from sts_lambda_star.agents.reactive import Reactive, TeamObservation
from sts_lambda_star.domain import Observation
from sts_lambda_star.kernels import Ints

NO_BID = (-1, -3)
"""The target's cell and the highest bid in halves, before the first bid."""


class Bidding(Reactive):
    """Team that heads for the cell with the highest bid.

    At every step each role in turn bids the highest reward among the nine cells it can reach, for
    a cell with that reward (ties broken uniformly). A bid at least as high as the highest of the
    episode so far makes its cell the team's target, so the last of equal bidders wins. Then every
    role takes a shortest path to the target. The highest bid is never lowered: the target stays,
    however stale, until a bid matches it. Bids cost nothing.

    The rule is the published program's (lambdastar_2016.md section 7,
    BiddingLocalSearchAgent.cpp:23); it is not in the paper.
    """

    name = "bidding"
    draws = 1

    def _initial_memory(self, seen: Observation) -> Memory:
        return {"bids": np.tile(np.array(NO_BID, np.int64), (len(seen.cell), 1))}

    def _decide(self, teams: TeamObservation, memory: Memory) -> Ints:
        targets, rewards = teams.draw_targets()
        highest = rewards.max(1)
        last = rewards.shape[1] - 1 - (rewards == highest[:, None])[:, ::-1].argmax(1)
        newest = np.stack((targets[np.arange(len(last)), last], highest), 1)
        bids = memory["bids"]
        bids[:] = np.where((highest >= bids[:, 1])[:, None], newest, bids)
        return teams.head_for(bids[:, :1])
