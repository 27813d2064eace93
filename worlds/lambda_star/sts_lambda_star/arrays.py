"""Arrays that hold the states of worlds of Λ*."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class WorldArrays(NamedTuple):
    """State arrays of B worlds. Good and Evil are objects 0 and 1."""

    size: Ints  # int64[B, 2], rows and columns
    cells: Ints  # int64[B, P], the players' cells
    objects: Ints  # int64[B, 2], the cells of Good and Evil
    kind: Ints  # int64[B], 0 for patterns of moves and 1 for patterns of cells
    patterns: Ints  # int64[sum of lengths], all patterns concatenated
    offset: Ints  # int64[B, 2], the start of each object's pattern in `patterns`
    length: Ints  # int64[B, 2], the length of each object's pattern
    cursor: Ints  # int64[B, 2], the index of the next entry in each pattern
    step: Ints  # int64[B], the number of steps taken
    horizon: Ints  # int64[B], the intended length of an episode
    seed: NDArray[np.uint64]  # uint64[B], the seed of the world's own random stream
    counter: Ints  # int64[B], the number of draws taken from that stream
    actions: NDArray[np.int8]  # int8[B, P], the last executed actions; -1 before the first step
    utterances: NDArray[np.int8]  # int8[B, P], the last tokens
    rewards: NDArray[np.int8]  # int8[B, P], the last rewards
    needs: Ints  # int64[B], the players within 1 cell without whom Good or Evil has no effect
