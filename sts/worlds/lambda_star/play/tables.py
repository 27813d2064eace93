"""What whole episodes look up instead of reckoning it.

What a participant sees of Good and Evil is its key: the signed rows and columns to each, cut off
at 3 where they no longer matter, as one number below 7**4.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.numerics.compiled import compiled, lean
from sts.worlds.lambda_star.kernels import Ints, worth
from sts.worlds.lambda_star.play.object_paths import ObjectPaths
from sts.worlds.lambda_star.torus import STAY, apart, way

_FAR = 3
_SIDE = 2 * _FAR + 1
_KEYS = _SIDE**4
_LARGE = 5
_MOST = 255


class Tables(NamedTuple):
    """The tables; a set of moves is 9 bits.

    A grid's kind (9 of them) is by its rows (3, 4 or more), then its columns, as the ways round
    both sides matter on the smallest grids.

    Attributes:
      rings: int64[4, 256, 511], what each of Good's row and column and Evil's row and column adds
        to a key, by the grid's size that way and the difference + 255.
      reward: int8[7**4], by key, in halves.
      around: int8[9, 7**4, 9], by kind and key: the rewards of the cells that a move reaches.
      best: int16[9, 7**4], by kind and key: the moves to cells of the highest reward.
    """

    rings: Ints
    reward: NDArray[np.int8]
    around: NDArray[np.int8]
    best: NDArray[np.int16]


@functools.cache
def tables() -> Tables:
    """Returns the tables, made once a process."""
    sizes, differences = np.arange(_MOST + 1)[:, None], np.arange(-_MOST, _MOST + 1)
    ring = np.clip(way(0, differences, sizes), -_FAR, _FAR) + _FAR
    around = np.stack([_around(3 + kind // 3, 3 + kind % 3) for kind in range(9)])
    top = around == around.max(-1, keepdims=True)
    return Tables(
        rings=np.stack([ring * _SIDE**place for place in (3, 2, 1, 0)]),
        reward=around[-1, :, STAY].copy(),
        around=around,
        best=(top << np.arange(9)).sum(-1).astype(np.int16),
    )


def _around(height: int, width: int) -> NDArray[np.int8]:
    """Returns int8[7**4, 9], rewards by key; a side of 5 stands for any larger one.

    On smaller grids some keys cannot occur, and what is written for them means nothing.
    """
    key, move = np.ogrid[:_KEYS, :9]
    good = key // _SIDE**3, key // _SIDE**2 % _SIDE
    evil = key // _SIDE % _SIDE, key % _SIDE
    cell = move // 3 - 1 + _FAR, move % 3 - 1 + _FAR
    size = tuple(side if side < _LARGE else _MOST for side in (height, width))
    to_good, to_evil = apart(*good, *cell, *size), apart(*evil, *cell, *size)
    around: NDArray[np.int8] = (worth(to_good) - worth(to_evil)).astype(np.int8)
    return around


@compiled
def kind_of(height: int, width: int) -> int:
    """Returns a grid's kind."""
    return 3 * (min(height, _LARGE) - 3) + min(width, _LARGE) - 3


@lean
def key_of(
    tables: Tables, paths: ObjectPaths, t: int, height: int, width: int, row: int, column: int
) -> int:
    """Returns the key of a participant at (row, column) before step `t` of an episode."""
    rings = tables.rings
    good_row, good_column = paths.good_row[t] - row, paths.good_column[t] - column
    evil_row, evil_column = paths.evil_row[t] - row, paths.evil_column[t] - column
    to_good = rings[0, height, good_row + _MOST] + rings[1, width, good_column + _MOST]
    to_evil = rings[2, height, evil_row + _MOST] + rings[3, width, evil_column + _MOST]
    return int(to_good + to_evil)
