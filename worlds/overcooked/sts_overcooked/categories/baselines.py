"""Baseline that ignores instructions and maximises reward."""

from typing import Any

import numpy as np

from sts.plugin import Draws, Instructions, Memory, PolicyOutput
from sts_overcooked.agents.greedy import Greedy


class UninstructedGreedy(Greedy):
    """Greedy planner that never receives an instruction."""

    name = "soup"

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the planner's actions for an empty instruction."""
        silent = Instructions(("",), np.zeros_like(instructions.ids))
        return super().act(observation, silent, memory, draws)
