"""Who hears nothing and makes soup: what a category of instructions must not reward."""

from __future__ import annotations

from typing import Any

import numpy as np

from sts.agents import Choice
from sts.agents.protocol import Draws, Instructions, Memory
from sts.worlds.overcooked.agents.greedy import Greedy


class Soup(Greedy):
    """The greedy planner that is told nothing."""

    name = "soup"

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Return the planner's moves where nothing is asked."""
        silent = Instructions(("",), np.zeros_like(instructions.ids))
        return super().act(observation, silent, memory, draws)
