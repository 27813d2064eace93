"""Compiled loop for practised episodes: learn over many passes, then play the final one.

It uses the same random draws as the general path, so both give the same episodes.

A table here has a row for every state of an episode and serves one learner after another, each of
which frees all rows first. So memory does not grow with episodes, players or rehearsals.

Axes: B episodes, T steps, P players, S states, which are T steps of as many cells as the
largest grid has; state = step * cells + cell.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import jit, jit_inlined, jit_internal, random_uniform
from sts_lambda_star.agents.move_sets import MOVES, pick_move
from sts_lambda_star.agents.q_learning import CooperativeQLearning, QLearning
from sts_lambda_star.agents.sarsa import CooperativeSarsa, Sarsa
from sts_lambda_star.agents.value_table import (
    FREE,
    NEXT,
    ROW_BYTES,
    SAME,
    Table,
    best_moves,
    best_value,
    learn,
)
from sts_lambda_star.kernels import Ints, WorldArrays
from sts_lambda_star.lanes import (
    LANES,
    Lanes,
    advance_objects,
    find_intended_places,
    list_blocks,
    load_lanes,
    make_lanes,
    store_objects,
)
from sts_lambda_star.torus import STAY, move_cell

LEARNERS = {c.name: c for c in (QLearning, CooperativeQLearning, Sarsa, CooperativeSarsa)}
STATE_BYTES = ROW_BYTES + 1
CELL_BYTES = MOVES * 4
_SLOTS = 2
_OWNER = 0


class Outcome(NamedTuple):
    """Moves, and rewards in halves, of B episodes: int8[B, T, P] each."""

    actions: NDArray[np.int8]
    rewards: NDArray[np.int8]


class LearningRule(NamedTuple):
    """Learning rule: one `shared` table or one per role, and `TabularLearner.future_kind`."""

    shared: bool
    future_kind: int
    practice_passes: int


class _Scratch(NamedTuple):
    """Working memory of one thread."""

    table: Table  # a table of S rows
    rewards: NDArray[np.int8]  # int8[S], the reward for being in `cell` after `step`, in halves
    next_cells: NDArray[np.int32]  # int32[cells, 9], the cell that each move leads to
    cells: Ints  # int64[P], the players' cells
    states: Ints  # int64[P], the states in which they last acted
    objects: NDArray[np.int32]  # int32[T, 2, n], the cells of Good and Evil in n episodes


class _Team(NamedTuple):
    """Players `start` to `stop` - 1 of one episode, which share the table."""

    start: int
    stop: int
    stream: np.uint64
    cells: int


def play_learner(
    name: str,
    worlds: WorldArrays,
    streams: NDArray[np.uint64],
    *,
    steps: int,
    rehearsals: int = 0,
    threads: int = 1,
    bootstrap: str = "next",
) -> Outcome:
    """Play learner `name` in every role of B worlds, which are left at the end of the final pass.

    T = `steps` is at least 1. `streams` is uint64[B]; pass k, step t has the draws of step
    k * T + t of a single episode. Results do not depend on `threads`, each of which has a table.
    `bootstrap` is as in `TabularLearner`; "published" needs worlds at step 0.
    """
    learner = LEARNERS[name](bootstrap)
    plan = LearningRule(learner.shared, learner.future_kind, rehearsals)
    shape = (streams.size, steps, worlds.cells.shape[1])
    out = Outcome(np.empty(shape, np.int8), np.empty(shape, np.int8))
    part = partial(_play_episodes, worlds, streams, plan, out)
    edges = np.linspace(0, streams.size, threads + 1).astype(np.int64).tolist()
    with ThreadPoolExecutor(threads) as executor:
        list(executor.map(part, edges[:-1], edges[1:]))
    return out


def table_bytes(cells: int, steps: int) -> int:
    """Return the working memory of a thread in bytes."""
    return cells * (steps * STATE_BYTES + CELL_BYTES) + steps * 2 * LANES * 4


def _play_episodes(
    a: WorldArrays,
    streams: NDArray[np.uint64],
    plan: LearningRule,
    out: Outcome,
    first: int,
    last: int,
) -> None:
    """Play episodes `first` to `last` - 1."""
    steps, n_players = out.actions.shape[1:]
    for start, stop, n in list_blocks(first, last):
        lanes = make_lanes(2 + n_players, n, a.patterns)
        _practise(lanes, a, streams, plan, out, start, stop)


@jit
def _practise(
    lanes: Lanes,
    a: WorldArrays,
    streams: NDArray[np.uint64],
    plan: LearningRule,
    out: Outcome,
    first: int,
    last: int,
) -> None:
    """Play episodes `first` to `last` - 1, which fill blocks of n lanes."""
    steps, n_players = out.actions.shape[1:]
    no_observers, most, height, width = np.empty((len(streams), 0), np.int64), 0, 0, 0
    for b in range(first, last):
        most = max(most, a.size[b, 0] * a.size[b, 1])
    states, n = steps * most, len(lanes.cells)
    table = Table(np.empty(states, np.int32), np.empty(states), np.empty((states, MOVES)))
    bench = _Scratch(
        table,
        np.empty(states, np.int8),
        np.empty((most, MOVES), np.int32),
        np.empty(n_players, np.int64),
        np.empty(n_players, np.int64),
        np.empty((steps, 2, n), np.int32),
    )
    together = n_players if plan.shared else 1
    for b in range(first, last):
        if a.size[b, 0] != height or a.size[b, 1] != width:
            height, width = a.size[b, 0], a.size[b, 1]
            _write_ways(height, width, bench.next_cells)
        if (b - first) % n == 0:
            load_lanes(lanes, a, no_observers, b)
            _move_objects(lanes, bench.objects)
            store_objects(lanes, a, b)
        _write_rewards(bench, (b - first) % n, height * width)
        actions, rewards = out.actions[b], out.rewards[b]
        for start in range(0, n_players, together):
            bench.table.marks[: steps * height * width] = FREE
            team = _Team(start, start + together, streams[b], height * width)
            for k in range(plan.practice_passes + 1):
                _play_pass(bench, team, k, plan, a.cells[b], actions, rewards)
        for p in range(n_players):  # numba would spend seconds on checks of assigned slices
            a.cells[b, p], a.utterances[b, p] = bench.cells[p], 0
            a.actions[b, p], a.rewards[b, p] = actions[steps - 1, p], rewards[steps - 1, p]
        a.step[b] += steps


@jit_internal
def _write_ways(height: int, width: int, ways: NDArray[np.int32]) -> None:
    """Write the cell that each move leads to from each cell."""
    for cell in range(height * width):
        for move in range(MOVES):
            ways[cell, move] = move_cell(cell, move, height, width)


@jit_internal
def _move_objects(lanes: Lanes, objects: NDArray[np.int32]) -> None:
    """Write where Good and Evil are after every step, int32[T, 2, n]; leave them at the last."""
    for t in range(len(objects)):
        find_intended_places(lanes)
        advance_objects(lanes)
        for index in range(2):
            rows, columns, cells = lanes.rows[index], lanes.columns[index], objects[t, index]
            for k in range(len(cells)):
                cells[k] = np.int32(rows[k]) * lanes.width[k] + columns[k]


@jit_internal
def _write_rewards(bench: _Scratch, k: int, cells: int) -> None:
    """Write the reward of every cell of a grid after every step, in the episode of lane k.

    Source: Chmait et al. 2016, section 4.1.2.
    """
    steps = len(bench.objects)
    for state in range(steps * cells):
        bench.rewards[state] = 0
    for t in range(steps):
        good, evil = bench.objects[t, 0, k], bench.objects[t, 1, k]
        for move in range(MOVES):
            worth = 2 if move == STAY else 1
            bench.rewards[t * cells + bench.next_cells[good, move]] += worth
            bench.rewards[t * cells + bench.next_cells[evil, move]] -= worth


@jit_inlined
def _play_pass(
    bench: _Scratch,
    team: _Team,
    k: int,
    plan: LearningRule,
    starts: Ints,
    actions: NDArray[np.int8],
    rewards: NDArray[np.int8],
) -> None:
    """Play pass `k` from `starts`, int64[P], and write its moves and rewards, int8[T, P].

    SARSA needs no special case: the next move is always a best one of the next state, whose values
    do not change before it is made, so its value is the highest there.
    """
    table, pay, ways, cells, states, _ = bench
    steps, n_players = actions.shape
    for p in range(team.start, team.stop):
        cells[p] = starts[p]
    for t in range(steps):
        here = t * team.cells
        counter = (k * steps + t) * n_players
        for p in range(team.start, team.stop):
            states[p] = here + cells[p]
            u = random_uniform(team.stream, (counter + p) * _SLOTS)
            move = pick_move(best_moves(table, states[p], _OWNER), u)
            cells[p] = ways[cells[p], move]
            actions[t, p], rewards[t, p] = move, pay[here + cells[p]]
        if k < plan.practice_passes:
            over = plan.future_kind == NEXT and t + 1 == steps
            base = (
                here + team.cells
                if plan.future_kind == NEXT
                else (here if plan.future_kind == SAME else 0)
            )
            for p in range(team.start, team.stop):
                future = 0.0 if over else best_value(table, base + cells[p], _OWNER)
                move, reward = int(actions[t, p]), int(rewards[t, p])
                learn(table, states[p], _OWNER, move, reward, future)
