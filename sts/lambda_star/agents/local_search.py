"""Local search: step to the best cell in sight."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Instructions
from sts.lambda_star.domain import Observation


def nearest(values: NDArray[Any], radius_cells: int) -> NDArray[Any]:
    """Returns the 3 x 3 middle [..., 9] of a neighbourhood [..., M]: the cells a move can reach."""
    side = int(np.sqrt(radius_cells))
    if side == 3:
        return values
    first = (side - 3) // 2
    grid = values.reshape(*values.shape[:-1], side, side)
    return grid[..., first : first + 3, first : first + 3].reshape(*values.shape[:-1], 9)


def best(values: NDArray[Any]) -> NDArray[np.float64]:
    """Returns weight 1 for each largest of the last axis and 0 for the rest."""
    top: NDArray[np.bool_] = values == values.max(-1, keepdims=True)
    return top.astype(np.float64)


class LocalSearch(Agent):
    """Moves to a cell of the highest observed reward, ties broken uniformly, its own included.

    Source: Chmait et al. 2016, section 5.2.1, local search agent.
    """

    name = "local-search"

    def act(
        self,
        observation: Observation,
        instructions: Instructions,
        memory: dict[str, NDArray[Any]],
        draws: NDArray[np.float64],
    ) -> tuple[Choice, dict[str, NDArray[Any]]]:
        """Returns equal weights over the best reachable cells."""
        reward = observation.reward
        return Choice(best(nearest(reward, reward.shape[-1]))), memory
