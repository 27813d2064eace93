"""Lanes: coordinates of up to 64 worlds side by side, as integers of 16 bits.

Loops over lanes vectorise if they index slices from 0, call no division and do not branch. Each
compares the row that it writes with those that it reads, and is not vectorised if that takes more
than eight comparisons, so each loop reads few rows and writes one or two.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import callable_from_jit, jit, jit_inlined, random_word
from sts_lambda_star.arrays import Ints, WorldArrays

Shorts = NDArray[np.int16]

LANES = 64
"""Worlds whose coordinates are computed together."""


class Lanes(NamedTuple):
    """Coordinates in n worlds: of Good, of Evil, of P players and of R observers."""

    height: Shorts  # int16[n]
    width: Shorts  # int16[n]
    rows: Shorts  # int16[2 + P + R, n]
    columns: Shorts  # int16[2 + P + R, n]
    next_rows: Shorts  # int16[2, n], where Good and Evil intend to be next
    next_columns: Shorts  # int16[2, n]
    entries: Ints  # int64[2, n], indices of their next entries in all patterns
    starts: Ints  # int64[2, n], those of their first entries
    stops: Ints  # int64[2, n], and after their last entries
    kinds: Ints  # int64[n], 0 for patterns of moves and 1 for patterns of cells
    seeds: NDArray[np.uint64]  # uint64[n], the seeds of the worlds' own random streams
    counters: Ints  # int64[n], the numbers of draws taken from those streams
    patterns: Ints  # int64[sum of lengths], all patterns concatenated
    moves: NDArray[np.int8]  # int8[n], working memory
    cells: NDArray[np.int32]  # int32[n], working memory


@callable_from_jit
def reward_at_distance(cells: Any) -> Any:
    """Return Good's reward at a distance in cells, in halves: 2 / (cells + 1) below 2, else 0.

    Source: Chmait et al. 2016, section 4.1.2.
    """
    return (2 - cells) * (cells < 2)


def list_blocks(first: int, last: int) -> list[tuple[int, int, int]]:
    """Return ranges of worlds, `first` to `stop` - 1, and the n worlds that fit their lanes."""
    whole = first + (last - first) // LANES * LANES
    blocks = ((first, whole, LANES), (whole, last, last - whole))
    return [block for block in blocks if block[0] < block[1]]


@callable_from_jit
def make_lanes(n_places: int, n: int, patterns: Ints) -> Lanes:
    """Return lanes of n worlds whose values are undefined, but for all their patterns."""
    sizes, places = np.empty((2, n), np.int16), np.empty((2, n_places, n), np.int16)
    intended, entries = np.empty((2, 2, n), np.int16), np.empty((4, 2, n), np.int64)
    now, soon, moves = (places[0], places[1]), (intended[0], intended[1]), np.empty(n, np.int8)
    cells, index = np.empty(n, np.int32), (entries[0], entries[1], entries[2])
    kinds, counters, seeds = entries[3, 0], entries[3, 1], np.empty(n, np.uint64)
    where = (sizes[0], sizes[1], *now, *soon, *index)
    return Lanes(*where, kinds, seeds, counters, patterns, moves, cells)


@jit
def load_lanes(lanes: Lanes, a: WorldArrays, players: Ints, first: int) -> None:
    """Load n worlds, from the `first`; `players` are the observers, int64[B, R].

    Quotients in float32 vectorise, and their integer part is exact on grids of up to 255 x 255.
    """
    n_players, cells, n = a.cells.shape[1], lanes.cells, len(lanes.cells)
    for b in range(n):
        lanes.height[b], lanes.width[b] = a.size[first + b, 0], a.size[first + b, 1]
        lanes.kinds[b], lanes.seeds[b] = a.kind[first + b], a.seed[first + b]
        lanes.counters[b] = a.counter[first + b]
        for index in range(2):
            start = a.offset[first + b, index]
            lanes.starts[index, b], lanes.stops[index, b] = (
                start,
                start + a.length[first + b, index],
            )
            lanes.entries[index, b] = start + a.cursor[first + b, index]
    for k in range(2 + n_players + players.shape[1]):
        for b in range(n):
            if k < 2:
                cells[b] = a.objects[first + b, k]
            elif k < 2 + n_players:
                cells[b] = a.cells[first + b, k - 2]
            else:
                cells[b] = a.cells[first + b, players[first + b, k - 2 - n_players]]
        rows, columns = lanes.rows[k], lanes.columns[k]
        for b in range(n):
            cell, width = cells[b], np.int32(lanes.width[b])
            row = np.int32(np.float32(cell) / np.float32(width))
            rows[b], columns[b] = row, cell - row * width


@jit_inlined
def store_objects(lanes: Lanes, a: WorldArrays, first: int) -> None:
    """Write where Good and Evil are, and their cursors and counters, to n worlds."""
    for b in range(lanes.width.size):
        a.counter[first + b] = lanes.counters[b]
    for index in range(2):
        for b in range(lanes.width.size):
            cell = np.int32(lanes.rows[index, b]) * lanes.width[b] + lanes.columns[index, b]
            a.objects[first + b, index] = cell
            a.cursor[first + b, index] = lanes.entries[index, b] - lanes.starts[index, b]


@jit_inlined
def make_moves(rows: Shorts, columns: Shorts, lanes: Lanes, moves: NDArray[np.int8]) -> None:
    """Change one place in each of n worlds by its move, int8[n]."""
    height, width, n = lanes.height, lanes.width, len(lanes.width)
    for b in range(n):
        row = np.int16(rows[b] + _move_down(moves[b]) - 1)
        row = np.int16(row + height[b] * (row < 0))
        rows[b] = np.int16(row - height[b] * (row >= height[b]))
    for b in range(n):
        column = np.int16(columns[b] + (moves[b] - 3 * _move_down(moves[b])) - 1)
        column = np.int16(column + width[b] * (column < 0))
        columns[b] = np.int16(column - width[b] * (column >= width[b]))


@jit_inlined
def _move_down(move: Any) -> Any:
    """Return move // 3."""
    return 1 * (move > 2) + 1 * (move > 5)


