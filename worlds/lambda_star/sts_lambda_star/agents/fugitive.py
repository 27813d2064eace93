"""Fugitive agent: it flees from other players, but can be caught."""

from typing import Any

import numpy as np

from sts.plugin import Agent, Draws, Instructions, Memory, PolicyOutput
from sts_lambda_star.domain import Observation
from sts_lambda_star.state import MOVES
from sts_lambda_star.torus import STAY, side_length

_MAX_FLIGHT = 2
_DIRECTIONS = np.stack(np.divmod(np.arange(len(MOVES)), 3), -1) - 1
_FAR_DISTANCE = 1000


class Fugitive(Agent):
    """Agent that flees from the players it sees, and rests for a step after every two.

    It chooses uniformly among the moves that end farthest from the nearest player in sight.
    While no player is in sight it stands still. It never speaks and ignores instructions.

    This project's own, for use as a partner that reacts to the evaluated player.
    """

    name = "fugitive"
    version = "1"
    domain = "lambda-star"

    def initial_state(self, batch: int, players: int) -> Memory:
        """Return the initial memory: steps fled in a row, and the set of moves chosen from last."""
        return {
            "fled": np.zeros((batch, players), np.int64),
            "ways": np.zeros((batch, players, len(MOVES)), np.bool_),
        }

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return equal weights over the moves that lead farthest away, or "stay"."""
        crowd = observation.team.astype(np.int64) + observation.others
        distances = _distances_after_moves(crowd.shape[-1])
        nearest = np.where((crowd > 0)[..., None], distances, _FAR_DISTANCE).min(-2)
        away = nearest == nearest.max(-1, keepdims=True)
        last_move = np.maximum(observation.last_move, 0).astype(np.int64)
        as_meant = np.take_along_axis(memory["ways"], last_move[..., None], -1)[..., 0]
        fled = np.where(as_meant, memory["fled"] + 1, 0)
        still = ~(crowd > 0).any(-1) | (fled >= _MAX_FLIGHT)
        actions = np.where(still[..., None], np.arange(len(MOVES)) == STAY, away)
        ways = actions & ~still[..., None]
        return PolicyOutput(actions.astype(np.float64)), {
            "fled": np.where(still, 0, fled),
            "ways": ways,
        }


def _distances_after_moves(cells: int) -> Any:
    """Return int64[M, 9], the distance of each cell in sight from the cell each move leads to."""
    length = side_length(cells)
    offsets = np.stack(np.divmod(np.arange(cells), length), -1) - length // 2
    return np.abs(offsets[:, None] - _DIRECTIONS).max(-1)
