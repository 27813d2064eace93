"""Bit sets of equally likely moves, which every reactive agent returns.

A set is an int of nine bits, bit m for move m. A neighbourhood has M = (2k + 1)^2 cells, row by row
around the agent's own cell; a move reaches its 3 x 3 middle.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.plugin import callable_from_jit

MOVES = 9
ALL_MOVES = (1 << MOVES) - 1

_WEIGHTS = (np.arange(ALL_MOVES + 1)[:, None] >> np.arange(MOVES) & 1).astype(np.float64)
_MEMBERS = _WEIGHTS.sum(1)
_NTH = np.argsort(-_WEIGHTS, axis=1, kind="stable").astype(np.int8)


def to_weights(sets: NDArray[np.signedinteger[Any]]) -> NDArray[np.float64]:
    """Return float64[..., 9] for sets [...]: weight 1 for each member and 0 for the rest."""
    return _WEIGHTS.take(sets, 0)


@callable_from_jit
def pick_move(actions: Any, u: Any) -> Any:
    """Return the move that u, in [0, 1), selects from a non-empty set.

    It is number floor(u * members), ascending, like `sampling.pick` with equal weights.
    """
    return np.int64(_NTH[actions, np.int64(u * _MEMBERS[actions])])


def max_cells(height: NDArray[Any], width: NDArray[Any]) -> int:
    """Return the number of cells of the largest grid in a batch."""
    return int((height.astype(np.int64) * width).max())
