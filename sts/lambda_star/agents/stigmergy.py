"""Local search that a team joins up by stigmergy: fake rewards tell neighbours what is near."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Instructions
from sts.lambda_star.agents import torus
from sts.lambda_star.agents.local_search import best, nearest
from sts.lambda_star.domain import Observation

DISCOUNT = 0.5


class Stigmergy(Agent):
    """Moves to a cell of the highest fake reward, ties broken uniformly.

    At every step each role in turn marks the cells that it sees with their reward plus
    g * max + (1 - g) * min of the rewards it sees; where neighbourhoods overlap, the mark of the
    role that comes later stands. The marks last one step, as the algorithm is given for one
    iteration; a role alone is then a local search agent. Chosen here, where the source is silent:
    g = 0.5, and roles take their turns in the team's order. (The published program differs: its
    marks last for the whole episode, and each is averaged with what stood there before.)

    Source: Chmait et al. 2016, section 5.2.2, algorithm 2.
    """

    name = "stigmergy"

    def act(
        self,
        observation: Observation,
        instructions: Instructions,
        memory: dict[str, NDArray[Any]],
        draws: NDArray[np.float64],
    ) -> tuple[Choice, dict[str, NDArray[Any]]]:
        """Returns equal weights over the reachable cells that are marked best."""
        seen, reward = observation, observation.reward
        reach = torus.radius(reward)
        mark = DISCOUNT * reward.max(-1) + (1 - DISCOUNT) * reward.min(-1)
        within = torus.surroundings(seen.cell, seen.height, seen.width)
        fake = np.zeros(within.shape)
        for role in range(seen.cell.shape[1]):
            author = np.broadcast_to(seen.cell[:, role, None, None], within.shape)
            near = torus.gaps(within, author, seen.height, seen.width).distance <= reach
            fake = np.where(near, mark[:, role, None, None], fake)
        return Choice(best(nearest(reward, reward.shape[-1]) + fake)), memory
