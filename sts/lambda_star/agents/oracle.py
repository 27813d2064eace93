"""The oracle: it knows where Good goes next."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Instructions
from sts.lambda_star.agents import torus
from sts.lambda_star.domain import Observation
from sts.lambda_star.state import MOVES


class Oracle(Agent):
    """Approaches the cell that Good intends next by a shortest way on the torus.

    It minds neither Evil nor instructions. Chosen here, where the source is silent: diagonals
    first, and halfway round the torus down and right. The source's rule for a Good that runs away
    for ever, to go the opposite way and meet it, is not followed: each step only approaches.

    Source: Chmait et al. 2016, section 5.2.1, expert agent.
    """

    name = "oracle"
    sees = "world"
    deterministic = True

    def act(
        self,
        observation: Observation,
        instructions: Instructions,
        memory: dict[str, NDArray[Any]],
        draws: NDArray[np.float64],
    ) -> tuple[Choice, dict[str, NDArray[Any]]]:
        """Returns all weight on the way to Good's next cell."""
        seen, cell = observation, observation.cell
        assert seen.good_next is not None
        goal = np.broadcast_to(seen.good_next[:, None], cell.shape)
        way = torus.gaps(cell, goal, seen.height, seen.width)
        return Choice(np.eye(len(MOVES))[torus.toward(way)]), memory
