"""Stigmergy agent: local search on fake rewards with which a team marks what it sees."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sts.plugin import ArgumentError, Memory, jit, jit_inlined
from sts_lambda_star.agents.move_sets import max_cells
from sts_lambda_star.agents.reactive import Reactive, TeamObservation
from sts_lambda_star.domain import Observation
from sts_lambda_star.kernels import Ints
from sts_lambda_star.torus import side_length, wrap

DISCOUNT = 0.5
_LASTING_FACTOR = 0.4
MARK_KINDS = ("one-step", "lasting")


@jit
def choose_moves(teams: TeamObservation, lasting: bool, marks: NDArray[np.float64]) -> Ints:
    """Update the teams' marks and return each role's moves to the best marked cells.

    Lasting marks are averaged, as in the program: float64[B, cells or more] in whole rewards, 0 at
    an episode's start. Marks of one step are a single row in halves, used as scratch space.
    """
    sets = np.empty(teams.cell.shape, np.int64)
    for b in range(len(sets)):
        row, height, width = marks[b if lasting else 0], teams.height[b, 0], teams.width[b, 0]
        for r in range(teams.cell.shape[1]):
            _mark(teams.around[b, r], teams.cell[b, r], height, width, lasting, row)
        for r in range(teams.cell.shape[1]):
            sets[b, r] = _best_moves(row, teams.cell[b, r], height, width)
    return sets


@jit_inlined
def _mark(
    around: NDArray[np.int8],
    cell: int,
    height: int,
    width: int,
    lasting: bool,
    marks: NDArray[np.float64],
) -> None:
    """Mark the cells that one role sees."""
    low = high = int(around[0])
    for m in range(1, around.size):
        low, high = min(low, int(around[m])), max(high, int(around[m]))
    if lasting and high + low == 0:
        return
    fake = DISCOUNT * high + (1.0 - DISCOUNT) * low
    lasting_fake = _LASTING_FACTOR * (0.5 * high + 0.5 * low)
    k = side_length(around.size) // 2
    middle, m = cell // width, 0
    for row in range(middle - k, middle + k + 1):
        start, left = wrap(row, height) * width, cell - middle * width - k
        for column in range(left, left + 2 * k + 1):
            here = start + wrap(column, width)
            if lasting:
                marks[here] = (marks[here] + 0.5 * around[m] + lasting_fake) / 3.0
            else:
                marks[here] = around[m] + fake
            m += 1


@jit_inlined
def _best_moves(values: NDArray[np.float64], cell: int, height: int, width: int) -> int:
    """Return the moves from `cell` to the cells of the highest of `values`."""
    middle = cell // width
    left = cell - middle * width - 1
    top, actions = -np.inf, 0
    for row in range(3):
        start = wrap(middle + row - 1, height) * width
        for column in range(3):
            value = values[start + wrap(left + column, width)]
            actions = 0 if value > top else actions
            top = value if value > top else top
            actions |= 1 << (3 * row + column) if value == top else 0
    return actions


class Stigmergy(Reactive):
    """Agent that moves to a cell of the highest fake reward, ties broken uniformly.

    At every step each role in turn marks the cells that it sees with their reward plus
    g * max + (1 - g) * min of the rewards it sees; on overlapping cells the mark of the later role
    wins. When all have marked, each role moves. The marks last one step, as the algorithm is given
    for one iteration; a role alone is then a local search agent. The paper leaves open: g = 0.5,
    and the roles' order, which is the team's.

    `Stigmergy(marks="lasting")` follows the published program instead (lambdastar_2016.md section
    7, FrLocalSearch.cpp:16): marks F start at 0 and last for the whole episode. Each role in turn
    computes r = 0.4 * (max + min) and, if r is not 0, sets F = (F + reward + r) / 3 on the cells
    that it sees.

    Source: Chmait et al. 2016, section 5.2.2, algorithm 2.
    """

    name = "stigmergy"

    def __init__(self, marks: Literal["one-step", "lasting"] = "one-step") -> None:
        """Set how long marks last: one of `MARK_KINDS`."""
        if marks not in MARK_KINDS:
            raise ArgumentError(f"expected marks {' or '.join(MARK_KINDS)}, found {marks!r}")
        self.marks = marks

    def _initial_memory(self, seen: Observation) -> Memory:
        if self.marks == "one-step":
            return {}
        return {"marks": np.zeros((len(seen.cell), max_cells(seen.height, seen.width)))}

    def _decide(self, teams: TeamObservation, memory: Memory) -> Ints:
        scratch = np.empty((1, 0 if memory else max_cells(teams.height, teams.width)))
        return choose_moves(teams, self.marks == "lasting", memory.get("marks", scratch))
