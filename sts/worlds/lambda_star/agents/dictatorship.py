"""Dictatorship: the whole team goes where its first role wants to go."""

from __future__ import annotations

from sts.agents.protocol import Memory
from sts.worlds.lambda_star.agents.reactive import Reactive, Teams
from sts.worlds.lambda_star.agents.sets import best, nth, reached
from sts.worlds.lambda_star.kernels import Ints
from sts.worlds.lambda_star.torus import moved, toward


def rule(teams: Teams) -> Ints:
    """Decides by what the first role sees; its draw picks among its best cells."""
    size = teams.height, teams.width
    move = nth(best(reached(teams.around[:, :1])), teams.draws[:, :1])
    sets: Ints = 1 << toward(teams.cell, moved(teams.cell[:, :1], move, *size), *size)
    return sets


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

    def _decide(self, teams: Teams, kept: Memory) -> Ints:
        return rule(teams)