@jit_inlined
def resolve_collision(
    good: int, evil: int, good_next: int, evil_next: int, seed: Any, counter: int
) -> tuple[int, int, int]:
    """Return the next cells of Good and Evil, and the next counter of the world's stream.

    If both intend the same cell, the one already on it keeps it and the other stays where it was;
    if neither is on it, one drawn from the world's stream moves and the other stays. Swapping
    cells is allowed.

    Source: Chmait et al. 2016, section 4.1.1.
    """
    if good_next != evil_next:
        return good_next, evil_next, counter
    if good == good_next or evil == evil_next:
        return good, evil, counter
    if random_word(seed, counter) & 1 == 0:
        return good_next, evil, counter + 1
    return good, evil_next, counter + 1


@jit_inlined
def next_cursor(cursor: int, length: int) -> int:
    """Return the index after `cursor` in a cyclic pattern."""
    return 0 if cursor + 1 == length else cursor + 1


@jit_inlined
def find_intended_places(lanes: Lanes) -> None:
    """Write where Good and Evil of n worlds intend to be next."""
    n, jumps = len(lanes.kinds), 0
    for b in range(n):
        jumps += lanes.kinds[b]
    for index in range(2):
        rows, columns, moves = lanes.next_rows[index], lanes.next_columns[index], lanes.moves
        now_rows, now_columns, entries = (
            lanes.rows[index],
            lanes.columns[index],
            lanes.entries[index],
        )
        for b in range(n):
            moves[b] = lanes.patterns[np.uint64(entries[b])]
        for b in range(n):
            rows[b] = now_rows[b]
        for b in range(n):
            columns[b] = now_columns[b]
        make_moves(rows, columns, lanes, moves)
        if jumps > 0:
            for b in range(n):
                if lanes.kinds[b] == 1:
                    cell, width = lanes.patterns[entries[b]], int(lanes.width[b])
                    rows[b], columns[b] = cell // width, cell % width


@jit_inlined
def advance_objects(lanes: Lanes) -> None:
    """Advance Good and Evil of n worlds to where `find_intended_places` says, or collide."""
    n = len(lanes.width)
    for index in range(2):
        entries, starts, stops = lanes.entries[index], lanes.starts[index], lanes.stops[index]
        for b in range(n):
            entries[b] = starts[b] if entries[b] + 1 == stops[b] else entries[b] + 1
    good_rows, evil_rows = lanes.next_rows[0], lanes.next_rows[1]
    good_columns, evil_columns = lanes.next_columns[0], lanes.next_columns[1]
    clashes = 0
    for b in range(n):
        clashes += (good_rows[b] == evil_rows[b]) & (good_columns[b] == evil_columns[b])
    if clashes > 0:
        for b in range(n):
            if (good_rows[b] == evil_rows[b]) & (good_columns[b] == evil_columns[b]):
                _collide(lanes, b)
    for index in range(2):
        rows, columns = lanes.rows[index], lanes.columns[index]
        next_rows, next_columns = lanes.next_rows[index], lanes.next_columns[index]
        for b in range(n):
            rows[b] = next_rows[b]
        for b in range(n):
            columns[b] = next_columns[b]


