"""Sets of moves that are equally likely: what every reactive behaviour answers with.

A set is an int of nine bits, bit m for move m. A neighbourhood has M = (2k + 1)^2 cells, row by row
around the own one; a move reaches its 3 x 3 middle. Cells are row * width + column.

`values` arrays are indexed by cell and may be longer than the grid.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.numerics.compiled import lean

MOVES = 9
STAY = 4
ALL = (1 << MOVES) - 1

_MEMBERS = np.array([moves.bit_count() for moves in range(ALL + 1)])
_WEIGHTS = (np.arange(ALL + 1)[:, None] >> np.arange(MOVES) & 1).astype(np.float64)
_NTH = np.argsort(-_WEIGHTS, axis=1, kind="stable")


def weights(sets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns float64[..., 9] for sets [...]: weight 1 for each member and 0 for the rest."""
    return _WEIGHTS[sets]


@lean
def once(move: int) -> int:
    """Returns the set of one move."""
    return 1 << move


@lean
def nth(moves: int, u: float) -> int:
    """Returns the move that u, in [0, 1), picks from a set that is not empty.

    It is number floor(u * members), ascending, as `lockstep.pick` has it for equal weights.
    """
    return int(_NTH[moves, int(u * _MEMBERS[moves])])


@lean
def side(cells: int) -> int:
    """Returns 2k + 1 of a neighbourhood of (2k + 1)^2 cells."""
    long = 3
    while long * long < cells:
        long += 2
    return long


@lean
def corner(long: int) -> int:
    """Returns where the 3 x 3 middle begins in a neighbourhood that is `long` cells wide."""
    return (long // 2 - 1) * (long + 1)


@lean
def highest(around: NDArray[np.int8]) -> int:
    """Returns the highest of the nine reachable rewards in a neighbourhood, int8[M]."""
    long = side(around.size)
    first = corner(long)
    top = around[first]
    for row in range(3):
        for column in range(3):
            top = max(top, around[first + row * long + column])
    return int(top)


@lean
def best(around: NDArray[np.int8]) -> int:
    """Returns the reachable moves of the highest reward in a neighbourhood, int8[M]."""
    long = side(around.size)
    first = corner(long)
    top, moves = highest(around), 0
    for row in range(3):
        for column in range(3):
            if around[first + row * long + column] == top:
                moves |= 1 << (3 * row + column)
    return moves


@lean
def best_cells(values: NDArray[np.float64], cell: int, height: int, width: int) -> int:
    """Returns the moves from `cell` to the cells of the highest of `values`."""
    middle = cell // width
    left = cell - middle * width - 1
    top, moves = -np.inf, 0
    for row in range(3):
        start = wrapped(middle + row - 1, height) * width
        for column in range(3):
            value = values[start + wrapped(left + column, width)]
            moves = 0 if value > top else moves
            top = value if value > top else top
            moves |= 1 << (3 * row + column) if value == top else 0
    return moves


@lean
def wrapped(coordinate: int, size: int) -> int:
    """Returns a coordinate less than once round outside a ring of `size`, on it."""
    if coordinate < 0:
        return coordinate + size
    return coordinate - size if coordinate >= size else coordinate


@lean
def way(start: int, goal: int, size: int) -> int:
    """Returns the signed nearest way on a ring; halfway round, the one that crosses no edge.

    Source: the published program's approachPosition, General.cpp:296 (lambdastar_2016.md section
    6).
    """
    direct = goal - start
    if 2 * direct > size:
        return direct - size
    return direct + size if -2 * direct > size else direct


@lean
def sign(number: int) -> int:
    """Returns -1, 0 or 1."""
    return 1 if number > 0 else (-1 if number < 0 else 0)


@lean
def toward(cell: int, goal: int, height: int, width: int) -> int:
    """Returns the first move of a shortest way, both axes at once; "stay" on the goal itself."""
    row, goal_row = cell // width, goal // width
    rows = way(row, goal_row, height)
    columns = way(cell - row * width, goal - goal_row * width, width)
    return 3 * sign(rows) + sign(columns) + STAY


def largest(height: NDArray[Any], width: NDArray[Any]) -> int:
    """Returns how many cells the largest grid of a batch has."""
    return int((height * width).max())
