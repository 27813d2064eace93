"""Compiled kernels of Λ*: one step of B worlds, and their players' observations.

Axes: B worlds, P players, R observing roles, M = (2k+1)^2 cells of a Moore neighbourhood.
Cells are row * W + column. A move m goes (m // 3 - 1) rows down and (m % 3 - 1) columns right.
Rewards are whole numbers of halves. Nothing here allocates inside a loop, does I/O or raises.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.numerics.compiled import callable_from_jit, jit, jit_inlined
from sts.numerics.draws import random_word
from sts.worlds.lambda_star.torus import (
    STAY,
    distance,
    first_move,
    move_cell,
    place_distance,
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


@callable_from_jit
def reward_at_distance(away: Any) -> Any:
    """Return Good's reward at a distance, in halves: 2 / (away + 1) for away < 2, else 0.

    Source: Chmait et al. 2016, section 4.1.2.
    """
    return (2 - away) * (away < 2)


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


@jit
def step_worlds(a: WorldArrays, actions: NDArray[np.int8], utterances: NDArray[np.int8]) -> None:
    """Advance B worlds by one step: players, Good and Evil, then the rewards."""
    batch, n_players = a.cells.shape
    for b in range(batch):
        height, width = a.size[b, 0], a.size[b, 1]
        for p in range(n_players):
            a.cells[b, p] = move_cell(a.cells[b, p], actions[b, p], height, width)
            a.actions[b, p] = actions[b, p]
            a.utterances[b, p] = utterances[b, p]
        advance_objects(a, b)
        a.step[b] += 1
        good, evil = a.objects[b, 0], a.objects[b, 1]
        for p in range(n_players):
            a.rewards[b, p] = reward_at_cell(a.cells[b, p], good, evil, height, width)


class Sight(NamedTuple):
    """Observation arrays of R roles, filled by `observe_worlds`."""

    good: NDArray[np.bool_]  # bool[B, R, M], True where Good is
    evil: NDArray[np.bool_]  # bool[B, R, M], True where Evil is
    team: NDArray[np.uint16]  # uint16[B, R, M], the number of teammates
    others: NDArray[np.uint16]  # uint16[B, R, M], the number of other players
    reward: NDArray[np.int8]  # int8[B, R, M], in halves
    # uint16[B, R, V], the number in the neighbourhood that said each token in the last step
    heard: NDArray[np.uint16]


@jit
def observe_worlds(
    a: WorldArrays, players: Ints, in_team: NDArray[np.bool_], radius: int, out: Sight
) -> None:
    """Write the observations of `players`, int64[B, R], within `radius` to `out`, which is zero.

    `in_team` is bool[B, P], True for teammates; the observer itself is never counted. A
    neighbourhood of side 2 * radius + 1 must fit the grids.
    """
    batch, n_players = a.cells.shape
    side = 2 * radius + 1
    for b in range(batch):
        height, width = a.size[b, 0], a.size[b, 1]
        good, evil = a.objects[b, 0], a.objects[b, 1]
        good_row, good_column = good // width, good % width
        evil_row, evil_column = evil // width, evil % width
        for i in range(players.shape[1]):
            me = players[b, i]
            row, column = a.cells[b, me] // width, a.cells[b, me] % width
            to_good = place_distance(row, column, good_row, good_column, height, width)
            to_evil = place_distance(row, column, evil_row, evil_column, height, width)
            if to_good <= radius + 1 or to_evil <= radius + 1:
                for m in range(side * side):
                    y = wrap(row + m // side - radius, height)
                    x = wrap(column + m % side - radius, width)
                    to_good = place_distance(y, x, good_row, good_column, height, width)
                    to_evil = place_distance(y, x, evil_row, evil_column, height, width)
                    out.good[b, i, m] = to_good == 0
                    out.evil[b, i, m] = to_evil == 0
                    out.reward[b, i, m] = reward_at_distance(to_good) - reward_at_distance(to_evil)
            for p in range(n_players):
                if p == me:
                    continue
                other_row, other_column = a.cells[b, p] // width, a.cells[b, p] % width
                if place_distance(row, column, other_row, other_column, height, width) > radius:
                    continue
                down = shortest_displacement(row, other_row, height)
                right = shortest_displacement(column, other_column, width)
                m = (down + radius) * side + right + radius
                if in_team[b, p]:
                    out.team[b, i, m] += 1
                else:
                    out.others[b, i, m] += 1
                if a.utterances[b, p] > 0:
                    out.heard[b, i, a.utterances[b, p]] += 1


@jit
def intended_cells(a: WorldArrays, index: int) -> Ints:
    """Return int64[B], the cell that Good (index 0) or Evil (1) intends next in each world."""
    out = np.empty(a.step.size, np.int64)
    for b in range(out.size):
        entry = a.patterns[a.offset[b, index] + a.cursor[b, index]]
        out[b] = intended_cell(a.objects[b, index], entry, a.kind[b], a.size[b, 0], a.size[b, 1])
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
    )


def copy_arrays(a: WorldArrays) -> WorldArrays:
    """Return a copy of the worlds; the patterns, which are never modified, are shared."""
    copies = {name: array.copy() for name, array in a._asdict().items() if name != "patterns"}
    return a._replace(**copies)
