"""Cook that does nothing: the lower bound, and a replacement for a partner who has left."""

import numpy as np

from sts.plugin import Agent, Draws, Instructions, Memory, Observation, PolicyOutput
from sts_overcooked.constants import STAY


class Stay(Agent):
    """Cook that stands still."""

    name = "overcooked-stay"
    version = "1"
    domain = "overcooked"
    deterministic = True

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the no-op action."""
        return PolicyOutput(np.full(observation.last_move.shape, STAY)), memory
