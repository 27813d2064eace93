"""Compiled kernels of Λ*: one step of B worlds, and their players' observations.

Axes: B worlds, P players, R observing roles, M = (2k+1)^2 cells of a Moore neighbourhood.
Cells are row * W + column. A move m goes (m // 3 - 1) rows down and (m % 3 - 1) columns right.
Rewards are whole numbers of halves. Nothing here allocates inside a loop, does I/O or raises.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import callable_from_jit, jit, jit_inlined, random_word
from sts_lambda_star.torus import (
    STAY,
    distance,
    first_move,
    move_cell,
    shortest_displacement,
    wrap,
)

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


@callable_from_jit
def reward_at_distance(cells: Any) -> Any:
    """Return Good's reward at a distance in cells, in halves: 2 / (cells + 1) below 2, else 0.

    Source: Chmait et al. 2016, section 4.1.2.
    """
    return (2 - cells) * (cells < 2)


@jit
def reward_at_cell(cell: int, good: int, evil: int, height: int, width: int) -> int:
    """Return the reward at `cell` in halves: Good's minus Evil's.

    Source: Chmait et al. 2016, section 4.1.2.
    """
    gain = reward_at_distance(distance(cell, good, height, width))
    return int(gain - reward_at_distance(distance(cell, evil, height, width)))


@jit
def intended_cell(cell: int, entry: int, kind: int, height: int, width: int) -> int:
    """Return the cell that a pattern's `entry`, a move from `cell` or a cell, leads to."""
    return entry if kind == 1 else int(move_cell(cell, entry, height, width))


@jit
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


@jit
def next_cursor(cursor: int, length: int) -> int:
    """Return the index after `cursor` in a cyclic pattern."""
    return 0 if cursor + 1 == length else cursor + 1


@jit_inlined
def advance_objects(a: WorldArrays, b: int) -> None:
    """Advance Good and Evil of world `b` by one step, independently of the players."""
    height, width, kind = a.size[b, 0], a.size[b, 1], a.kind[b]
    good, evil = a.objects[b, 0], a.objects[b, 1]
    good_entry = a.patterns[a.offset[b, 0] + a.cursor[b, 0]]
    evil_entry = a.patterns[a.offset[b, 1] + a.cursor[b, 1]]
    good_next = intended_cell(good, good_entry, kind, height, width)
    evil_next = intended_cell(evil, evil_entry, kind, height, width)
    seed, counter = a.seed[b], a.counter[b]
    good, evil, counter = resolve_collision(good, evil, good_next, evil_next, seed, counter)
    a.objects[b, 0], a.objects[b, 1], a.counter[b] = good, evil, counter
    for index in range(2):
        a.cursor[b, index] = next_cursor(a.cursor[b, index], a.length[b, index])


LANES = 64
"""Worlds whose coordinates are computed together, as integers of 16 bits."""


class Lanes(NamedTuple):
    """Coordinates in up to `LANES` worlds: of Good, of Evil, of P players and of R observers.

    Loops over lanes vectorise if they index slices from 0, call no division and do not branch.
    """

    height: NDArray[np.int16]  # int16[LANES]
    width: NDArray[np.int16]  # int16[LANES]
    rows: NDArray[np.int16]  # int16[2 + P + R, LANES]
    columns: NDArray[np.int16]  # int16[2 + P + R, LANES]
    cells: Ints  # int64[LANES], working memory


@jit
def _make_lanes(n_places: int) -> Lanes:
    """Return lanes whose values are undefined."""
    sizes, places = np.empty((2, LANES), np.int16), np.empty((2, n_places, LANES), np.int16)
    return Lanes(sizes[0], sizes[1], places[0], places[1], np.empty(LANES, np.int64))


