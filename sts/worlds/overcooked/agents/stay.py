"""A cook who does nothing: the lower bound, and a stand-in for a partner who has left."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Instructions
from sts.domains.adapted import Seen
from sts.worlds.overcooked.basics import STAY


class Stay(Agent):
    """Stands where it is."""

    name = "overcooked-stay"
    domain = "overcooked"
    deterministic = True

    def act(
        self,
        observation: Seen,
        instructions: Instructions,
        memory: dict[str, NDArray[Any]],
        draws: NDArray[np.float64],
    ) -> tuple[Choice, dict[str, NDArray[Any]]]:
        """Returns nothing but no-op."""
        return Choice(np.full(observation.last_move.shape, STAY)), memory