@jit_inlined
def _collide(lanes: Lanes, b: int) -> None:
    """Write where Good and Evil of lane `b` go instead of the one place that both intend."""
    width = int(lanes.width[b])
    good = lanes.rows[0, b] * width + lanes.columns[0, b]
    evil = lanes.rows[1, b] * width + lanes.columns[1, b]
    both = lanes.next_rows[0, b] * width + lanes.next_columns[0, b]
    good, evil, lanes.counters[b] = resolve_collision(
        good, evil, both, both, lanes.seeds[b], lanes.counters[b]
    )
    lanes.next_rows[0, b], lanes.next_columns[0, b] = good // width, good % width
    lanes.next_rows[1, b], lanes.next_columns[1, b] = evil // width, evil % width


@jit_inlined
def ring_displacement(start: Any, goal: Any, size: Any) -> Any:
    """Return `torus.shortest_displacement` in 16 bits."""
    direct = np.int16(goal - start)
    twice = np.int16(2 * direct)
    direct = np.int16(direct - (size if twice > size else np.int16(0)))
    return np.int16(direct + (size if np.int16(twice + size) < 0 else np.int16(0)))


@jit_inlined
def ring_distance(start: Any, goal: Any, size: Any) -> Any:
    """Return the distance on a ring of a coordinate in [-size, 2 * size) and one on the ring."""
    direct = abs(np.int16(start - goal))
    return min(direct, abs(np.int16(size - direct)))


@jit_inlined
def write_rewards(lanes: Lanes, k: int, out: NDArray[np.int8]) -> None:
    """Write the rewards of entry k in n worlds, int8[n], in halves."""
    rows, columns, height, width = lanes.rows[k], lanes.columns[k], lanes.height, lanes.width
    good_rows, good_columns = lanes.rows[0], lanes.columns[0]
    evil_rows, evil_columns = lanes.rows[1], lanes.columns[1]
    for b in range(len(out)):
        to_good = max(
            ring_distance(rows[b], good_rows[b], height[b]),
            ring_distance(columns[b], good_columns[b], width[b]),
        )
        to_evil = max(
            ring_distance(rows[b], evil_rows[b], height[b]),
            ring_distance(columns[b], evil_columns[b], width[b]),
        )
        out[b] = reward_at_distance(to_good) - reward_at_distance(to_evil)


@jit_inlined
def find_objects(lanes: Lanes, k: int, axes: NDArray[np.int16], sights: NDArray[np.int8]) -> None:
    """Write what entry k sees in n worlds, int8[3, M, n or more]: rewards, Good and Evil.

    `axes` is int16[4, 2k + 1, n or more], working memory: the distances on each axis.
    """
    side, n = axes.shape[1], len(lanes.width)
    for other in range(2):
        for entry in range(side):
            shift = np.int16(entry - side // 2)
            down, right = axes[2 * other, entry], axes[2 * other + 1, entry]
            row, to_row = lanes.rows[k], lanes.rows[other]
            column, to_column = lanes.columns[k], lanes.columns[other]
            for b in range(n):
                down[b] = ring_distance(row[b] + shift, to_row[b], lanes.height[b])
                right[b] = ring_distance(column[b] + shift, to_column[b], lanes.width[b])
    for m in range(side * side):
        reward, good, evil = sights[0, m], sights[1, m], sights[2, m]
        good_row, good_column = axes[0, m // side], axes[1, m % side]
        evil_row, evil_column = axes[2, m // side], axes[3, m % side]
        for b in range(n):
            to_good = max(good_row[b], good_column[b])
            to_evil = max(evil_row[b], evil_column[b])
            reward[b] = reward_at_distance(to_good) - reward_at_distance(to_evil)
            good[b], evil[b] = to_good == 0, to_evil == 0


@jit_inlined
def write_entries(lanes: Lanes, k: int, other: int, radius: int, out: NDArray[np.int32]) -> None:
    """Write the entry of the neighbourhood of k that `other` is in; -1 if it is out of sight."""
    rows, columns = lanes.rows[k], lanes.columns[k]
    to_rows, to_columns = lanes.rows[other], lanes.columns[other]
    for b in range(len(out)):
        down = radius + ring_displacement(rows[b], to_rows[b], lanes.height[b])
        right = radius + ring_displacement(columns[b], to_columns[b], lanes.width[b])
        is_near = (0 <= down <= 2 * radius) & (0 <= right <= 2 * radius)
        out[b] = down * (2 * radius + 1) + right if is_near else -1
