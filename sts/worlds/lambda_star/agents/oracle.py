"""The oracle: it knows where Good goes next."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Instructions
from sts.numerics.compiled import lean
from sts.worlds.lambda_star.agents.sets import STAY, once, sign, way, weights
from sts.worlds.lambda_star.domain import Observation


@lean
def rule(
    cell: NDArray[np.int64],
    good_next: int,
    heading: int,
    height: int,
    width: int,
    sets: NDArray[np.int64],
) -> None:
    """Writes each role's one move to `sets`, int64[R].

    Args:
      cell: int64[R].
      good_next: the cell that Good intends next.
      heading: the one move that Good repeats for ever; -1 where it does not.
      height: the grid's rows.
      width: its columns.
      sets: int64[R], written.
    """
    heading = STAY if heading < 0 else heading
    down, right = heading // 3 - 1, heading % 3 - 1
    row, column = good_next // width, good_next % width
    for r in range(cell.size):
        rows = _step(way(cell[r] // width, row, height), down)
        columns = _step(way(cell[r] % width, column, width), right)
        sets[r] = once(3 * rows + columns + STAY)


@lean
def _step(gap: int, heading: int) -> int:
    """Returns the step on one axis: to meet Good where it runs away, else to approach it."""
    near = sign(gap)
    if near == heading and (gap > 1 or gap < -1):
        return -near
    return near


@lean
def _teams(
    cell: NDArray[np.int64],
    good_next: NDArray[np.int64],
    heading: NDArray[np.int64],
    height: NDArray[np.int64],
    width: NDArray[np.int64],
    sets: NDArray[np.int64],
) -> None:
    for b in range(sets.shape[0]):
        rule(cell[b], good_next[b], heading[b], height[b], width[b], sets[b])


class Oracle(Agent):
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
    domain = "lambda-star"
    sees = "world"
    deterministic = True

    def act(
        self,
        observation: Observation,
        instructions: Instructions,
        memory: dict[str, NDArray[Any]],
        draws: NDArray[np.float64],
    ) -> tuple[Choice, dict[str, NDArray[Any]]]:
        """Returns all weight on the way to Good's next cell, or to where they meet."""
        o = observation
        assert o.good_next is not None and o.good_heading is not None
        sets = np.empty(o.cell.shape, np.int64)
        _teams(o.cell, o.good_next, o.good_heading, o.height, o.width, sets)
        return Choice(weights(sets)), memory
