"""The oracle: it knows where Good goes next."""

from __future__ import annotations

import numpy as np

from sts.agents.protocol import Memory
from sts.worlds.lambda_star.agents.reactive import Reactive, Teams
from sts.worlds.lambda_star.kernels import Ints
from sts.worlds.lambda_star.torus import STAY, Offset, step, way


def _met(nearest: Ints, heading: Ints) -> Ints:
    """Return the way on one axis: to meet Good where it runs away, else to approach it."""
    return np.where(nearest * heading > 1, -nearest, nearest)


class Oracle(Reactive):
    """Approaches the cell that Good intends next, or goes to meet a Good that runs away for ever.

    It takes a shortest way on the torus, both axes at once; halfway round, the way that crosses no
    edge. It minds neither Evil nor instructions. Where Good's whole pattern is one move that leads
    away from it, it goes the opposite way until they meet, and then keeps with Good.

    Chosen here, where the source is silent: "a constant movement pattern" is a pattern that never
    does anything else, and the axes are taken one by one, because Good may run away along the rows
    and not along the columns. On an axis it runs away where the nearest way to its next cell is
    the way it goes itself and longer than one, as no pursuit would ever shorten it; one cell behind
    it is caught at once. They meet within half the longer side, rounded down: of a ring of n cells
    at most n - 2 separate them the opposite way, and two are closed a step.

    The rule is the paper's alone: its program only approaches (lambdastar_2016.md section 7,
    Oracle.cpp:21).

    Source: Chmait et al. 2016, section 5.2.1, expert agent.
    """

    name = "oracle"
    sees = "world"
    deterministic = True

    def _decide(self, teams: Teams, kept: Memory) -> Ints:
        heading = np.where(teams.heading < 0, STAY, teams.heading)
        row, column = np.divmod(teams.cell, teams.width)
        to_row, to_column = np.divmod(teams.good_next, teams.width)
        rows = _met(way(row, to_row, teams.height), heading // 3 - 1)
        columns = _met(way(column, to_column, teams.width), heading % 3 - 1)
        sets: Ints = 1 << step(Offset(rows, columns))
        return sets
