"""Where Good and Evil are at every step of an episode: nothing that participants do moves them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sts.numerics.compiled import compiled, lean
from sts.worlds.lambda_star.kernels import Arrays, Ints, following, settle
from sts.worlds.lambda_star.torus import wrapped

DOWN = np.arange(9) // 3 - 1
RIGHT = np.arange(9) % 3 - 1


class ObjectPaths(NamedTuple):
    """Where the objects are in T steps; entry t is before step t, and the last after all of them.

    Attributes:
      good_row: int64[T + 1].
      good_column: int64[T + 1].
      evil_row: int64[T + 1].
      evil_column: int64[T + 1].
      good_next: int64[T], the cell that Good intends at step t, whether or not it gets there.
    """

    good_row: Ints
    good_column: Ints
    evil_row: Ints
    evil_column: Ints
    good_next: Ints


@compiled
def blank(steps: int) -> ObjectPaths:
    """Returns room for paths of `steps` steps, to be filled for one episode after another."""
    return ObjectPaths(
        np.empty(steps + 1, np.int64),
        np.empty(steps + 1, np.int64),
        np.empty(steps + 1, np.int64),
        np.empty(steps + 1, np.int64),
        np.empty(steps, np.int64),
    )


@lean
def run(a: Arrays, b: int, out: ObjectPaths) -> None:
    """Fills `out` with the paths of world `b`, and leaves its Good and Evil at the end of it.

    The world's objects, cursors and counter of draws are moved on; its participants, its step and
    what they did last are not.

    Source: Chmait et al. 2016, section 4.1.1.
    """
    height, width, kind = a.size[b, 0], a.size[b, 1], a.kind[b]
    good_first, evil_first = a.offset[b, 0], a.offset[b, 1]
    good_length, evil_length = a.length[b, 0], a.length[b, 1]
    good_at, evil_at, drawn = a.cursor[b, 0], a.cursor[b, 1], a.counter[b]
    good, evil = _spot(a.objects[b, 0], width), _spot(a.objects[b, 1], width)
    steps = out.good_next.size
    for t in range(steps):
        _note(out, t, good, evil)
        good_to = _led(a.patterns[good_first + good_at], kind, good, height, width)
        evil_to = _led(a.patterns[evil_first + evil_at], kind, evil, height, width)
        good_next, evil_next = _cell(good_to, width), _cell(evil_to, width)
        out.good_next[t] = good_next
        if good_next != evil_next:
            good, evil = good_to, evil_to
        else:
            here, there = _cell(good, width), _cell(evil, width)
            here, there, drawn = settle(here, there, good_next, evil_next, a.seed[b], drawn)
            good, evil = _spot(here, width), _spot(there, width)
        good_at = following(good_at, good_length)
        evil_at = following(evil_at, evil_length)
    _note(out, steps, good, evil)
    a.objects[b, 0], a.objects[b, 1] = _cell(good, width), _cell(evil, width)
    a.cursor[b, 0], a.cursor[b, 1], a.counter[b] = good_at, evil_at, drawn


class _Spot(NamedTuple):
    """A cell by its coordinates."""

    row: int
    column: int


@lean
def _spot(cell: int, width: int) -> _Spot:
    return _Spot(cell // width, cell % width)


@lean
def _cell(spot: _Spot, width: int) -> int:
    return spot.row * width + spot.column


@lean
def _note(out: ObjectPaths, t: int, good: _Spot, evil: _Spot) -> None:
    out.good_row[t], out.good_column[t] = good.row, good.column
    out.evil_row[t], out.evil_column[t] = evil.row, evil.column


@lean
def _led(entry: int, kind: int, spot: _Spot, height: int, width: int) -> _Spot:
    """Returns where a pattern's entry leads to from `spot`: by a move, or to the cell it is."""
    if kind == 1:
        return _spot(entry, width)
    row = wrapped(spot.row + DOWN[entry], height)
    return _Spot(row, wrapped(spot.column + RIGHT[entry], width))
