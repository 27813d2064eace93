"""The compiled search for patterns: walks of Good and Evil, and how complex they are.

Axes: E environments, T steps (the horizon), C cells of the grid. Which is 0 for Good, 1 for Evil.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.numerics.compiled import compiled, lean
from sts.numerics.draws import below
from sts.worlds.lambda_star.generation.lempel_ziv import components, lz76
from sts.worlds.lambda_star.kernels import Arrays, Ints, following, intended
from sts.worlds.lambda_star.torus import moved

Keys = NDArray[np.uint64]
_0, _1, _63 = map(np.uint64, (0, 1, 63))
_COLUMNS = 2**32 - 1


class Room(NamedTuple):
    """Where walks are written while they are tried.

    A place is how far a walk has come, with no edges: 2^32 times its rows plus its columns, each
    counted from T before the start, so that neither is ever negative. To move on is one addition.

    Attributes:
      segment: int64[T // 2], the moves that are repeated.
      ways: int64[9], what each move adds to a place.
      rows: int64[2T + 1], W times the row of the grid that each row of a place is on.
      columns: int64[2T + 1], the column likewise.
      cells: int64[T], where a walk leads.
      before: int64[T], the step at which each cell was last visited before; -1 where none.
      last: int64[C], -1 everywhere between two walks.
    """

    segment: Ints
    ways: Ints
    rows: Ints
    columns: Ints
    cells: Ints
    before: Ints
    last: Ints


@compiled
def _room(height: int, width: int, horizon: int) -> Room:
    """Return room for walks over a horizon."""
    ways = np.empty(9, np.int64)
    for move in range(9):
        ways[move] = (move // 3 - 1 << 32) + move % 3 - 1
    unwrapped = np.arange(-horizon, horizon + 1)
    return Room(
        np.empty(horizon // 2, np.int64),
        ways,
        unwrapped % height * width,
        unwrapped % width,
        np.empty(horizon, np.int64),
        np.empty(horizon, np.int64),
        np.full(height * width, -1, np.int64),
    )


@lean
def _start(to: Room) -> int:
    """Return the place where walks begin: on cell 0."""
    return (to.cells.size << 32) + to.cells.size


@lean
def _cell(place: int, to: Room) -> int:
    """Return the cell that a place is on."""
    return int(to.rows[np.uint64(place >> 32)] + to.columns[np.uint64(place & _COLUMNS)])


@lean
def _drawn(key: Any, attempt: int, most: int, to: Room) -> int:
    """Draws a segment of 1 to T // 2 moves, which is repeated; returns its length.

    0 where K is seen to be more than `most`. A component ends with the first visit to a cell, and
    another one begins before the end, so K is more than the number of cells that are visited before
    the last step. Most attempts end here, so it is quick before it is exact: cells are told apart
    by the last six bits of their numbers. Indices are unsigned, which spares a test for negative
    ones.
    """
    steps, longest = to.cells.size, to.segment.size
    first = attempt * (longest + 1)
    length = 1 + below(key, first, longest)
    place, at, visited, count = _start(to), 0, _0, 0
    for t in range(steps):
        if t < length:
            to.segment[np.uint64(t)] = below(key, first + 1 + t, 9)
        place += to.ways[np.uint64(to.segment[np.uint64(at)])]
        at = following(at, length)
        bit = _1 << (np.uint64(_cell(place, to)) & _63)
        count += visited & bit == _0
        visited |= bit
        if count > most - (t + 1 < steps):
            return 0
    return int(length)


@lean
def _complexity(length: int, most: int, to: Room) -> int:
    """Return K of the walk that repeats the segment of this length, or more than `most` if K is.

    It is the same wherever the walk begins, for a torus looks the same from every cell.
    """
    place, at = _start(to), 0
    for t in range(to.cells.size):
        place += to.ways[np.uint64(to.segment[np.uint64(at)])]
        at = following(at, length)
        cell = np.uint64(_cell(place, to))
        to.cells[t], to.before[t], to.last[cell] = cell, to.last[cell], t
    for t in range(to.cells.size):
        to.last[np.uint64(to.cells[t])] = -1
    return int(components(to.cells, to.before, most))


@compiled
def search(keys: Keys, wanted: Ints, height: int, width: int, horizon: int) -> tuple[Ints, Ints]:
    """Draw segments until the cells they lead to have the wanted K, int64[E].

    `keys` are uint64[E, 2], the streams to draw from. Returns int64[E, 2] twice: the number of the
    attempt that succeeded, and its segment's length.
    """
    to = _room(height, width, horizon)
    attempts, lengths = np.zeros(keys.shape, np.int64), np.zeros(keys.shape, np.int64)
    for e in range(wanted.size):
        for which in range(2):
            attempt, found, length = -1, 0, 0
            while found != wanted[e]:
                attempt += 1
                length = _drawn(keys[e, which], attempt, wanted[e], to)
                found = _complexity(length, wanted[e], to) if length > 0 else 0
            attempts[e, which], lengths[e, which] = attempt, length
    return attempts, lengths


@compiled
def segments(keys: Keys, attempts: Ints, lengths: Ints, horizon: int) -> tuple[Ints, Ints]:
    """Return what `search` found, end to end, and int64[E, 2], where each segment begins."""
    out, offsets = np.empty(lengths.sum(), np.int64), np.empty(lengths.shape, np.int64)
    done = 0
    for e in range(len(lengths)):
        for which in range(2):
            first = attempts[e, which] * (horizon // 2 + 1)
            for i in range(lengths[e, which]):
                out[done + i] = below(keys[e, which], first + 1 + i, 9)
            offsets[e, which] = done
            done += lengths[e, which]
    return out, offsets


@compiled
def census(
    key: int | np.uint64, height: int, width: int, horizon: int, most: int, sample: int
) -> Ints:
    """Return int64[most + 2]: how many of `sample` random walks have each K; last, more."""
    to = _room(height, width, horizon)
    counts = np.zeros(most + 2, np.int64)
    for attempt in range(sample):
        length = _drawn(key, attempt, most, to)
        counts[_complexity(length, most, to) if length > 0 else most + 1] += 1
    return counts


@compiled
def there_and_back(keys: Keys, counters: Ints, side: int, entries: int) -> tuple[Ints, Ints]:
    """Return the paths of Good and Evil as the published program makes them, int64[E, entries].

    A walk of n to 2n - 1 cells and the same backwards, over and over, on a grid of side n; Evil's
    cell is Good's, shifted by a constant. `counters` say how much of `keys` has been drawn.

    Source: docs/lambdastar_2016.md, section 4.
    """
    cells = side * side
    good = np.empty((keys.size, entries), np.int64)
    evil, walk = np.empty_like(good), np.empty(2 * side, np.int64)
    for e in range(keys.size):
        cell = below(keys[e], counters[e], cells)
        length = side + below(keys[e], counters[e] + 1, side)
        for i in range(length):
            cell = moved(cell, below(keys[e], counters[e] + 2 + i, 9), side, side)
            walk[i] = cell
        for t in range(entries):
            at = t % (2 * length)
            good[e, t] = walk[at] if at < length else walk[2 * length - 1 - at]
            evil[e, t] = (good[e, t] + cells // 3 + 1) % cells
    return good, evil


@compiled
def places(keys: Keys, counters: Ints, count: int, cells: int) -> Ints:
    """Return int64[E, count]: different cells in random order; `counters` go on."""
    out, taken = np.empty((keys.size, count), np.int64), np.zeros(cells, np.bool_)
    for e in range(keys.size):
        found = 0
        while found < count:
            cell = below(keys[e], counters[e], cells)
            counters[e] += 1
            if not taken[cell]:
                taken[cell] = True
                out[e, found] = cell
                found += 1
        for i in range(count):
            taken[out[e, i]] = False
    return out


@compiled
def walked(a: Arrays, e: int, which: int) -> Ints:
    """Return int64[T]: the cells that an object of world `e` intends over the horizon.

    The walk begins where the world is and at its cursor; clashes do not count.
    """
    height, width, kind = a.size[e, 0], a.size[e, 1], a.kind[e]
    out, cell, cursor = np.empty(a.horizon[e], np.int64), a.objects[e, which], a.cursor[e, which]
    for t in range(out.size):
        cell = intended(cell, a.patterns[a.offset[e, which] + cursor], kind, height, width)
        out[t] = cell
        cursor = following(cursor, a.length[e, which])
    return out


@compiled
def complexities(a: Arrays) -> Ints:
    """Return int64[E, 2]: K of the cells that Good and Evil intend over the horizon.

    Source: Chmait et al. 2016, section 4.2; K is the LZ76 count.
    """
    out = np.empty((a.step.size, 2), np.int64)
    for e in range(a.step.size):
        for which in range(2):
            out[e, which] = lz76(walked(a, e, which))
    return out
