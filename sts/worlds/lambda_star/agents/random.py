"""The random agent: the lower bound on performance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Instructions
from sts.worlds.lambda_star.domain import Observation
from sts.worlds.lambda_star.state import MOVES


class Random(Agent):
    """Moves uniformly at random, and never speaks.

    Source: Chmait et al. 2016, section 5.2.1, random agent.
    """

    name = "random"
    domain = "lambda-star"

    def act(
        self,
        observation: Observation,
        instructions: Instructions,
        memory: dict[str, NDArray[Any]],
        draws: NDArray[np.float64],
    ) -> tuple[Choice, dict[str, NDArray[Any]]]:
        """Returns equal weights."""
        return Choice(np.ones((*observation.cell.shape, len(MOVES)))), memory
