"""A binary tree: each role follows the best target among its own and its two children's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Instructions
from sts.numerics.compiled import compiled, lean
from sts.worlds.lambda_star.agents.sets import best, highest, nth, once, toward, weights
from sts.worlds.lambda_star.domain import Observation
from sts.worlds.lambda_star.kernels import moved


@lean
def rule(
    around: NDArray[np.int8],
    cell: NDArray[np.int64],
    height: int,
    width: int,
    draws: NDArray[np.float64],
    found: NDArray[np.int64],
    sets: NDArray[np.int64],
) -> None:
    """Writes each role's one move to `sets`, int64[R].

    Args:
      around: int8[R, M], rewards in halves.
      cell: int64[R].
      height: the grid's rows.
      width: its columns.
      draws: float64[R], which of several best cells is each role's target.
      found: int64[2, R], scratch: each role's target and the reward there.
      sets: int64[R], written.
    """
    roles = cell.size
    for r in range(roles):
        found[0, r] = moved(cell[r], nth(best(around[r]), draws[r]), height, width)
        found[1, r] = highest(around[r])
    for r in range(roles):
        leader = r
        for child in range(2 * r + 1, min(2 * r + 3, roles)):
            if found[1, child] > found[1, leader]:
                leader = child
        sets[r] = once(toward(cell[r], found[0, leader], height, width))


@compiled
def _teams(
    around: NDArray[np.int8],
    cell: NDArray[np.int64],
    height: NDArray[np.int64],
    width: NDArray[np.int64],
    draws: NDArray[np.float64],
    sets: NDArray[np.int64],
) -> None:
    found = np.empty((2, sets.shape[1]), np.int64)
    for b in range(sets.shape[0]):
        rule(around[b], cell[b], height[b], width[b], draws[b], found, sets[b])


class BinaryTree(Agent):
    """Makes for the best-rewarded target among its own and those of its children in the tree.

    The team's order is a heap: role i, from 1, has the children 2i and 2i + 1 where they exist. At
    every step each role's target is a cell of the highest reward among the nine it can reach, drawn
    among equals. A role follows a child's target only if the reward there is higher than at its
    own, and the second child's only if it is also higher than at the first's; it takes a shortest
    way there. Targets are not handed further up the tree.

    The rule is this project's, after a method of the published program that never runs: there the
    tree is dispatched to plain local search (lambdastar_2016.md section 7, main.cpp:376). That
    method takes the first of several best cells; here, as everywhere, ties are broken uniformly.
    """

    name = "binary-tree"
    domain = "lambda-star"
    draws = 1

    def act(
        self,
        observation: Observation,
        instructions: Instructions,
        memory: dict[str, NDArray[Any]],
        draws: NDArray[np.float64],
    ) -> tuple[Choice, dict[str, NDArray[Any]]]:
        """Returns all weight on the way to the target that each role follows."""
        o = observation
        sets = np.empty(o.cell.shape, np.int64)
        _teams(o.reward, o.cell, o.height, o.width, draws[..., 0], sets)
        return Choice(weights(sets)), memory
