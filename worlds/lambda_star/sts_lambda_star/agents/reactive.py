"""Base class of the reactive agents, which decide from the observation of a single step."""

from abc import abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Agent, Draws, Instructions, Memory, PolicyOutput
from sts_lambda_star.agents.move_sets import (
    best_moves,
    crop_reachable,
    pick_move,
    to_weights,
)
from sts_lambda_star.domain import Observation
from sts_lambda_star.kernels import Ints
from sts_lambda_star.torus import first_move, move_cell


class TeamObservation(NamedTuple):
    """Observations of B teams of R roles at one step, M cells in sight each."""

    around: NDArray[np.int8]  # int8[B, R, M], rewards in halves
    cell: Ints  # int64[B, R], the roles' own cells
    height: Ints  # int64[B, 1], the grids' rows
    width: Ints  # int64[B, 1], their columns
    # int64[B, 1], the cell that Good intends next; only for rules that see the world
    good_next: Ints
    heading: Ints  # int64[B, 1], the single move that Good repeats, or -1; only for the same rules
    # float64[B, R], each role's planning draw; only for rules with random planning
    draws: NDArray[np.float64]

    def draw_targets(self) -> tuple[Ints, NDArray[np.int8]]:
        """Return a best cell in each role's reach, ties broken by its draw, and the reward there.

        Both are [B, R].
        """
        near = crop_reachable(self.around)
        move = pick_move(best_moves(near), self.draws)
        return move_cell(self.cell, move, self.height, self.width), near.max(-1)

    def head_for(self, targets: Ints) -> Ints:
        """Return int64[B, R], the sets of the first moves to `targets`, [B, R] or [B, 1]."""
        sets: Ints = 1 << first_move(self.cell, targets, self.height, self.width)
        return sets


class Reactive(Agent):
    """Agent that decides by a rule on `TeamObservation` and the teams' memory."""

    domain = "lambda-star"
    version = "1"

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return equal weights over the moves that the rule allows, and the updated memory."""
        o, batch = observation, len(observation.cell)
        unseen = np.empty(0, np.int64)
        teams = TeamObservation(
            o.reward,
            o.cell,
            o.height[:, None],
            o.width[:, None],
            (unseen if o.good_next is None else o.good_next)[:, None],
            (unseen if o.good_heading is None else o.good_heading)[:, None],
            draws.reshape(batch, self.draws * o.cell.shape[1]),
        )
        new_memory = {name: array.copy() for name, array in memory.items()} or self._initial_memory(
            o
        )
        return PolicyOutput(to_weights(self._decide(teams, new_memory))), new_memory

    def _initial_memory(self, seen: Observation) -> Memory:
        """Return the memory before the first step."""
        return {}

    @abstractmethod
    def _decide(self, teams: TeamObservation, memory: Memory) -> Ints:
        """Return int64[B, R], sets of moves; update `memory` in place."""
