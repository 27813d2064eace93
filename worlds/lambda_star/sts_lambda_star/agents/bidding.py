"""Bidding agent: the whole team goes to the cell of the highest bid so far."""

import numpy as np

from sts.plugin import Memory, jit
from sts_lambda_star.agents.reactive import Reactive
from sts_lambda_star.agents.team_sight import TeamSight, draw_target, head_for
from sts_lambda_star.kernels import Ints

NO_BID = (-1, -3)
"""The target's cell and the highest bid in halves, before the first bid."""


@jit
def bid(team: TeamSight, bids: Ints) -> None:
    """Let each role bid in turn and head for the target; update the target and bid, int64[B, 2]."""
    for b in range(team.sets.shape[1]):
        width = int(team.width[b])
        for r in range(team.sets.shape[0]):
            if team.top[r, b] >= bids[b, 1]:
                row, column = draw_target(team, r, b)
                bids[b, 0], bids[b, 1] = row * width + column, team.top[r, b]
        row = bids[b, 0] // width
        column = bids[b, 0] - row * width
        for r in range(team.sets.shape[0]):
            head_for(team, r, b, row, column)


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
    reads = "best"

    def _initial_memory(self, cells: Ints, height: Ints, width: Ints) -> Memory:
        return {"bids": np.tile(np.array(NO_BID, np.int64), (len(cells), 1))}

    def _decide(self, team: TeamSight, memory: Memory) -> None:
        bid(team, memory["bids"])
