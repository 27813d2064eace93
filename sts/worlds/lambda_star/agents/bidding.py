"""Bidding: the whole team goes where the highest bid so far was made."""

from __future__ import annotations

import numpy as np

from sts.agents.protocol import Memory
from sts.worlds.lambda_star.agents.reactive import Reactive, Teams
from sts.worlds.lambda_star.agents.sets import best, nth, reached
from sts.worlds.lambda_star.domain import Observation
from sts.worlds.lambda_star.kernels import Ints
from sts.worlds.lambda_star.torus import moved, toward

NO_BID = (-1, -3)


def rule(teams: Teams, bids: Ints) -> Ints:
    """Take the teams' bids, each for a cell that the role's draw picks, then decides.

    `bids` is int64[B, 2], the target's cell and the highest bid in halves; `NO_BID` at the start.
    """
    near, size = reached(teams.around), (teams.height, teams.width)
    targets, rewards = moved(teams.cell, nth(best(near), teams.draws), *size), near.max(-1)
    highest = rewards.max(1)
    last = rewards.shape[1] - 1 - (rewards == highest[:, None])[:, ::-1].argmax(1)
    made = np.stack((targets[np.arange(len(last)), last], highest), 1)
    bids[:] = np.where((highest >= bids[:, 1])[:, None], made, bids)
    sets: Ints = 1 << toward(teams.cell, bids[:, :1], *size)
    return sets


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

    def _decide(self, teams: Teams, kept: Memory) -> Ints:
        return rule(teams, kept["bids"])
