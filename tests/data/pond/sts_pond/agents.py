"""Two who steer ferries."""

from __future__ import annotations

import numpy as np

from sts.plugin import Agent, PolicyOutput
from sts_pond.water import LAND, LEFT, LOAD, MOVES, RIGHT


class Drifter(Agent):
    """Does anything."""

    name, domain = "drifter", "pond"

    def act(self, observation, instructions, memory, draws):
        """Return equal weights."""
        return PolicyOutput(np.ones((*observation.at.shape, len(MOVES)))), memory


class Ferryman(Agent):
    """Brings whoever is aboard to where they want; else fetches the nearest who waits."""

    name, domain = "ferryman", "pond"

    def act(self, observation, instructions, memory, draws):
        """Return one move for each ferry, or either way where nobody waits."""
        at, goal = observation.at, observation.goal
        away = np.where(
            observation.waiting < 0, np.inf, np.abs(observation.waiting - at[..., None])
        )
        nearest = np.take_along_axis(observation.waiting, away.argmin(-1)[..., None], -1)[..., 0]
        target = np.where(goal >= 0, goal, nearest)
        there = np.where(goal >= 0, LAND, LOAD)
        move = np.where(target == at, there, np.where(target > at, RIGHT, LEFT))
        weights = np.eye(len(MOVES))[move]
        idle = (goal < 0) & np.isinf(away).all(-1)
        weights[idle] = np.eye(len(MOVES))[[LEFT, RIGHT]].sum(0)
        return PolicyOutput(weights), memory
