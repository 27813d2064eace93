"""Compiled search for movement patterns: walks of Good and Evil, and their complexity.

Complexity K is the Lempel-Ziv complexity (LZ76): the number of phrases into which a sequence is
cut, in the source the components of its exhaustive history. Read from left to right, a phrase ends
with the first symbol that makes it differ from every earlier subsequence; an earlier occurrence may
overlap it.

Axes: E environments, T steps (the horizon), C cells of the grid. Objects are 0, Good, and 1, Evil.

Source: Lempel and Ziv 1976, "On the complexity of finite sequences", section II.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import jit, jit_inlined, jit_internal, random_integer
from sts_lambda_star.kernels import Ints, WorldArrays, intended_cell
from sts_lambda_star.lanes import next_cursor
from sts_lambda_star.torus import move_cell

StreamIds = NDArray[np.uint64]
_0, _1, _63 = map(np.uint64, (0, 1, 63))
_COLUMNS = 2**32 - 1


class Scratch(NamedTuple):
    """Scratch space for candidate walks.

    A place encodes a walk's position without wrapping: 2^32 times its rows plus its columns, each
    offset by T so that neither is ever negative. A move is then a single addition.
    """

    segment: Ints  # int64[T // 2], the moves that are repeated
    ways: Ints  # int64[9], the increment of a place by each move
    rows: Ints  # int64[2T + 1], W times the grid row of each row of a place
    columns: Ints  # int64[2T + 1], the grid column of each column of a place
    cells: Ints  # int64[T], the cells of a walk
    before: Ints  # int64[T], the previous step at which each cell was visited; -1 without one
    last: Ints  # int64[C], the last visit of each cell; -1 everywhere between two walks


@jit
def lz76(text: Ints) -> int:
    """Return the number of Lempel-Ziv phrases of `text`, non-negative integers; 0 if it is empty.

    The counts equal those of the scan of Kaspar and Schuster 1987, which the published program
    uses, but that scan does not handle a text of one symbol, which has one phrase.
    """
    if text.size == 0:
        return 0
    highest = 0
    for i in range(text.size):
        highest = max(highest, text[i])
    last, before = np.full(highest + 1, -1, np.int64), np.empty(text.size, np.int64)
    for i in range(text.size):
        before[i] = last[text[i]]
        last[text[i]] = i
    return int(count_lz_phrases(text, before, text.size))


@jit
def count_lz_phrases(text: Ints, before: Ints, most: int) -> int:
    """Return the number of Lempel-Ziv phrases of `text`, or `most` + 1 if there are more.

    `text` is int64[N], any integers. Only earlier occurrences of a phrase's first symbol are
    compared, the latest first: `before`, int64[N], holds the last earlier index of each symbol, -1
    without one.
    """
    count, done = 0, 0
    while done < text.size and count <= most:
        longest, start = 0, before[done]
        while start >= 0:
            if longest == 0 or text[start + longest] == text[done + longest]:
                run = 1
                while done + run < text.size and text[start + run] == text[done + run]:
                    run += 1
                if done + run == text.size:
                    return count + 1
                longest = run if run > longest else longest
            start = before[start]
        done += longest + 1
        count += 1
    return count


def allocate_scratch(height: int, width: int, horizon: int) -> Scratch:
    """Return scratch space for walks over a horizon."""
    rows, columns = np.divmod(np.arange(9), 3)
    ways = (rows - 1 << 32) + columns - 1
    unwrapped = np.arange(-horizon, horizon + 1)
    return Scratch(
        np.empty(horizon // 2, np.int64),
        ways,
        unwrapped % height * width,
        unwrapped % width,
        np.empty(horizon, np.int64),
        np.empty(horizon, np.int64),
        np.full(height * width, -1, np.int64),
    )


@jit_inlined
def _start_place(room: Scratch) -> int:
    """Return the start place of walks, on cell 0."""
    return (room.cells.size << 32) + room.cells.size


@jit_inlined
def _place_cell(place: int, room: Scratch) -> int:
    """Return the cell of a place."""
    return int(room.rows[np.uint64(place >> 32)] + room.columns[np.uint64(place & _COLUMNS)])


@jit_internal
def _draw_segment(key: Any, attempt: int, most: int, room: Scratch) -> int:
    """Draw a segment of 1 to T // 2 moves; return its length, or 0 if K surely exceeds `most`.

    A phrase ends with the first visit to a cell, and another one starts before the end, so K
    exceeds the number of cells visited before the last step. Most attempts end here, so the test is
    fast rather than exact: it distinguishes cells by the last six bits of their numbers only.
    Unsigned indices avoid a check for negative ones.
    """
    steps, longest = room.cells.size, room.segment.size
    first = attempt * (longest + 1)
    length = 1 + random_integer(key, first, longest)
    place, cursor, visited, count = _start_place(room), 0, _0, 0
    for t in range(steps):
        if t < length:
            room.segment[np.uint64(t)] = random_integer(key, first + 1 + t, 9)
        place += room.ways[np.uint64(room.segment[np.uint64(cursor)])]
        cursor = next_cursor(cursor, length)
        bit = _1 << (np.uint64(_place_cell(place, room)) & _63)
        count += visited & bit == _0
        visited |= bit
        if count > most - (t + 1 < steps):
            return 0
    return int(length)


@jit_internal
def _walk_complexity(length: int, most: int, room: Scratch) -> int:
    """Return K of the walk that repeats the current segment, or `most` + 1 if K is larger.

    K does not depend on the start cell, as the torus is translation-invariant.
    """
    place, cursor = _start_place(room), 0
    for t in range(room.cells.size):
        place += room.ways[np.uint64(room.segment[np.uint64(cursor)])]
        cursor = next_cursor(cursor, length)
        cell = np.uint64(_place_cell(place, room))
        room.cells[t], room.before[t], room.last[cell] = cell, room.last[cell], t
    for t in range(room.cells.size):
        room.last[np.uint64(room.cells[t])] = -1
    return int(count_lz_phrases(room.cells, room.before, most))


@jit
def search_segments(keys: StreamIds, wanted: Ints, room: Scratch) -> tuple[Ints, Ints]:
    """Draw segments until their walks have the wanted K, int64[E].

    `keys` are the random streams, uint64[E, 2]. Returns int64[E, 2] twice: the number of the
    successful attempt, and its segment's length.
    """
    attempts, lengths = np.zeros(keys.shape, np.int64), np.zeros(keys.shape, np.int64)
    for e in range(wanted.size):
        for index in range(2):
            attempt, complexity, length = -1, 0, 0
            while complexity != wanted[e]:
                attempt += 1
                length = _draw_segment(keys[e, index], attempt, wanted[e], room)
                complexity = _walk_complexity(length, wanted[e], room) if length > 0 else 0
            attempts[e, index], lengths[e, index] = attempt, length
    return attempts, lengths


@jit
def concatenate_segments(
    keys: StreamIds, attempts: Ints, lengths: Ints, horizon: int
) -> tuple[Ints, Ints]:
    """Return the segments of `search_segments`, concatenated, and their offsets, int64[E, 2]."""
    out, offsets = np.empty(lengths.sum(), np.int64), np.empty(lengths.shape, np.int64)
    done = 0
    for e in range(len(lengths)):
        for index in range(2):
            first = attempts[e, index] * (horizon // 2 + 1)
            for i in range(lengths[e, index]):
                out[done + i] = random_integer(keys[e, index], first + 1 + i, 9)
            offsets[e, index] = done
            done += lengths[e, index]
    return out, offsets


@jit
def count_complexities(key: int | np.uint64, most: int, sample: int, room: Scratch) -> Ints:
    """Return int64[most + 2], how many of `sample` random walks have each K; the last is more."""
    counts = np.zeros(most + 2, np.int64)
    for attempt in range(sample):
        length = _draw_segment(key, attempt, most, room)
        counts[_walk_complexity(length, most, room) if length > 0 else most + 1] += 1
    return counts


@jit
def draw_published_paths(
    keys: StreamIds, counters: Ints, side: int, entries: int
) -> tuple[Ints, Ints]:
    """Return the published program's paths of Good and Evil, int64[E, entries] each.

    A walk of n to 2n - 1 cells is repeated forwards and backwards on a grid of side n; Evil's cell
    is Good's, shifted by a constant. `counters` are the numbers of draws taken from `keys`.

    Source: docs/lambdastar_2016.md, section 4.
    """
    cells = side * side
    good = np.empty((keys.size, entries), np.int64)
    evil, walk = np.empty_like(good), np.empty(2 * side, np.int64)
    for e in range(keys.size):
        cell = random_integer(keys[e], counters[e], cells)
        length = side + random_integer(keys[e], counters[e] + 1, side)
        for i in range(length):
            cell = move_cell(cell, random_integer(keys[e], counters[e] + 2 + i, 9), side, side)
            walk[i] = cell
        for t in range(entries):
            phase = t % (2 * length)
            good[e, t] = walk[phase] if phase < length else walk[2 * length - 1 - phase]
            evil[e, t] = (good[e, t] + cells // 3 + 1) % cells
    return good, evil


@jit
def draw_cells(keys: StreamIds, counters: Ints, count: int, cells: int) -> Ints:
    """Return int64[E, count], distinct random cells; advance `counters` in place."""
    out, occupied = np.empty((keys.size, count), np.int64), np.zeros(cells, np.bool_)
    for e in range(keys.size):
        i = 0
        while i < count:
            cell = random_integer(keys[e], counters[e], cells)
            counters[e] += 1
            if not occupied[cell]:
                occupied[cell] = True
                out[e, i] = cell
                i += 1
        for i in range(count):
            occupied[out[e, i]] = False
    return out


@jit
def intended_path(a: WorldArrays, e: int, index: int) -> Ints:
    """Return int64[T], the cells that an object of world `e` intends over the horizon.

    The walk starts from the object's current cell and cursor; collisions are ignored.
    """
    height, width, kind = a.size[e, 0], a.size[e, 1], a.kind[e]
    out, cell, cursor = np.empty(a.horizon[e], np.int64), a.objects[e, index], a.cursor[e, index]
    for t in range(out.size):
        cell = intended_cell(cell, a.patterns[a.offset[e, index] + cursor], kind, height, width)
        out[t] = cell
        cursor = next_cursor(cursor, a.length[e, index])
    return out


@jit
def path_complexities(a: WorldArrays) -> Ints:
    """Return int64[E, 2], K of the cells that Good and Evil intend over the horizon.

    Source: Chmait et al. 2016, section 4.2; K is the LZ76 count.
    """
    out = np.empty((a.step.size, 2), np.int64)
    for e in range(a.step.size):
        for index in range(2):
            out[e, index] = lz76(intended_path(a, e, index))
    return out
