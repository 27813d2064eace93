"""The fugitive: it keeps away from others, who can catch it all the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from sts.agents.protocol import Agent, Choice, Draws, Instructions, Memory
from sts.worlds.lambda_star.domain import Observation
from sts.worlds.lambda_star.state import MOVES
from sts.worlds.lambda_star.torus import STAY, side

_RUN = 2
_WAYS = np.stack(np.divmod(np.arange(len(MOVES)), 3), -1) - 1
_OUT_OF_SIGHT = 1000


class Fugitive(Agent):
    """Steps away from whoever it sees, and rests for a step when it has fled for two.

    Of the moves that end farthest from the nearest of them it makes any. While it sees nobody it
    stands still. It never speaks and does not know what it is told.

    A partner of this project's own: what it does depends on what whoever is asked does.
    """

    name = "fugitive"
    version = "1"
    domain = "lambda-star"

    def begin(self, batch: int, roles: int) -> Memory:
        """Return the memory of not having fled: for how many steps, and by which moves lately."""
        return {
            "fled": np.zeros((batch, roles), np.int64),
            "ways": np.zeros((batch, roles, len(MOVES)), np.bool_),
        }

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Return equal weights over the moves that lead away, or to stay."""
        crowd = observation.team.astype(np.int64) + observation.others
        apart = _apart(crowd.shape[-1])
        nearest = np.where((crowd > 0)[..., None], apart, _OUT_OF_SIGHT).min(-2)
        away = nearest == nearest.max(-1, keepdims=True)
        own = np.maximum(observation.last_move, 0).astype(np.int64)
        as_meant = np.take_along_axis(memory["ways"], own[..., None], -1)[..., 0]
        fled = np.where(as_meant, memory["fled"] + 1, 0)
        still = ~(crowd > 0).any(-1) | (fled >= _RUN)
        moves = np.where(still[..., None], np.arange(len(MOVES)) == STAY, away)
        ways = moves & ~still[..., None]
        return Choice(moves.astype(np.float64)), {"fled": np.where(still, 0, fled), "ways": ways}


def _apart(cells: int) -> Any:
    """Return int64[M, 9], how far each cell in sight is from where each move leads."""
    long = side(cells)
    there = np.stack(np.divmod(np.arange(cells), long), -1) - long // 2
    return np.abs(there[:, None] - _WAYS).max(-1)
