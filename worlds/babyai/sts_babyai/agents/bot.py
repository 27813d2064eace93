"""The package's bot, plain and with a share of random actions.

It is given the environment instead of an observation, so it is a baseline. It plans only with what
it has seen, but reads the mission and the objects from the environment.
"""

from typing import Any, ClassVar

import numpy as np

from sts.plugin import Agent, Draws, Instructions, Memory, PolicyOutput
from sts_babyai.agents.planning import advise
from sts_babyai.environment import MOVES


class Bot(Agent):
    """Agent that acts like the package's bot after watching from the start of the episode."""

    name = "babyai-bot"
    version = "1"
    domain: ClassVar[str] = "babyai"
    sees = "world"
    deterministic = True
    noise: ClassVar[float] = 0.0

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the bot's action, mixed with a share of uniform noise."""
        weights = np.full((len(observation.environments), 1, len(MOVES)), self.noise / len(MOVES))
        for b, world in enumerate(observation.environments):
            weights[b, 0, advise(world)] += 1.0 - self.noise
        return PolicyOutput(weights), memory


class NoisyBot10(Bot):
    """Bot with one random action in ten."""

    name = "babyai-noisy-bot-10"
    deterministic = False
    noise = 0.1


class NoisyBot30(Bot):
    """Bot with three random actions in ten."""

    name = "babyai-noisy-bot-30"
    deterministic = False
    noise = 0.3


class NoisyBot60(Bot):
    """Bot with six random actions in ten."""

    name = "babyai-noisy-bot-60"
    deterministic = False
    noise = 0.6
