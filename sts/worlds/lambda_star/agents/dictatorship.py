"""Dictatorship agent: the whole team goes to the cell that its first role chooses."""

from sts.agents.protocol import Memory
from sts.worlds.lambda_star.agents.move_sets import best_moves, crop_reachable, pick_move
from sts.worlds.lambda_star.agents.reactive import Reactive, TeamObservation
from sts.worlds.lambda_star.kernels import Ints
from sts.worlds.lambda_star.torus import first_move, move_cell


def choose_moves(teams: TeamObservation) -> Ints:
    """Return the moves towards the first role's best cell; its draw breaks ties."""
    size = teams.height, teams.width
    move = pick_move(best_moves(crop_reachable(teams.around[:, :1])), teams.draws[:, :1])
    sets: Ints = 1 << first_move(teams.cell, move_cell(teams.cell[:, :1], move, *size), *size)
    return sets


class Dictatorship(Reactive):
    """Team that heads for the cell that its first role chooses.

    At every step the first role chooses a cell of the highest reward among the nine it can reach
    (ties broken uniformly), and every role, including the first, takes a shortest path there. So
    the first role is a local search agent.

    The rule is the published program's (lambdastar_2016.md section 7,
    DictatorshipLocalSearchAgent.cpp:15); it is not in the paper.
    """

    name = "dictatorship"
    draws = 1

    def _decide(self, teams: TeamObservation, memory: Memory) -> Ints:
        return choose_moves(teams)
