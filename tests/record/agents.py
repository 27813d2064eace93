"""Agents for the record's Gymnasium environments."""

import numpy as np

from sts.agents import Agent, PolicyOutput


class Walker(Agent):
    """Takes each of FrozenLake's moves equally often."""

    name, version, count = "walker", "1", 4

    def act(self, observation, instructions, memory, draws):
        return PolicyOutput(np.ones((*observation.last_move.shape, self.count))), memory


class Driver(Walker):
    """Takes each of Taxi's moves equally often."""

    name, count = "driver", 6
