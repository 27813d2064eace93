"""Compiled kernels of Λ*: one step of B worlds, and their players' observations.

Axes: B worlds, P players, R observing roles, M = (2k+1)^2 cells of a Moore neighbourhood.
Cells are row * W + column. A move m goes (m // 3 - 1) rows down and (m % 3 - 1) columns right.
Rewards are whole numbers of halves. Nothing here allocates inside a loop, does I/O or raises.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import jit, jit_inlined
from sts_lambda_star.arrays import Ints as Ints
from sts_lambda_star.arrays import WorldArrays as WorldArrays
from sts_lambda_star.lanes import (
    LANES,
    advance_objects,
    find_intended_places,
    find_objects,
    load_lanes,
    make_lanes,
    make_moves,
    reward_at_distance,
    store_objects,
    write_entries,
    write_rewards,
)
from sts_lambda_star.torus import STAY, distance, first_move, move_cell


@jit
def reward_at_cell(cell: int, good: int, evil: int, height: int, width: int) -> int:
    """Return the reward at `cell` in halves: Good's minus Evil's.

    Source: Chmait et al. 2016, section 4.1.2.
    """
    gain = reward_at_distance(distance(cell, good, height, width))
    return int(gain - reward_at_distance(distance(cell, evil, height, width)))


@jit_inlined
def intended_cell(cell: int, entry: int, kind: int, height: int, width: int) -> int:
    """Return the cell that a pattern's `entry`, a move from `cell` or a cell, leads to."""
    return entry if kind == 1 else int(move_cell(cell, entry, height, width))


@jit
def step_worlds(a: WorldArrays, actions: NDArray[np.int8], utterances: NDArray[np.int8]) -> None:
    """Advance B worlds by one step: players, Good and Evil, then the rewards."""
    batch, n_players = a.cells.shape
    no_observers = np.empty((batch, 0), np.int64)
    for b in range(batch):
        a.step[b] += 1
        for p in range(n_players):  # numba would spend seconds on checks of assigned slices
            a.actions[b, p], a.utterances[b, p] = actions[b, p], utterances[b, p]
    for first in range(0, batch, LANES):
        n = min(LANES, batch - first)
        lanes = make_lanes(2 + n_players, n, a.patterns)
        load_lanes(lanes, a, no_observers, first)
        find_intended_places(lanes)
        advance_objects(lanes)
        store_objects(lanes, a, first)
        for p in range(n_players):
            rows, columns = lanes.rows[2 + p], lanes.columns[2 + p]
            make_moves(rows, columns, lanes, actions[first : first + n, p])
            write_rewards(lanes, 2 + p, a.rewards[first : first + n, p])
            for b in range(n):
                a.cells[first + b, p] = np.int32(rows[b]) * lanes.width[b] + columns[b]


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
    axes = np.empty((4, side, LANES), np.int16)
    sights, entries = np.empty((3, side * side, LANES), np.int8), np.empty(LANES, np.int32)
    for first in range(0, batch, LANES):
        n = min(LANES, batch - first)
        lanes = make_lanes(2 + n_players + players.shape[1], n, a.patterns)
        load_lanes(lanes, a, players, first)
        for i in range(players.shape[1]):
            me = 2 + n_players + i
            find_objects(lanes, me, axes, sights)
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
                write_entries(lanes, me, 2 + p, radius, entries[:n])
                for b in range(n):
                    if entries[b] >= 0 and players[first + b, i] != p:
                        counts = out.team if in_team[first + b, p] else out.others
                        counts[first + b, i, entries[b]] += 1
                        if a.utterances[first + b, p] > 0:
                            out.heard[first + b, i, a.utterances[first + b, p]] += 1


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


@jit
def constant_headings(a: WorldArrays, index: int) -> Ints:
    """Return int64[B], the single move that Good (index 0) or Evil (1) intends at every step.

    It is -1 if the pattern has different moves, a jump or only "stay". Collisions are ignored.
    """
    out = np.empty(a.step.size, np.int64)
    for b in range(out.size):
        first, height, width = a.offset[b, index], a.size[b, 0], a.size[b, 1]
        pattern = a.patterns[first : first + a.length[b, index]]
        out[b] = constant_heading(pattern, a.kind[b], height, width)
    return out


@jit
def constant_heading(pattern: Ints, kind: int, height: int, width: int) -> int:
    """Return the single move, other than "stay", that `pattern` repeats; -1 without one."""
    heading = -1
    for i in range(pattern.size):
        move = pattern[i]
        if kind == 1:
            after = pattern[i + 1 if i + 1 < pattern.size else 0]
            is_near = distance(move, after, height, width) < 2
            move = first_move(move, after, height, width) if is_near else STAY
        if move == STAY or (i > 0 and move != heading):
            return -1
        heading = move
    return heading


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
