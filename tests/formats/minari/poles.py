"""CartPole, told apart: its moves have names and half a reward is a unit; it pays halves; signs."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.classic_control.cartpole import CartPoleEnv

from sts.agents import Agent, PolicyOutput
from sts.domains.gymnasium import GymnasiumEnvironment


class Pole(GymnasiumEnvironment):
    id, action_names, reward_unit = "CartPole-v1", ("left", "right"), 0.5


class Halves(CartPoleEnv):
    def step(self, action: Any) -> Any:
        seen, reward, *rest = super().step(action)
        return seen, reward / 2, *rest


gymnasium.register("Halves-v0", "tests.formats.minari.poles:Halves")


class Half(GymnasiumEnvironment):
    id, reward_unit = "Halves-v0", 0.5


class Signs(GymnasiumEnvironment):
    id = "CartPole-v1"

    def observe(self, player: int) -> Any:
        return {name: 100 * np.sign(value) for name, value in super().observe(player).items()}


class Pusher(Agent):
    name = "pusher"

    def act(self, observation: Any, told: Any, memory: Any, draws: Any) -> Any:
        return PolicyOutput(np.ones(observation.last_move.shape, np.int64)), memory
