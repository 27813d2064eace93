"""Stigmergy agent: local search on fake rewards with which a team marks what it sees."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sts.plugin import ArgumentError, Memory, jit, jit_inlined
from sts_lambda_star.agents.move_sets import MOVES, max_cells
from sts_lambda_star.agents.reactive import Reactive
from sts_lambda_star.agents.team_sight import TeamSight, write_cells
from sts_lambda_star.kernels import Ints
from sts_lambda_star.torus import side_length

DISCOUNT = 0.5
_LASTING_FACTOR = 0.4
MARK_KINDS = ("one-step", "lasting")


@jit
def choose_moves(team: TeamSight, lasting: bool, marks: NDArray[np.float64]) -> None:
    """Update the teams' marks and allow each role's moves to the best marked cells.

    Lasting marks are averaged, as in the program: float64[B, cells or more] in whole rewards, 0 at
    an episode's start. Marks of one step are a single row in halves, used as scratch space.
    """
    cells = np.empty(team.around.shape[1:], np.int64)
    for b in range(team.sets.shape[1]):
        _mark_and_choose(team, b, lasting, marks, cells)


@jit_inlined
def _mark_and_choose(
    team: TeamSight, b: int, lasting: bool, marks: NDArray[np.float64], cells: Ints
) -> None:
    """Choose as `choose_moves` in one world; `cells`, int64[R, M], is scratch space."""
    row, side = marks[b if lasting else 0], side_length(cells.shape[1])
    middle = (side // 2 - 1) * (side + 1)
    for r in range(team.sets.shape[0]):
        write_cells(team, r, b, side // 2, cells[r])
        _mark(team.around[b, r], cells[r], lasting, row)
    for r in range(team.sets.shape[0]):
        top, actions = -np.inf, 0
        for move in range(MOVES):
            value = row[np.uint64(cells[r, middle + move // 3 * side + move % 3])]
            actions = 0 if value > top else actions
            top = value if value > top else top
            actions |= (value == top) << move
        team.sets[r, b] = actions


@jit_inlined
def _mark(around: NDArray[np.int8], cells: Ints, lasting: bool, marks: NDArray[np.float64]) -> None:
    """Mark the cells that one role sees."""
    low = high = int(around[0])
    for m in range(1, around.size):
        low, high = min(low, int(around[m])), max(high, int(around[m]))
    if lasting:
        if high + low != 0:
            fake = _LASTING_FACTOR * (0.5 * high + 0.5 * low)
            for m in range(around.size):
                marks[cells[m]] = (marks[cells[m]] + 0.5 * around[m] + fake) / 3.0
    else:
        fake = DISCOUNT * high + (1.0 - DISCOUNT) * low
        for m in range(around.size):
            marks[np.uint64(cells[m])] = around[m] + fake


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
    leaves_choice = True
    reads = "neighbourhood"

    def __init__(self, marks: Literal["one-step", "lasting"] = "one-step") -> None:
        """Set how long marks last: one of `MARK_KINDS`."""
        if marks not in MARK_KINDS:
            raise ArgumentError(f"expected marks {' or '.join(MARK_KINDS)}, found {marks!r}")
        self.marks = marks

    def _initial_memory(self, cells: Ints, height: Ints, width: Ints) -> Memory:
        if self.marks == "one-step":
            return {}
        return {"marks": np.zeros((len(cells), max_cells(height, width)))}

    def _decide(self, team: TeamSight, memory: Memory) -> None:
        scratch = np.empty((1, 0 if memory else max_cells(team.height, team.width)))
        choose_moves(team, self.marks == "lasting", memory.get("marks", scratch))
