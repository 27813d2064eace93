"""Binary-tree agent: each role follows the best of its own and its two children's targets."""

import numpy as np

from sts.plugin import Memory
from sts_lambda_star.agents.reactive import Reactive, TeamObservation
from sts_lambda_star.kernels import Ints


class BinaryTree(Reactive):
    """Team in which each role heads for the best of its own and its children's targets.

    The team's order is a heap: role i, from 1, has the children 2i and 2i + 1 if they exist. At
    every step each role's target is a cell of the highest reward among the nine it can reach (ties
    broken uniformly). A role follows a child's target only if the reward there is higher than at
    its own, and the second child's only if it is also higher than at the first's; it takes a
    shortest path there. Targets are not passed further up the tree.

    The rule is this project's, after a method that the published program never calls: it runs plain
    local search instead (lambdastar_2016.md section 7, main.cpp:376). That method takes the first
    of several best cells; here, as everywhere, ties are broken uniformly.
    """

    name = "binary-tree"
    draws = 1

    def _decide(self, teams: TeamObservation, memory: Memory) -> Ints:
        targets, rewards = teams.draw_targets()
        players = np.arange(teams.cell.shape[1])
        leader = np.broadcast_to(players, teams.cell.shape)
        for child in (2 * players + 1, 2 * players + 2):
            other = np.minimum(child, players[-1])
            better = rewards[:, other] > np.take_along_axis(rewards, leader, 1)
            leader = np.where(better & (child == other), other, leader)
        return teams.head_for(np.take_along_axis(targets, leader, 1))
