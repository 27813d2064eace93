"""The package's bot, plain and with a share of random moves.

It is shown the world and not only what its place lets it see, so it is a baseline. In truth it
plans with what it has seen so far, but it reads the mission and the objects from inside.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from sts.agents import Agent, Choice, Instructions
from sts.agents.protocol import Draws, Memory, Sees
from sts.worlds.babyai.agents.planning import advise
from sts.worlds.babyai.environment import MOVES


class Bot(Agent):
    """Does what the package's bot does, which has watched from the beginning of the episode."""

    name = "babyai-bot"
    version = "1"
    domain: ClassVar[str] = "babyai"
    sees: ClassVar[Sees] = "world"
    deterministic = True
    noise: ClassVar[float] = 0.0

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Weighs the bot's move and, by the share of noise, every move alike."""
        weights = np.full((len(observation.environments), 1, len(MOVES)), self.noise / len(MOVES))
        for b, world in enumerate(observation.environments):
            weights[b, 0, advise(world)] += 1.0 - self.noise
        return Choice(weights), memory


class NoisyBot10(Bot):
    """One move in ten is a random one."""

    name = "babyai-noisy-bot-10"
    deterministic = False
    noise = 0.1


class NoisyBot30(Bot):
    """Three moves in ten are random ones."""

    name = "babyai-noisy-bot-30"
    deterministic = False
    noise = 0.3


class NoisyBot60(Bot):
    """Six moves in ten are random ones."""

    name = "babyai-noisy-bot-60"
    deterministic = False
    noise = 0.6
