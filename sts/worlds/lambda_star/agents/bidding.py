"""Bidding: the whole team goes where the highest bid so far was made."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Memory
from sts.numerics.compiled import lean
from sts.worlds.lambda_star.agents.reactive import Reactive, Teams
from sts.worlds.lambda_star.agents.sets import best, highest, nth
from sts.worlds.lambda_star.domain import Observation
from sts.worlds.lambda_star.torus import moved, toward

NO_BID = (-1, -3)


@lean
def rule(teams: Teams, bids: NDArray[np.int64]) -> None:
    """Takes the teams' bids, then decides.

    Args:
      teams: their draws say which of several best cells each role bids for.
      bids: int64[B, 2], the target's cell and the highest bid in halves; `NO_BID` at the start.
    """
    for b in range(len(teams.sets)):
        around, cell = teams.around[b], teams.cell[b]
        height, width = teams.height[b], teams.width[b]
        for r in range(cell.size):
            bid = highest(around[r])
            if bid >= bids[b, 1]:
                move = nth(best(around[r]), teams.draws[b, r])
                bids[b, 0], bids[b, 1] = moved(cell[r], move, height, width), bid
        for r in range(cell.size):
            teams.sets[b, r] = 1 << toward(cell[r], bids[b, 0], height, width)


class Bidding(Reactive):
    """Makes for the cell that won the bidding.

    At every step each role in turn bids the highest reward among the nine cells it can reach, for
    such a cell, drawn among equals. A bid as high as the highest of the episode so far makes its
    cell the team's target, so the last of equal bidders wins; then every role takes a shortest way
    to the target. The record is never lowered: the target stays where it is until the record is
    matched, however stale it has become. There is no money and no cost.

    The rule is the published program's (lambdastar_2016.md section 7,
    BiddingLocalSearchAgent.cpp:23); the paper has none.
    """

    name = "bidding"
    draws = 1

    def _start(self, seen: Observation) -> Memory:
        return {"bids": np.tile(np.array(NO_BID, np.int64), (len(seen.cell), 1))}

    def _decide(self, teams: Teams, kept: Memory) -> None:
        rule(teams, kept["bids"])
