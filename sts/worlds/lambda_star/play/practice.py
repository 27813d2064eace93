"""Rehearsed episodes in one compiled loop: learn over many passes, then play once for good.

A table here has a row for every state of an episode and serves one learner after another. Starting
it afresh costs nothing: each row carries the number of the learner that last wrote to it, and for
any other learner it is blank. So memory does not grow with episodes, participants or rehearsals.

S states are T steps of as many cells as the largest grid has; state = step * cells + cell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.numerics.compiled import compiled, lean
from sts.numerics.draws import uniform
from sts.worlds.lambda_star.agents.sets import MOVES, nth
from sts.worlds.lambda_star.agents.table import NEXT, ROW_BYTES, SAME, Table, best, learn, top
from sts.worlds.lambda_star.kernels import Arrays, Ints
from sts.worlds.lambda_star.play import object_paths
from sts.worlds.lambda_star.play.loop import Outcome, conclude, room
from sts.worlds.lambda_star.play.object_paths import ObjectPaths
from sts.worlds.lambda_star.torus import STAY, moved

STATE_BYTES = ROW_BYTES + 1
CELL_BYTES = MOVES * 4
_SLOTS = 2


class Plan(NamedTuple):
    """How teams learn.

    Attributes:
      shared: one table serves the whole team.
      ahead: which state values the future, as `Tabular.ahead` has it.
      rehearsals: passes before the one that counts.
    """

    shared: bool
    ahead: int
    rehearsals: int


class _Bench(NamedTuple):
    """What one thread works on.

    Attributes:
      table: of S rows.
      pay: int8[S], what a participant receives in `cell` after `step`, in halves.
      ways: int32[cells, 9], where each move leads.
      cells: int64[P], where participants are.
      states: int64[P], the state they last acted in.
    """

    table: Table
    pay: NDArray[np.int8]
    ways: NDArray[np.int32]
    cells: Ints
    states: Ints


class _Team(NamedTuple):
    """Who learns in one table: participants `start` to `stop` - 1 of one episode.

    Attributes:
      learner: the table's number.
      start: the first participant.
      stop: the one after the last.
      stream: uint64, the episode's.
      cells: how many the grid has.
    """

    learner: int
    start: int
    stop: int
    stream: np.uint64
    cells: int


@compiled
def episodes(
    a: Arrays,
    streams: NDArray[np.uint64],
    plan: Plan,
    out: Outcome,
    first: int,
    last: int,
) -> None:
    """Plays episodes `first` to `last` - 1; leaves the worlds where the pass that counts ended.

    Args:
      a: B worlds.
      streams: uint64[B]; pass k, step t draws what step k * T + t of a single episode would.
      plan: how teams learn.
      out: of the pass that counts, written.
      first: where to begin.
      last: where to stop.
    """
    steps, participants = out.moves.shape[1:]
    most, height, width, learner = 0, 0, 0, 0
    for b in range(first, last):
        most = max(most, a.size[b, 0] * a.size[b, 1])
    states = steps * most
    table = Table(np.zeros(states, np.int64), np.empty(states), np.empty((states, MOVES)))
    bench = _Bench(
        table,
        np.zeros(states, np.int8),
        np.empty((most, MOVES), np.int32),
        np.empty(participants, np.int64),
        np.empty(participants, np.int64),
    )
    paths = object_paths.blank(steps)
    if len(out.moves) == 0:
        out = room(1, steps, out.totals)
    together = participants if plan.shared else 1
    for b in range(first, last):
        if a.size[b, 0] != height or a.size[b, 1] != width:
            height, width = a.size[b, 0], a.size[b, 1]
            _chart(height, width, bench.ways)
        object_paths.run(a, b, paths)
        _pay(paths, height, width, 1, bench)
        into = b % len(out.moves)
        done, got = out.moves[into], out.rewards[into]
        for start in range(0, participants, together):
            learner += 1
            team = _Team(learner, start, start + together, streams[b], height * width)
            for k in range(plan.rehearsals + 1):
                _pass(bench, team, k, plan, a.cells[b], done, got)
        _pay(paths, height, width, 0, bench)
        a.cells[b] = bench.cells
        conclude(a, b, done, got, out.totals[b])


@lean
def _chart(height: int, width: int, ways: NDArray[np.int32]) -> None:
    """Writes where each move leads from each cell."""
    for cell in range(height * width):
        for move in range(MOVES):
            ways[cell, move] = moved(cell, move, height, width)


@lean
def _pay(paths: ObjectPaths, height: int, width: int, unit: int, bench: _Bench) -> None:
    """Adds what Good and Evil bring to every cell after every step; with unit 0 clears it again.

    Source: Chmait et al. 2016, section 4.1.2.
    """
    for t in range(paths.good_next.size):
        first = t * height * width
        good = paths.good_row[t + 1] * width + paths.good_column[t + 1]
        evil = paths.evil_row[t + 1] * width + paths.evil_column[t + 1]
        for move in range(MOVES):
            worth = 2 if move == STAY else 1
            gives, takes = first + bench.ways[good, move], first + bench.ways[evil, move]
            bench.pay[gives] = unit * (bench.pay[gives] + worth)
            bench.pay[takes] = unit * (bench.pay[takes] - worth)


@lean
def _pass(
    bench: _Bench,
    team: _Team,
    k: int,
    plan: Plan,
    starts: Ints,
    done: NDArray[np.int8],
    got: NDArray[np.int8],
) -> None:
    """Plays pass `k` from `starts`, int64[P], and writes its moves and rewards, int8[T, P].

    SARSA needs no case of its own: the next move is always a best one of the next state, which
    nobody learns about before it is made, so its value is the highest there.
    """
    table, pay, ways, cells, states = bench
    steps, participants = done.shape
    for p in range(team.start, team.stop):
        cells[p] = starts[p]
    for t in range(steps):
        here = t * team.cells
        drawn = (k * steps + t) * participants
        for p in range(team.start, team.stop):
            states[p] = here + cells[p]
            u = uniform(team.stream, (drawn + p) * _SLOTS)
            move = nth(best(table, states[p], team.learner), u)
            cells[p] = ways[cells[p], move]
            done[t, p], got[t, p] = move, pay[here + cells[p]]
        if k < plan.rehearsals:
            over = plan.ahead == NEXT and t + 1 == steps
            base = here + team.cells if plan.ahead == NEXT else (here if plan.ahead == SAME else 0)
            for p in range(team.start, team.stop):
                future = 0.0 if over else top(table, base + cells[p], team.learner)
                learn(table, states[p], team.learner, int(done[t, p]), int(got[t, p]), future)
