"""Whole episodes in one compiled loop, for behaviours simple enough to be compiled with the world.

They draw the very numbers that the general protocol path draws, so both give the same episodes.
What a participant sees of Good and Evil is its key: the signed rows and columns to each, cut off
at 3 where they no longer matter, as one number below 7**4. Rewards and best moves are looked up.

Axes: B episodes, T steps, P participants, all played by one agent as a team in their own order.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.compiled import compiled
from sts.draws import uniform
from sts.lambda_star.kernels import Arrays, Ints, following, gap, settle, worth

AGENTS = ("random", "local-search")
_SLOTS = 2
_FAR = 3
_SIDE = 2 * _FAR + 1
_KEYS = _SIDE**4
_LARGE = 5
_MOST = 255
_ANY = 0b111111111
_STAY = 4


class Outcome(NamedTuple):
    """What was done and received: int8[B, T, P] each, rewards in halves."""

    moves: NDArray[np.int8]
    rewards: NDArray[np.int8]


class _Tables(NamedTuple):
    """What is looked up instead of reckoned; a set of moves is 9 bits.

    Attributes:
      rings: int64[256, 511], by size and difference + 255: the signed nearest way on a ring, cut
        off at 3, plus 3.
      reward: int8[7**4], by key, in halves.
      best: int64[9, 7**4], by key, the moves to cells of the highest reward. First by rows (3, 4 or
        more), then columns, as the ways round both sides matter on the smallest grids.
      members: int64[512], how many moves a set has.
      nth: int64[512, 9], its n-th move.
    """

    rings: Ints
    reward: NDArray[np.int8]
    best: Ints
    members: Ints
    nth: Ints


def play(name: str, worlds: Arrays, streams: NDArray[np.uint64], *, steps: int) -> Outcome:
    """Plays `steps` steps of the agent `name` in every role, as the general path does.

    Args:
      name: one of `AGENTS`.
      worlds: B worlds; afterwards they are where the episodes ended.
      streams: uint64[B], each episode's stream of draws.
      steps: T, at least 1.
    """
    shape = (streams.size, steps, worlds.cells.shape[1])
    out = Outcome(np.empty(shape, np.int8), np.empty(shape, np.int8))
    _play(worlds, streams, name == "random", _tables(), out.moves, out.rewards)
    return out


@functools.cache
def _tables() -> _Tables:
    rings = np.zeros((_MOST + 1, 2 * _MOST + 1), np.int64)
    reward, best = np.empty(_KEYS, np.int8), np.empty((9, _KEYS), np.int64)
    _fill_rings(rings)
    for kind in range(9):
        _fill_keys(3 + kind // 3, 3 + kind % 3, reward, best[kind])
    members, nth = np.zeros(_ANY + 1, np.int64), np.zeros((_ANY + 1, 9), np.int64)
    for chosen in range(_ANY + 1):
        moves = [move for move in range(9) if chosen >> move & 1]
        members[chosen], nth[chosen, : len(moves)] = len(moves), moves
    return _Tables(rings, reward, best, members, nth)


@compiled
def _fill_rings(out: Ints) -> None:
    for size in range(1, _MOST + 1):
        for difference in range(1 - size, size):
            way = difference % size
            way = way - size if way + way > size else way
            out[size, difference + _MOST] = min(max(way, -_FAR), _FAR) + _FAR


@compiled
def _fill_keys(height: int, width: int, reward: NDArray[np.int8], best: Ints) -> None:
    """Writes rewards and best moves by key; a side of 5 stands for any larger one.

    On smaller grids some keys cannot occur, and what is written for them means nothing.
    """
    rows = height if height < _LARGE else _MOST
    columns = width if width < _LARGE else _MOST
    values = np.empty(9, np.int64)
    for key in range(_KEYS):
        good_row, good_column = key // _SIDE**3, key // _SIDE**2 % _SIDE
        evil_row, evil_column = key // _SIDE % _SIDE, key % _SIDE
        for move in range(9):
            y, x = move // 3 - 1 + _FAR, move % 3 - 1 + _FAR
            to_good = max(gap(good_row, y, rows), gap(good_column, x, columns))
            to_evil = max(gap(evil_row, y, rows), gap(evil_column, x, columns))
            values[move] = worth(to_good) - worth(to_evil)
        reward[key], best[key] = values[_STAY], 0
        for move in range(9):
            if values[move] == values.max():
                best[key] |= 1 << move


@compiled
def _play(
    a: Arrays,
    streams: NDArray[np.uint64],
    at_random: bool,
    tables: _Tables,
    moves: NDArray[np.int8],
    rewards: NDArray[np.int8],
) -> None:
    batch, steps, participants = moves.shape
    row, column = np.empty(participants, np.int64), np.empty(participants, np.int64)
    key = np.empty(participants, np.int64)
    for b in range(batch):
        height, width, kind = a.size[b, 0], a.size[b, 1], a.kind[b]
        table = tables.best[3 * (min(height, _LARGE) - 3) + min(width, _LARGE) - 3]
        good, evil, drawn = a.objects[b, 0], a.objects[b, 1], a.counter[b]
        good_first, evil_first = a.offset[b, 0], a.offset[b, 1]
        good_at, evil_at = a.cursor[b, 0], a.cursor[b, 1]
        good_spot = _Spot(good // width, good % width)
        evil_spot = _Spot(evil // width, evil % width)
        for p in range(participants):
            row[p], column[p] = a.cells[b, p] // width, a.cells[b, p] % width
            key[p] = _key(tables.rings, good_spot, evil_spot, row[p], column[p], height, width)
        counter = 0
        for t in range(steps):
            for p in range(participants):
                choices = _ANY if at_random else table[key[p]]
                u = uniform(streams[b], counter)
                counter += _SLOTS
                move = tables.nth[choices, int(u * tables.members[choices])]
                moves[b, t, p] = move
                row[p] = _wrapped(row[p] + move // 3 - 1, height)
                column[p] = _wrapped(column[p] + move % 3 - 1, width)
            good_to = _led(a.patterns[good_first + good_at], kind, good_spot, height, width)
            evil_to = _led(a.patterns[evil_first + evil_at], kind, evil_spot, height, width)
            good_next = good_to.row * width + good_to.column
            evil_next = evil_to.row * width + evil_to.column
            good, evil, drawn = settle(good, evil, good_next, evil_next, a.seed[b], drawn)
            good_spot = good_to if good == good_next else good_spot
            evil_spot = evil_to if evil == evil_next else evil_spot
            good_at = following(good_at, a.length[b, 0])
            evil_at = following(evil_at, a.length[b, 1])
            for p in range(participants):
                key[p] = _key(tables.rings, good_spot, evil_spot, row[p], column[p], height, width)
                rewards[b, t, p] = tables.reward[key[p]]
        a.objects[b, 0], a.objects[b, 1], a.counter[b] = good, evil, drawn
        a.cursor[b, 0], a.cursor[b, 1] = good_at, evil_at
        a.step[b] += steps
        for p in range(participants):
            a.cells[b, p] = row[p] * width + column[p]
            a.moves[b, p], a.rewards[b, p] = moves[b, steps - 1, p], rewards[b, steps - 1, p]
            a.says[b, p] = 0


class _Spot(NamedTuple):
    """A cell by its coordinates."""

    row: int
    column: int


@compiled
def _led(entry: int, kind: int, spot: _Spot, height: int, width: int) -> _Spot:
    """Returns where a pattern's entry leads to from `spot`."""
    if kind == 1:
        return _Spot(entry // width, entry % width)
    row = _wrapped(spot.row + entry // 3 - 1, height)
    return _Spot(row, _wrapped(spot.column + entry % 3 - 1, width))


@compiled
def _key(
    rings: Ints,
    good: _Spot,
    evil: _Spot,
    row: int,
    column: int,
    height: int,
    width: int,
) -> int:
    """Returns the key of a participant at (row, column)."""
    key = rings[height, good.row - row + _MOST] * _SIDE + rings[width, good.column - column + _MOST]
    key = key * _SIDE + rings[height, evil.row - row + _MOST]
    return int(key * _SIDE + rings[width, evil.column - column + _MOST])


@compiled
def _wrapped(value: int, size: int) -> int:
    value = value + size if value < 0 else value
    return value - size if value >= size else value
