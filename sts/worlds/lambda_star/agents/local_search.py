"""Local search: step to the best cell in sight."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Instructions
from sts.numerics.compiled import lean
from sts.worlds.lambda_star.agents.sets import best, weights
from sts.worlds.lambda_star.domain import Observation


@lean
def rule(around: NDArray[np.int8], sets: NDArray[np.int64]) -> None:
    """Writes each role's best reachable moves to `sets`, int64[R]; `around` is int8[R, M]."""
    for r in range(sets.size):
        sets[r] = best(around[r])


@lean
def _teams(around: NDArray[np.int8], sets: NDArray[np.int64]) -> None:
    for b in range(sets.shape[0]):
        rule(around[b], sets[b])


def choices(reward: NDArray[np.int8]) -> NDArray[np.int64]:
    """Returns the best reachable moves, sets int64[B, R], for rewards int8[B, R, M]."""
    sets = np.empty(reward.shape[:2], np.int64)
    _teams(reward, sets)
    return sets


class LocalSearch(Agent):
    """Moves to a cell of the highest observed reward, ties broken uniformly, its own included.

    The source breaks ties at random where all actions are equal and is silent on other ties; its
    program breaks every tie so (lambdastar_2016.md section 7, LocalSearchAgent.cpp:20), and so does
    this. Of a wider sight only the nine cells that a move can reach count.

    Source: Chmait et al. 2016, section 5.2.1, local search agent.
    """

    name = "local-search"
    domain = "lambda-star"

    def act(
        self,
        observation: Observation,
        instructions: Instructions,
        memory: dict[str, NDArray[Any]],
        draws: NDArray[np.float64],
    ) -> tuple[Choice, dict[str, NDArray[Any]]]:
        """Returns equal weights over the best reachable cells."""
        return Choice(weights(choices(observation.reward))), memory
