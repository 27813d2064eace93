"""A cook who does anything."""

from __future__ import annotations

import numpy as np

from sts.agents.protocol import Agent, Choice, Draws, Instructions, Memory
from sts.domains.adapted import Seen
from sts.worlds.overcooked.basics import MOVES


class Random(Agent):
    """Takes one of the six moves uniformly at random."""

    name = "overcooked-random"
    version = "1"
    domain = "overcooked"

    def act(
        self, observation: Seen, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Returns equal weights."""
        return Choice(np.ones((*observation.last_move.shape, len(MOVES)))), memory
