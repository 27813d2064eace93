"""Local search that a team joins up by stigmergy: fake rewards tell neighbours what is near."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Instructions
from sts.errors import ArgumentError
from sts.numerics.compiled import lean
from sts.worlds.lambda_star.agents.sets import best_cells, largest, side, weights, wrapped
from sts.worlds.lambda_star.domain import Observation

DISCOUNT = 0.5
_LASTING = 0.4
MARKS = ("one-step", "lasting")


@lean
def rule(
    around: NDArray[np.int8],
    cell: NDArray[np.int64],
    height: int,
    width: int,
    lasting: bool,
    marks: NDArray[np.float64],
    sets: NDArray[np.int64],
) -> None:
    """Writes one team's marks to `marks`, then each role's best marked moves to `sets`.

    Args:
      around: int8[R, M], rewards in halves.
      cell: int64[R].
      height: the grid's rows.
      width: its columns.
      lasting: whether marks last and are averaged, as in the program.
      marks: float64[cells or more]; in halves and overwritten wherever it is read, or, lasting, in
        whole rewards, 0 at an episode's start.
      sets: int64[R], written.
    """
    for r in range(cell.size):
        low = high = int(around[r, 0])
        for m in range(1, around.shape[1]):
            low = min(low, int(around[r, m]))
            high = max(high, int(around[r, m]))
        if not lasting:
            mark = DISCOUNT * high + (1.0 - DISCOUNT) * low
            _write(around[r], cell[r], height, width, mark, marks)
        elif high + low != 0:
            mark = _LASTING * (0.5 * high + 0.5 * low)
            _average(around[r], cell[r], height, width, mark, marks)
    for r in range(cell.size):
        sets[r] = best_cells(marks, cell[r], height, width)


@lean
def _write(
    around: NDArray[np.int8],
    cell: int,
    height: int,
    width: int,
    mark: float,
    marks: NDArray[np.float64],
) -> None:
    long = side(around.size)
    middle = cell // width
    above, left = middle - long // 2, cell - middle * width - long // 2
    for row in range(long):
        start = wrapped(above + row, height) * width
        for column in range(long):
            here = start + wrapped(left + column, width)
            marks[here] = around[row * long + column] + mark


@lean
def _average(
    around: NDArray[np.int8],
    cell: int,
    height: int,
    width: int,
    mark: float,
    marks: NDArray[np.float64],
) -> None:
    long = side(around.size)
    middle = cell // width
    above, left = middle - long // 2, cell - middle * width - long // 2
    for row in range(long):
        start = wrapped(above + row, height) * width
        for column in range(long):
            here = start + wrapped(left + column, width)
            marks[here] = (marks[here] + 0.5 * around[row * long + column] + mark) / 3.0


@lean
def _teams(
    around: NDArray[np.int8],
    cell: NDArray[np.int64],
    height: NDArray[np.int64],
    width: NDArray[np.int64],
    lasting: bool,
    marks: NDArray[np.float64],
    sets: NDArray[np.int64],
) -> None:
    for b in range(sets.shape[0]):
        own = marks[b] if lasting else marks[0]
        rule(around[b], cell[b], height[b], width[b], lasting, own, sets[b])


class Stigmergy(Agent):
    """Moves to a cell of the highest fake reward, ties broken uniformly.

    At every step each role in turn marks the cells that it sees with their reward plus
    g * max + (1 - g) * min of the rewards it sees; where neighbourhoods overlap, the mark of the
    role that comes later stands. When all have marked, each role moves. The marks last one step, as
    the algorithm is given for one iteration; a role alone is then a local search agent. Chosen
    here, where the source is silent: g = 0.5, and roles take their turns in the team's order.

    `Stigmergy(marks="lasting")` follows the published program instead (lambdastar_2016.md section
    7, FrLocalSearch.cpp:16): marks F, 0 at the start of an episode, last for the whole of it. Each
    role in turn takes r = 0.4 * (max + min) and, where r is not 0, makes F = (F + reward + r) / 3
    on the cells that it sees.

    Source: Chmait et al. 2016, section 5.2.2, algorithm 2.
    """

    name = "stigmergy"
    domain = "lambda-star"

    def __init__(self, marks: Literal["one-step", "lasting"] = "one-step") -> None:
        """Takes how long marks last.

        Raises:
          ArgumentError: `marks` is not one of `MARKS`.
        """
        if marks not in MARKS:
            raise ArgumentError(f"expected marks {' or '.join(MARKS)}, found {marks!r}")
        self.marks = marks

    def act(
        self,
        observation: Observation,
        instructions: Instructions,
        memory: dict[str, NDArray[Any]],
        draws: NDArray[np.float64],
    ) -> tuple[Choice, dict[str, NDArray[Any]]]:
        """Returns equal weights over the reachable cells that are marked best."""
        o, lasting = observation, self.marks == "lasting"
        sets = np.empty(o.cell.shape, np.int64)
        cells = largest(o.height, o.width)
        if not lasting:
            marks = np.empty((1, cells))
        elif "marks" in memory:
            marks = memory["marks"].copy()
        else:
            marks = np.zeros((len(sets), cells))
        _teams(o.reward, o.cell, o.height, o.width, lasting, marks, sets)
        return Choice(weights(sets)), {"marks": marks} if lasting else memory
