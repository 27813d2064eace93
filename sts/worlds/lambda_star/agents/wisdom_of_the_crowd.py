"""The wisdom of the crowd: a team averages what it sees and goes where that is best."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Instructions
from sts.numerics.compiled import lean
from sts.worlds.lambda_star.agents.sets import largest, once, side, toward, weights, wrapped
from sts.worlds.lambda_star.domain import Observation


@lean
def rule(
    around: NDArray[np.int8],
    cell: NDArray[np.int64],
    height: int,
    width: int,
    draws: NDArray[np.float64],
    values: NDArray[np.float64],
    sets: NDArray[np.int64],
) -> None:
    """Averages what one team sees into `values`, then writes each role's one move to `sets`.

    Args:
      around: int8[R, M], rewards in halves.
      cell: int64[R].
      height: the grid's rows.
      width: its columns.
      draws: float64[R], which of several best cells each role makes for.
      values: float64[cells or more], in halves; 0 at an episode's start.
      sets: int64[R], written.
    """
    for r in range(cell.size):
        _average(around[r], cell[r], height, width, values)
    cells = height * width
    top = _highest(values, cells)
    ties = goal = 0
    for c in range(cells):
        ties += 1 if values[c] == top else 0
        goal += c if values[c] == top else 0
    for r in range(cell.size):
        if ties > 1:
            goal = _tied(values, cells, top, int(draws[r] * ties))
        sets[r] = once(toward(cell[r], goal, height, width))


@lean
def _highest(values: NDArray[np.float64], cells: int) -> float:
    """Returns the highest value; four by four, as one long chain of comparisons is slow."""
    a = b = c = d = values[0]
    for i in range(3, cells, 4):
        a, b = max(a, values[i - 3]), max(b, values[i - 2])
        c, d = max(c, values[i - 1]), max(d, values[i])
    for i in range(cells - cells % 4, cells):
        a = max(a, values[i])
    return float(max(max(a, b), max(c, d)))


@lean
def _average(
    around: NDArray[np.int8], cell: int, height: int, width: int, values: NDArray[np.float64]
) -> None:
    """Takes up the rewards that one role sees; cells without any keep their value."""
    long = side(around.size)
    middle = cell // width
    above, left = middle - long // 2, cell - middle * width - long // 2
    for row in range(long):
        start = wrapped(above + row, height) * width
        for column in range(long):
            here = start + wrapped(left + column, width)
            reward, value = around[row * long + column], values[here]
            values[here] = 0.5 * (value + reward) if reward != 0 else value


@lean
def _tied(values: NDArray[np.float64], cells: int, top: float, number: int) -> int:
    """Returns cell `number`, from 0 and row by row, of those whose value is `top`."""
    for c in range(cells):
        if values[c] == top:
            if number == 0:
                return c
            number -= 1
    return 0


@lean
def _teams(
    around: NDArray[np.int8],
    cell: NDArray[np.int64],
    height: NDArray[np.int64],
    width: NDArray[np.int64],
    draws: NDArray[np.float64],
    values: NDArray[np.float64],
    sets: NDArray[np.int64],
) -> None:
    for b in range(sets.shape[0]):
        rule(around[b], cell[b], height[b], width[b], draws[b], values[b], sets[b])


class WisdomOfTheCrowd(Agent):
    """Makes for the cell of the whole grid that the team together values most.

    The team keeps a value V of every cell, 0 at the start. At every step each role in turn makes
    V = (V + reward) / 2 on the cells it sees that have a reward, so that a reward seen once is
    halved by what is seen there later but never erased by nothing being there. Then each role takes
    a shortest way to a cell of the highest V of the whole grid, drawing its own among equals: at
    first any cell.

    The rule is the published program's (lambdastar_2016.md section 7, WocLocalSearch.cpp:23); the
    paper has none. Chosen here, where the program is silent: of a wider sight all cells are valued.
    """

    name = "wisdom-of-the-crowd"
    domain = "lambda-star"
    draws = 1

    def act(
        self,
        observation: Observation,
        instructions: Instructions,
        memory: dict[str, NDArray[Any]],
        draws: NDArray[np.float64],
    ) -> tuple[Choice, dict[str, NDArray[Any]]]:
        """Returns all weight on the way to the cell valued most, and the values."""
        o = observation
        sets = np.empty(o.cell.shape, np.int64)
        if "values" in memory:
            values = memory["values"].copy()
        else:
            values = np.zeros((len(sets), largest(o.height, o.width)))
        _teams(o.reward, o.cell, o.height, o.width, draws[..., 0], values, sets)
        return Choice(weights(sets)), {"values": values}
