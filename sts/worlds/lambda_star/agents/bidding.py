"""Bidding: the whole team goes where the highest bid so far was made."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Instructions
from sts.numerics.compiled import lean
from sts.worlds.lambda_star.agents.sets import best, highest, nth, once, toward, weights
from sts.worlds.lambda_star.domain import Observation
from sts.worlds.lambda_star.kernels import moved

NO_BID = (-1, -3)


@lean
def rule(
    around: NDArray[np.int8],
    cell: NDArray[np.int64],
    height: int,
    width: int,
    draws: NDArray[np.float64],
    bids: NDArray[np.int64],
    sets: NDArray[np.int64],
) -> None:
    """Takes one team's bids, then writes each role's one move to `sets`.

    Args:
      around: int8[R, M], rewards in halves.
      cell: int64[R].
      height: the grid's rows.
      width: its columns.
      draws: float64[R], which of several best cells each role bids for.
      bids: int64[2], the target's cell and the highest bid in halves; `NO_BID` at the start.
      sets: int64[R], written.
    """
    for r in range(cell.size):
        bid = highest(around[r])
        if bid >= bids[1]:
            bids[0] = moved(cell[r], nth(best(around[r]), draws[r]), height, width)
            bids[1] = bid
    for r in range(cell.size):
        sets[r] = once(toward(cell[r], bids[0], height, width))


@lean
def _teams(
    around: NDArray[np.int8],
    cell: NDArray[np.int64],
    height: NDArray[np.int64],
    width: NDArray[np.int64],
    draws: NDArray[np.float64],
    bids: NDArray[np.int64],
    sets: NDArray[np.int64],
) -> None:
    for b in range(sets.shape[0]):
        rule(around[b], cell[b], height[b], width[b], draws[b], bids[b], sets[b])


class Bidding(Agent):
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
    domain = "lambda-star"
    draws = 1

    def begin(self, batch: int, roles: int) -> dict[str, NDArray[Any]]:
        """Returns the memory of no bid: int64[B, 2], the target's cell and the highest bid."""
        return {"bids": np.tile(np.array(NO_BID, np.int64), (batch, 1))}

    def act(
        self,
        observation: Observation,
        instructions: Instructions,
        memory: dict[str, NDArray[Any]],
        draws: NDArray[np.float64],
    ) -> tuple[Choice, dict[str, NDArray[Any]]]:
        """Returns all weight on the way to the target, and the bids."""
        o, bids = observation, memory["bids"].copy()
        sets = np.empty(o.cell.shape, np.int64)
        _teams(o.reward, o.cell, o.height, o.width, draws[..., 0], bids, sets)
        return Choice(weights(sets)), {"bids": bids}
