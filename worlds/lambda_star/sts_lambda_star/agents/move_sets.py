"""Bit sets of equally likely moves, which every reactive agent returns.

A set is an int of nine bits, bit m for move m. A neighbourhood has M = (2k + 1)^2 cells, row by row
around the agent's own cell; a move reaches its 3 x 3 middle.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.plugin import callable_from_jit, jit
from sts_lambda_star.torus import side_length

MOVES = 9
ALL_MOVES = (1 << MOVES) - 1

_WEIGHTS = (np.arange(ALL_MOVES + 1)[:, None] >> np.arange(MOVES) & 1).astype(np.float64)
_MEMBERS = _WEIGHTS.sum(1)
_NTH = np.argsort(-_WEIGHTS, axis=1, kind="stable").astype(np.int8)


def to_weights(sets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return float64[..., 9] for sets [...]: weight 1 for each member and 0 for the rest."""
    return _WEIGHTS.take(sets, 0)


@callable_from_jit
def pick_move(actions: Any, u: Any) -> Any:
    """Return the move that u, in [0, 1), selects from a non-empty set.

    It is number floor(u * members), ascending, like `sampling.pick` with equal weights.
    """
    return np.int64(_NTH[actions, np.int64(u * _MEMBERS[actions])])


def crop_reachable(around: NDArray[Any]) -> NDArray[Any]:
    """Return [..., 9], the cells of neighbourhoods [..., M] that each move reaches."""
    length = side_length(around.shape[-1])
    first = length // 2 - 1
    square = around.reshape(*around.shape[:-1], length, length)
    near = square[..., first : first + 3, first : first + 3]
    return near.reshape(*around.shape[:-1], MOVES)


@jit
def best_moves(values: NDArray[np.int8]) -> NDArray[np.int64]:
    """Return int64[B, R], the sets of the moves with the highest of `values`, int8[B, R, 9]."""
    sets = np.empty(values.shape[:2], np.int64)
    for b in range(values.shape[0]):
        for r in range(values.shape[1]):
            highest, chosen = values[b, r, 0], 0
            for move in range(1, MOVES):
                highest = max(highest, values[b, r, move])
            for move in range(MOVES):
                chosen |= (values[b, r, move] == highest) << move
            sets[b, r] = chosen
    return sets


def max_cells(height: NDArray[Any], width: NDArray[Any]) -> int:
    """Return the number of cells of the largest grid in a batch."""
    return int((height * width).max())
