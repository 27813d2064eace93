"""Oracle agent: it knows Good's next cell."""

import numpy as np

from sts.plugin import Memory
from sts_lambda_star.agents.reactive import Reactive, TeamObservation
from sts_lambda_star.kernels import Ints
from sts_lambda_star.torus import STAY, Offset, offset_to_move, shortest_displacement


def _choose_displacement(nearest: Ints, heading: Ints) -> Ints:
    """Return the offset to head for on one axis: the opposite way if Good runs away."""
    return np.where(nearest * heading > 1, -nearest, nearest)


class Oracle(Reactive):
    """Agent that approaches the cell that Good intends next, and intercepts a fleeing Good.

    It takes a shortest path on the torus, both axes at once; halfway round, the path that crosses
    no edge. It ignores Evil and instructions. If Good's whole pattern is one move that leads away
    from the agent, it goes the opposite way until they meet, and then stays with Good.

    Choices on which the paper is silent: "a constant movement pattern" is a pattern of a single
    repeated move, and the axes are treated separately, because Good may run away along the rows and
    not along the columns. Good runs away on an axis if the shortest path to its next cell is longer
    than one cell and has the direction in which Good itself moves, so that pursuit never shortens
    it. They meet within half the longer side, rounded down: on a ring of n cells at most n - 2
    separate them the opposite way, and each step closes two.

    The rule is the paper's: its program only approaches (lambdastar_2016.md section 7,
    Oracle.cpp:21).

    Source: Chmait et al. 2016, section 5.2.1, expert agent.
    """

    name = "oracle"
    sees = "world"
    deterministic = True

    def _decide(self, teams: TeamObservation, memory: Memory) -> Ints:
        heading = np.where(teams.heading < 0, STAY, teams.heading)
        row, column = np.divmod(teams.cell, teams.width)
        to_row, to_column = np.divmod(teams.good_next, teams.width)
        rows = _choose_displacement(
            shortest_displacement(row, to_row, teams.height), heading // 3 - 1
        )
        columns = _choose_displacement(
            shortest_displacement(column, to_column, teams.width), heading % 3 - 1
        )
        sets: Ints = 1 << offset_to_move(Offset(rows, columns))
        return sets
