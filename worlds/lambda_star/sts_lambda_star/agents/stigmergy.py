"""Stigmergy agent: local search on fake rewards with which a team marks what it sees."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sts.plugin import ArgumentError, Memory, jit, jit_inlined
from sts_lambda_star.agents.move_sets import MOVES, max_cells
from sts_lambda_star.agents.reactive import Reactive
from sts_lambda_star.agents.team_sight import TeamSight, find_highest, write_cells
from sts_lambda_star.kernels import Ints
from sts_lambda_star.lanes import Shorts, ring_distance
from sts_lambda_star.torus import side_length

_LASTING_FACTOR = 0.4
MARK_KINDS = ("one-step", "lasting")


@jit
def mark_for_a_step(team: TeamSight) -> None:
    """Allow each role's moves to the cells with the best marks of this step.

    A mark is the cell's reward and what the last role that sees the cell adds, here in quarters.
    """
    roles, n = team.sets.shape
    side = side_length(team.around.shape[1])
    first, added = (side // 2 - 1) * (side + 1), np.empty((roles, n), np.int16)
    marks, top = np.empty((MOVES, n), np.int16), np.empty(n, np.int16)
    near = np.empty((2, 3, n), np.bool_)
    for r in range(roles):
        _write_added(team.around[r], top, added[r])
    for r in range(roles):
        for move in range(MOVES):
            _start(added[r], marks[move])
        for later in range(r + 1, roles):
            for shift in range(3):
                rows, columns = near[0, shift], near[1, shift]
                _see(team.rows[r], team.rows[later], team.height, shift - 1, side // 2, rows)
                _see(
                    team.columns[r], team.columns[later], team.width, shift - 1, side // 2, columns
                )
            for move in range(MOVES):
                _replace(near[0, move // 3], near[1, move % 3], added[later], marks[move])
        for move in range(MOVES):
            _add_reward(team.around[r, first + move // 3 * side + move % 3], marks[move])
        find_highest(marks, team.sets[r], top)


@jit_inlined
def _write_added(around: NDArray[np.int8], low: Shorts, added: Shorts) -> None:
    """Write what a role adds to marks, int16[B], from what it sees, int8[M, B]."""
    for b in range(len(low)):
        low[b], added[b] = around[0, b], around[0, b]
    for m in range(1, len(around)):
        reward = around[m]
        for b in range(len(low)):
            low[b] = min(low[b], reward[b])
        for b in range(len(low)):
            added[b] = max(added[b], reward[b])
    for b in range(len(low)):
        added[b] += low[b]


@jit_inlined
def _start(added: Shorts, marks: Shorts) -> None:
    """Mark a cell by the role that can reach it."""
    for b in range(len(marks)):
        marks[b] = added[b]


@jit_inlined
def _add_reward(reward: NDArray[np.int8], marks: Shorts) -> None:
    """Add a cell's reward to its mark."""
    for b in range(len(marks)):
        marks[b] += 2 * reward[b]


@jit_inlined
def _see(
    start: Shorts, goal: Shorts, size: Shorts, shift: int, reach: int, near: NDArray[np.bool_]
) -> None:
    """Write whether a role on `goal` sees the row or column `shift` from `start`."""
    for b in range(len(near)):
        near[b] = ring_distance(start[b] + np.int16(shift), goal[b], size[b]) <= reach


@jit_inlined
def _replace(
    down: NDArray[np.bool_], right: NDArray[np.bool_], added: Shorts, marks: Shorts
) -> None:
    """Replace marks of a cell by what a later role adds, where it sees the cell."""
    for b in range(len(marks)):
        marks[b] += (added[b] - marks[b]) * (down[b] & right[b])


@jit
def choose_lasting(team: TeamSight, marks: NDArray[np.float64]) -> None:
    """Update the teams' lasting marks and allow each role's moves to the best marked cells.

    They are averaged, as in the program: float64[B, cells or more] in whole rewards, 0 at an
    episode's start.
    """
    cells = np.empty(team.around.shape[:2], np.int64)
    for b in range(team.sets.shape[1]):
        _mark_and_choose(team, b, marks[b], cells)


@jit_inlined
def _mark_and_choose(team: TeamSight, b: int, row: NDArray[np.float64], cells: Ints) -> None:
    """Choose as `choose_lasting` in one world; `cells`, int64[R, M], is scratch space."""
    side = side_length(cells.shape[1])
    middle = (side // 2 - 1) * (side + 1)
    for r in range(team.sets.shape[0]):
        write_cells(team, r, b, side // 2, cells[r])
        _mark(team.around[r], b, cells[r], row)
    for r in range(team.sets.shape[0]):
        top, actions = -np.inf, 0
        for move in range(MOVES):
            value = row[np.uint64(cells[r, middle + move // 3 * side + move % 3])]
            actions = 0 if value > top else actions
            top = value if value > top else top
            actions |= (value == top) << move
        team.sets[r, b] = actions


@jit_inlined
def _mark(around: NDArray[np.int8], b: int, cells: Ints, marks: NDArray[np.float64]) -> None:
    """Mark the cells that one role sees in one world; `around` is int8[M, B]."""
    low = high = int(around[0, b])
    for m in range(1, len(around)):
        low, high = min(low, int(around[m, b])), max(high, int(around[m, b]))
    if high + low != 0:
        fake = _LASTING_FACTOR * (0.5 * high + 0.5 * low)
        for m in range(len(around)):
            marks[cells[m]] = (marks[cells[m]] + 0.5 * around[m, b] + fake) / 3.0


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
        if self.marks == "lasting":
            choose_lasting(team, memory["marks"])
        else:
            mark_for_a_step(team)
