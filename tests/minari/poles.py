"""CartPole, told apart: its moves have names and half a reward is a unit."""

from sts.domains.gymnasium import GymnasiumEnvironment


class Pole(GymnasiumEnvironment):
    id, moves, reward_unit = "CartPole-v1", ("left", "right"), 0.5
