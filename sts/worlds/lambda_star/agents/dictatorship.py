"""Dictatorship: the whole team goes where its first role wants to go."""

from __future__ import annotations

from sts.agents.protocol import Memory
from sts.numerics.compiled import lean
from sts.worlds.lambda_star.agents.reactive import Reactive, Teams
from sts.worlds.lambda_star.agents.sets import best, nth
from sts.worlds.lambda_star.torus import moved, toward


@lean
def rule(teams: Teams) -> None:
    """Decides by what the first role sees; its draw picks among its best cells."""
    for b in range(len(teams.sets)):
        cell, height, width = teams.cell[b], teams.height[b], teams.width[b]
        move = nth(best(teams.around[b, 0]), teams.draws[b, 0])
        target = moved(cell[0], move, height, width)
        for r in range(cell.size):
            teams.sets[b, r] = 1 << toward(cell[r], target, height, width)


class Dictatorship(Reactive):
    """Makes for the cell that the team's first role has chosen.

    At every step the first role chooses a cell of the highest reward among the nine it can reach,
    drawn among equals, and every role, the first too, takes a shortest way there. So the first role
    is a local search agent.

    The rule is the published program's (lambdastar_2016.md section 7,
    DictatorshipLocalSearchAgent.cpp:15); the paper has none.
    """

    name = "dictatorship"
    draws = 1

    def _decide(self, teams: Teams, kept: Memory) -> None:
        rule(teams)
