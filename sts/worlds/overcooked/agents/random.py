"""A cook who does anything."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Instructions
from sts.domains.adapted import Seen
from sts.worlds.overcooked.basics import MOVES


class Random(Agent):
    """Takes one of the six moves uniformly at random."""

    name = "overcooked-random"
    domain = "overcooked"

    def act(
        self,
        observation: Seen,
        instructions: Instructions,
        memory: dict[str, NDArray[Any]],
        draws: NDArray[np.float64],
    ) -> tuple[Choice, dict[str, NDArray[Any]]]:
        """Returns equal weights."""
        return Choice(np.ones((*observation.last_move.shape, len(MOVES)))), memory