@jit
def _load_lanes(lanes: Lanes, a: WorldArrays, players: Ints, first: int, n: int) -> None:
    """Load n worlds, from the `first`; `players` are the observers, int64[B, R].

    Quotients in float32 vectorise, and their integer part is exact on grids of up to 255 x 255.
    """
    n_players = a.cells.shape[1]
    for b in range(n):
        lanes.height[b], lanes.width[b] = a.size[first + b, 0], a.size[first + b, 1]
    for k in range(2 + n_players + players.shape[1]):
        for b in range(n):
            if k < 2:
                lanes.cells[b] = a.objects[first + b, k]
            elif k < 2 + n_players:
                lanes.cells[b] = a.cells[first + b, k - 2]
            else:
                lanes.cells[b] = a.cells[first + b, players[first + b, k - 2 - n_players]]
        rows, columns = lanes.rows[k], lanes.columns[k]
        for b in range(n):
            cell, width = np.int32(lanes.cells[b]), np.int32(lanes.width[b])
            row = np.int32(np.float32(cell) / np.float32(width))
            rows[b], columns[b] = row, cell - row * width


@jit_inlined
def _ring_distance(start: Any, goal: Any, size: Any) -> Any:
    """Return the distance on a ring of a coordinate in [-size, 2 * size) and one on the ring."""
    direct = abs(np.int16(start - goal))
    return min(direct, abs(np.int16(size - direct)))


@jit
def step_worlds(a: WorldArrays, actions: NDArray[np.int8], utterances: NDArray[np.int8]) -> None:
    """Advance B worlds by one step: players, Good and Evil, then the rewards."""
    batch, n_players = a.cells.shape
    lanes, no_observers = _make_lanes(2 + n_players), np.empty((batch, 0), np.int64)
    for b in range(batch):
        advance_objects(a, b)
        a.step[b] += 1
        for p in range(n_players):  # numba would spend seconds on checks of assigned slices
            a.actions[b, p], a.utterances[b, p] = actions[b, p], utterances[b, p]
    for first in range(0, batch, LANES):
        n = min(LANES, batch - first)
        _load_lanes(lanes, a, no_observers, first, n)
        for p in range(n_players):
            _move_player(lanes, 2 + p, actions[first : first + n, p], a.cells[first : first + n, p])
            _write_rewards(lanes, 2 + p, a.rewards[first : first + n, p])


@jit_inlined
def _move_player(lanes: Lanes, k: int, moves: NDArray[np.int8], cells: Ints) -> None:
    """Make the moves, int8[n], of entry k in n worlds, and write its cells, int64[n]."""
    rows, columns, height, width = lanes.rows[k], lanes.columns[k], lanes.height, lanes.width
    for b in range(len(moves)):
        down = moves[b] * 11 >> 5  # moves[b] // 3, for 0 to 8
        rows[b] = wrap(rows[b] + down - 1, height[b])
        columns[b] = wrap(columns[b] + (moves[b] - 3 * down) - 1, width[b])
        cells[b] = np.int32(rows[b]) * width[b] + columns[b]


@jit_inlined
def _write_rewards(lanes: Lanes, k: int, out: NDArray[np.int8]) -> None:
    """Write the rewards of entry k in n worlds, int8[n], in halves."""
    rows, columns, height, width = lanes.rows[k], lanes.columns[k], lanes.height, lanes.width
    good_rows, good_columns = lanes.rows[0], lanes.columns[0]
    evil_rows, evil_columns = lanes.rows[1], lanes.columns[1]
    for b in range(len(out)):
        to_good = max(
            _ring_distance(rows[b], good_rows[b], height[b]),
            _ring_distance(columns[b], good_columns[b], width[b]),
        )
        to_evil = max(
            _ring_distance(rows[b], evil_rows[b], height[b]),
            _ring_distance(columns[b], evil_columns[b], width[b]),
        )
        out[b] = reward_at_distance(to_good) - reward_at_distance(to_evil)


