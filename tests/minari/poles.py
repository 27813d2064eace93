"""CartPole, told apart: its moves have names and half a reward is a unit; or it pays halves."""

from typing import Any

import gymnasium
from gymnasium.envs.classic_control.cartpole import CartPoleEnv

from sts.domains.gymnasium import GymnasiumEnvironment


class Pole(GymnasiumEnvironment):
    id, moves, reward_unit = "CartPole-v1", ("left", "right"), 0.5


class Halves(CartPoleEnv):
    def step(self, action: int) -> Any:
        seen, reward, *rest = super().step(action)
        return seen, reward / 2, *rest


gymnasium.register("Halves-v0", "tests.minari.poles:Halves")


class Half(GymnasiumEnvironment):
    id, reward_unit = "Halves-v0", 0.5
