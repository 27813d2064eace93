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
from sts.worlds.lambda_star.kernels import Ints, gap, worth
from sts.worlds.lambda_star.play.object_paths import Course

_FAR = 3
_SIDE = 2 * _FAR + 1
_KEYS = _SIDE**4
_LARGE = 5
_MOST = 255
_SETS = 512
_STAY = 4


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
      members: float64[512], how many moves a set has.
      nth: int8[512, 9], its n-th move.
    """

    rings: Ints
    reward: NDArray[np.int8]
    around: NDArray[np.int8]
    best: NDArray[np.int16]
    members: NDArray[np.float64]
    nth: NDArray[np.int8]


@functools.cache
def tables() -> Tables:
    """Returns the tables, made once a process."""
    ring, around = np.zeros((_MOST + 1, 2 * _MOST + 1), np.int64), np.empty((9, _KEYS, 9), np.int8)
    _fill_ring(ring)
    for kind in range(9):
        _fill_around(3 + kind // 3, 3 + kind % 3, around[kind])
    top = around == around.max(-1, keepdims=True)
    members, nth = np.zeros(_SETS), np.zeros((_SETS, 9), np.int8)
    for chosen in range(_SETS):
        moves = [move for move in range(9) if chosen >> move & 1]
        members[chosen], nth[chosen, : len(moves)] = len(moves), moves
    return Tables(
        rings=np.stack([ring * _SIDE**place for place in (3, 2, 1, 0)]),
        reward=around[-1, :, _STAY].copy(),
        around=around,
        best=(top << np.arange(9)).sum(-1).astype(np.int16),
        members=members,
        nth=nth,
    )


@compiled
def _fill_ring(out: Ints) -> None:
    """Writes, by size and difference, the signed nearest way, cut off at 3, plus 3."""
    for size in range(1, _MOST + 1):
        for difference in range(-size, size + 1):
            way = difference % size
            way = way - size if way + way > size else way
            out[size, difference + _MOST] = min(max(way, -_FAR), _FAR) + _FAR


@compiled
def _fill_around(height: int, width: int, out: NDArray[np.int8]) -> None:
    """Writes rewards by key; a side of 5 stands for any larger one.

    On smaller grids some keys cannot occur, and what is written for them means nothing.
    """
    rows = height if height < _LARGE else _MOST
    columns = width if width < _LARGE else _MOST
    for key in range(_KEYS):
        good_row, good_column = key // _SIDE**3, key // _SIDE**2 % _SIDE
        evil_row, evil_column = key // _SIDE % _SIDE, key % _SIDE
        for move in range(9):
            y, x = move // 3 - 1 + _FAR, move % 3 - 1 + _FAR
            to_good = max(gap(good_row, y, rows), gap(good_column, x, columns))
            to_evil = max(gap(evil_row, y, rows), gap(evil_column, x, columns))
            out[key, move] = worth(to_good) - worth(to_evil)


@compiled
def kind_of(height: int, width: int) -> int:
    """Returns a grid's kind."""
    return 3 * (min(height, _LARGE) - 3) + min(width, _LARGE) - 3


@lean
def key_of(
    tables: Tables, course: Course, t: int, height: int, width: int, row: int, column: int
) -> int:
    """Returns the key of a participant at (row, column) before step `t` of an episode."""
    rings = tables.rings
    good_row, good_column = course.good_row[t] - row, course.good_column[t] - column
    evil_row, evil_column = course.evil_row[t] - row, course.evil_column[t] - column
    to_good = rings[0, height, good_row + _MOST] + rings[1, width, good_column + _MOST]
    to_evil = rings[2, height, evil_row + _MOST] + rings[3, width, evil_column + _MOST]
    return int(to_good + to_evil)
