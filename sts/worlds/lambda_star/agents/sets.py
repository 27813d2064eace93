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
from sts.worlds.lambda_star.torus import side, wrapped

MOVES = 9
ALL = (1 << MOVES) - 1

_WEIGHTS = (np.arange(ALL + 1)[:, None] >> np.arange(MOVES) & 1).astype(np.float64)
_MEMBERS = _WEIGHTS.sum(1)
_NTH = np.argsort(-_WEIGHTS, axis=1, kind="stable").astype(np.int8)


def weights(sets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns float64[..., 9] for sets [...]: weight 1 for each member and 0 for the rest."""
    return _WEIGHTS.take(sets, 0)


@lean
def nth(moves: int, u: float) -> int:
    """Returns the move that u, in [0, 1), picks from a set that is not empty.

    It is number floor(u * members), ascending, as `sampling.pick` has it for equal weights.
    """
    return int(_NTH[moves, int(u * _MEMBERS[moves])])


@lean
def reached(move: int, long: int) -> int:
    """Returns the entry that a move reaches in a neighbourhood that is `long` cells wide."""
    return (move // 3 + long // 2 - 1) * long + move % 3 + long // 2 - 1


@lean
def highest(around: NDArray[np.int8]) -> int:
    """Returns the highest of the nine reachable rewards in a neighbourhood, int8[M]."""
    long = side(around.size)
    top = around[reached(0, long)]
    for move in range(1, MOVES):
        top = max(top, around[reached(move, long)])
    return int(top)


@lean
def best(around: NDArray[np.int8]) -> int:
    """Returns the reachable moves of the highest reward in a neighbourhood, int8[M]."""
    long, top, moves = side(around.size), highest(around), 0
    for move in range(MOVES):
        moves |= (around[reached(move, long)] == top) << move
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


def largest(height: NDArray[Any], width: NDArray[Any]) -> int:
    """Returns how many cells the largest grid of a batch has."""
    return int((height * width).max())
