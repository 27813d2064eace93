"""Agents for the record's Gymnasium environments."""

from __future__ import annotations

import numpy as np

from sts.agents import Agent, Choice


class Walker(Agent):
    """Takes each of FrozenLake's moves equally often."""

    name, version, count = "walker", "1", 4

    def act(self, observation, instructions, memory, draws):
        return Choice(np.ones((*observation.last_move.shape, self.count))), memory


class Driver(Walker):
    """Takes each of Taxi's moves equally often."""

    name, count = "driver", 6