class Sight(NamedTuple):
    """Observation arrays of R roles, filled by `observe_worlds`."""

    good: NDArray[np.bool_]  # bool[B, R, M], True where Good is
    evil: NDArray[np.bool_]  # bool[B, R, M], True where Evil is
    team: NDArray[np.uint16]  # uint16[B, R, M], the number of teammates
    others: NDArray[np.uint16]  # uint16[B, R, M], the number of other players
    reward: NDArray[np.int8]  # int8[B, R, M], in halves
    # uint16[B, R, V], the number in the neighbourhood that said each token in the last step
    heard: NDArray[np.uint16]
    cell: Ints  # int64[B, R], the role's own cell
    last_move: NDArray[np.int8]  # int8[B, R], its last action
    last_said: NDArray[np.int8]  # int8[B, R], its last token
    last_reward: NDArray[np.int8]  # int8[B, R], its last reward


@jit
def observe_worlds(
    a: WorldArrays, players: Ints, in_team: NDArray[np.bool_], radius: int, out: Sight
) -> None:
    """Write the observations of `players`, int64[B, R], within `radius` to `out`.

    The counts in `out` (team, others and heard) must be zero. `in_team` is bool[B, P], True for
    teammates; the observer itself is never counted. A neighbourhood of side 2 * radius + 1 must
    fit the grids.
    """
    batch, n_players = a.cells.shape
    side = 2 * radius + 1
    lanes = _make_lanes(2 + n_players + players.shape[1])
    axes = np.empty((4, side, LANES), np.int16)
    sights, entries = np.empty((3, side * side, LANES), np.int8), np.empty(LANES, np.int32)
    for first in range(0, batch, LANES):
        n = min(LANES, batch - first)
        _load_lanes(lanes, a, players, first, n)
        for i in range(players.shape[1]):
            me = 2 + n_players + i
            _find_objects(lanes, me, n, axes, sights)
            for b in range(first, first + n):
                own = players[b, i]
                out.cell[b, i], out.last_move[b, i] = a.cells[b, own], a.actions[b, own]
                out.last_said[b, i], out.last_reward[b, i] = a.utterances[b, own], a.rewards[b, own]
            for b in range(n):
                for m in range(side * side):
                    out.reward[first + b, i, m] = sights[0, m, b]
                    out.good[first + b, i, m] = sights[1, m, b]
                    out.evil[first + b, i, m] = sights[2, m, b]
            for p in range(n_players):
                _write_entries(lanes, me, 2 + p, radius, entries[:n])
                for b in range(n):
                    if entries[b] >= 0 and players[first + b, i] != p:
                        counts = out.team if in_team[first + b, p] else out.others
                        counts[first + b, i, entries[b]] += 1
                        if a.utterances[first + b, p] > 0:
                            out.heard[first + b, i, a.utterances[first + b, p]] += 1


