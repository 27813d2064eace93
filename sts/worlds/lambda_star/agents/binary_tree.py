"""A binary tree: each role follows the best target among its own and its two children's."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Memory
from sts.numerics.compiled import lean
from sts.worlds.lambda_star.agents.reactive import Reactive, Teams
from sts.worlds.lambda_star.agents.sets import best, highest, nth
from sts.worlds.lambda_star.torus import moved, toward


@lean
def rule(teams: Teams, targets: NDArray[np.int64]) -> None:
    """Decides for each role by its own target and its children's.

    Args:
      teams: their draws say which of several best cells is each role's target.
      targets: int64[2, R], scratch: each role's target and the reward there.
    """
    for b in range(len(teams.sets)):
        around, cell = teams.around[b], teams.cell[b]
        height, width = teams.height[b], teams.width[b]
        for r in range(cell.size):
            move = nth(best(around[r]), teams.draws[b, r])
            targets[0, r] = moved(cell[r], move, height, width)
            targets[1, r] = highest(around[r])
        for r in range(cell.size):
            leader = r
            for child in range(2 * r + 1, min(2 * r + 3, cell.size)):
                if targets[1, child] > targets[1, leader]:
                    leader = child
            teams.sets[b, r] = 1 << toward(cell[r], targets[0, leader], height, width)


class BinaryTree(Reactive):
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
    draws = 1

    def _decide(self, teams: Teams, kept: Memory) -> None:
        rule(teams, np.empty((2, teams.sets.shape[1]), np.int64))
