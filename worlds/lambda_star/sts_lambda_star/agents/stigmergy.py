"""Stigmergy agent: local search on fake rewards with which a team marks what it sees."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sts.plugin import ArgumentError, Memory, jit, jit_inlined
from sts_lambda_star.agents.move_sets import max_cells
from sts_lambda_star.agents.reactive import Reactive
from sts_lambda_star.agents.team_sight import TeamSight
from sts_lambda_star.kernels import Ints
from sts_lambda_star.torus import side_length, wrap

DISCOUNT = 0.5
_LASTING_FACTOR = 0.4
MARK_KINDS = ("one-step", "lasting")


@jit
def choose_moves(team: TeamSight, lasting: bool, marks: NDArray[np.float64]) -> None:
    """Update the teams' marks and allow each role's moves to the best marked cells.

    Lasting marks are averaged, as in the program: float64[B, cells or more] in whole rewards, 0 at
    an episode's start. Marks of one step are a single row in halves, used as scratch space.
    """
    for b in range(team.sets.shape[1]):
        row = marks[b if lasting else 0]
        for r in range(team.sets.shape[0]):
            _mark(team, r, b, lasting, row)
        for r in range(team.sets.shape[0]):
            team.sets[r, b] = _find_best_moves(team, r, b, row)


@jit_inlined
def _mark(team: TeamSight, r: int, b: int, lasting: bool, marks: NDArray[np.float64]) -> None:
    """Mark the cells that one role sees."""
    around, height, width = team.around[r], int(team.height[b]), int(team.width[b])
    low = high = int(around[0, b])
    for m in range(1, around.shape[0]):
        low, high = min(low, int(around[m, b])), max(high, int(around[m, b]))
    if lasting and high + low == 0:
        return
    fake = DISCOUNT * high + (1.0 - DISCOUNT) * low
    lasting_fake = _LASTING_FACTOR * (0.5 * high + 0.5 * low)
    k, m = side_length(around.shape[0]) // 2, 0
    top, left = int(team.rows[r, b]) - k, int(team.columns[r, b]) - k
    for row in range(top, top + 2 * k + 1):
        start = wrap(row, height) * width
        for column in range(left, left + 2 * k + 1):
            here = start + wrap(column, width)
            if lasting:
                marks[here] = (marks[here] + 0.5 * around[m, b] + lasting_fake) / 3.0
            else:
                marks[here] = around[m, b] + fake
            m += 1


@jit_inlined
def _find_best_moves(team: TeamSight, r: int, b: int, values: NDArray[np.float64]) -> int:
    """Return the moves of a role to the cells of the highest of `values`."""
    height, width = int(team.height[b]), int(team.width[b])
    above, left = int(team.rows[r, b]) - 1, int(team.columns[r, b]) - 1
    top, actions = -np.inf, 0
    for row in range(3):
        start = wrap(above + row, height) * width
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
