"""Observations of teams of reactive agents, as rules read them: worlds are side by side.

Agents of the protocol and compiled episodes call the same rules on it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import jit, jit_inlined
from sts_lambda_star.agents.move_sets import MOVES, pick_move
from sts_lambda_star.arrays import Ints
from sts_lambda_star.lanes import Shorts
from sts_lambda_star.torus import (
    Offset,
    offset_to_move,
    shortest_displacement,
    side_length,
    wrap,
)


class TeamSight(NamedTuple):
    """Observations of R roles in each of B worlds at one step, M cells each, and their choices.

    Arrays that a rule does not read may be empty.
    """

    height: Shorts  # int16[B], the grids' rows
    width: Shorts  # int16[B], their columns
    rows: Shorts  # int16[R, B], the roles' places
    columns: Shorts  # int16[R, B]
    around: NDArray[np.int8]  # int8[R, M, B], rewards in halves
    best: Shorts  # int16[R, B], the sets of the moves with the highest reward; see `find_best`
    top: Shorts  # int16[R, B], that reward
    next_rows: Shorts  # int16[B], where Good intends to be next; only for rules that see the world
    next_columns: Shorts  # int16[B]
    heading: Shorts  # int16[B], the single move that Good repeats, or -1; only for the same rules
    draws: NDArray[np.float64]  # float64[R, B], only for rules with random planning
    sets: Shorts  # int16[R, B], the moves that the rule allows; written by it


@jit
def find_best(around: NDArray[np.int8], best: Shorts, top: Shorts) -> None:
    """Write the sets of moves with the highest reward, int16[R, B], and that reward, int16[R, B].

    `around` is int8[R, M, B]. With a larger sight, still only the nine cells that a move can reach
    count.
    """
    for r in range(len(around)):
        find_highest(around[r], best[r], top[r])


@jit_inlined
def find_highest(values: NDArray[Any], best: Shorts, top: Shorts) -> None:
    """Write the sets of moves to the highest of a role's values, [M, B], and those, int16[B]."""
    side = side_length(len(values))
    first = (side // 2 - 1) * (side + 1)
    for b in range(len(top)):
        top[b], best[b] = values[first, b], 0
    for move in range(1, MOVES):
        row = values[first + move // 3 * side + move % 3]
        for b in range(len(top)):
            top[b] = max(top[b], row[b])
    for move in range(MOVES):
        row = values[first + move // 3 * side + move % 3]
        for b in range(len(top)):
            best[b] |= (row[b] == top[b]) << move


@jit_inlined
def write_cells(team: TeamSight, r: int, b: int, k: int, out: Ints) -> None:
    """Write the cells within k of a role, int64[(2k + 1)^2], row by row."""
    height, width, side = int(team.height[b]), int(team.width[b]), 2 * k + 1
    above, left = int(team.rows[r, b]) - k, int(team.columns[r, b]) - k
    start = wrap(above, height) * width
    for column in range(side):
        out[column] = start + wrap(left + column, width)
    for row in range(1, side):
        down = wrap(above + row, height) * width - start
        for column in range(side):
            out[row * side + column] = out[column] + down


@jit_inlined
def draw_target(team: TeamSight, r: int, b: int) -> tuple[int, int]:
    """Return a best place in a role's reach, by row and column, ties broken by its draw."""
    move = pick_move(team.best[r, b], team.draws[r, b])
    row = wrap(int(team.rows[r, b]) + move // 3 - 1, int(team.height[b]))
    return row, wrap(int(team.columns[r, b]) + move % 3 - 1, int(team.width[b]))


@jit_inlined
def find_offset(team: TeamSight, r: int, b: int, row: int, column: int) -> Offset:
    """Return the shortest displacement from a role to a place."""
    down = shortest_displacement(int(team.rows[r, b]), row, int(team.height[b]))
    return Offset(down, shortest_displacement(int(team.columns[r, b]), column, int(team.width[b])))


@jit_inlined
def head_for(team: TeamSight, r: int, b: int, row: int, column: int) -> None:
    """Let a role take the first move of a shortest path to a place."""
    team.sets[r, b] = 1 << offset_to_move(find_offset(team, r, b, row, column))