@jit_inlined
def _find_objects(
    lanes: Lanes, k: int, n: int, axes: NDArray[np.int16], sights: NDArray[np.int8]
) -> None:
    """Write what entry k sees in n worlds, int8[3, M, LANES]: rewards, Good and Evil.

    `axes` is int16[4, 2k + 1, LANES], working memory: the distances on each axis.
    """
    side = axes.shape[1]
    for other in range(2):
        for entry in range(side):
            shift = np.int16(entry - side // 2)
            down, right = axes[2 * other, entry], axes[2 * other + 1, entry]
            row, to_row = lanes.rows[k], lanes.rows[other]
            column, to_column = lanes.columns[k], lanes.columns[other]
            for b in range(n):
                down[b] = _ring_distance(row[b] + shift, to_row[b], lanes.height[b])
                right[b] = _ring_distance(column[b] + shift, to_column[b], lanes.width[b])
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
def _write_entries(lanes: Lanes, k: int, other: int, radius: int, out: NDArray[np.int32]) -> None:
    """Write the entry of the neighbourhood of k that `other` is in; -1 if it is out of sight."""
    rows, columns = lanes.rows[k], lanes.columns[k]
    to_rows, to_columns = lanes.rows[other], lanes.columns[other]
    for b in range(len(out)):
        down = radius + shortest_displacement(rows[b], to_rows[b], lanes.height[b])
        right = radius + shortest_displacement(columns[b], to_columns[b], lanes.width[b])
        is_near = (0 <= down <= 2 * radius) & (0 <= right <= 2 * radius)
        out[b] = down * (2 * radius + 1) + right if is_near else -1


@jit
def intended_cells(a: WorldArrays, index: int) -> Ints:
    """Return int64[B], the cell that Good (index 0) or Evil (1) intends next in each world."""
    out = np.empty(a.step.size, np.int64)
    for b in range(out.size):
        entry = a.patterns[a.offset[b, index] + a.cursor[b, index]]
        out[b] = intended_cell(a.objects[b, index], entry, a.kind[b], a.size[b, 0], a.size[b, 1])
    return out


def joint_rewards(a: WorldArrays, players: Ints, cells: Ints) -> NDArray[np.int8]:
    """Return int8[B, R, M], the rewards on `cells` if Good and Evil need players near them.

    `players` is int64[B, R]; each is on its `cells` in turn, and all others are where they are.
    """
    size, out = (a.size[:, :1], a.size[:, 1:]), np.zeros(cells.shape, np.int8)
    for index in range(2):
        there = a.objects[:, index : index + 1]
        near = distance(a.cells, there, *size) < 2
        others = near.sum(1, keepdims=True) - np.take_along_axis(near, players, 1)
        away = distance(cells, there[..., None], *(side[..., None] for side in size))
        pays = (others + 1 >= a.needs[:, None])[..., None]
        out += ((1 - 2 * index) * pays * reward_at_distance(away)).astype(np.int8)
    return out


def constant_headings(a: WorldArrays, index: int) -> Ints:
    """Return int64[B], the single move that Good (index 0) or Evil (1) intends at every step.

    It is -1 if the pattern has different moves, a jump or only "stay". Collisions are ignored.
    """
    worlds = zip(a.offset[:, index], a.length[:, index], a.kind, *a.size.T, strict=True)
    out = [constant_heading(a.patterns[i : i + length], *rest) for i, length, *rest in worlds]
    return np.array(out, np.int64)


def constant_heading(pattern: Ints, kind: int, height: int, width: int) -> int:
    """Return the single move, other than "stay", that `pattern` repeats; -1 without one."""
    actions = pattern
    if kind == 1:
        after = np.roll(pattern, -1)
        near = distance(pattern, after, height, width) < 2
        actions = np.where(near, first_move(pattern, after, height, width), STAY)
    return int(actions[0]) if actions[0] != STAY and (actions == actions[0]).all() else -1


def zero_arrays(batch: int, n_players: int, patterns: Ints) -> WorldArrays:
    """Return zeroed arrays of `batch` worlds with these patterns."""

    def zeros(*shape: int, dtype: Any = np.int64) -> NDArray[Any]:
        return np.zeros(shape, dtype)

    return WorldArrays(
        size=zeros(batch, 2),
        cells=zeros(batch, n_players),
        objects=zeros(batch, 2),
        kind=zeros(batch),
        patterns=patterns,
        offset=zeros(batch, 2),
        length=zeros(batch, 2),
        cursor=zeros(batch, 2),
        step=zeros(batch),
        horizon=zeros(batch),
        seed=zeros(batch, dtype=np.uint64),
        counter=zeros(batch),
        actions=np.full((batch, n_players), -1, np.int8),
        utterances=zeros(batch, n_players, dtype=np.int8),
        rewards=zeros(batch, n_players, dtype=np.int8),
        needs=np.ones(batch, np.int64),
    )


def copy_arrays(a: WorldArrays) -> WorldArrays:
    """Return a copy of the worlds; the patterns, which are never modified, are shared."""
    copies = {name: array.copy() for name, array in a._asdict().items() if name != "patterns"}
    return a._replace(**copies)
