"""A cook who does nothing: the lower bound, and a stand-in for a partner who has left."""

from __future__ import annotations

import numpy as np

from sts.agents.protocol import Agent, Choice, Draws, Instructions, Memory
from sts.domains.adapted import Seen
from sts.worlds.overcooked.basics import STAY


class Stay(Agent):
    """Stands where it is."""

    name = "overcooked-stay"
    version = "1"
    domain = "overcooked"
    deterministic = True

    def act(
        self, observation: Seen, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Return nothing but no-op."""
        return Choice(np.full(observation.last_move.shape, STAY)), memory
