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

from sts.numerics.compiled import compiled
from sts.numerics.draws import uniform
from sts.worlds.lambda_star.agents.sets import ALL, MOVES, nth
from sts.worlds.lambda_star.agents.table import START, updated
from sts.worlds.lambda_star.kernels import Arrays, Ints
from sts.worlds.lambda_star.play import object_paths
from sts.worlds.lambda_star.torus import STAY, moved

NEXT, FIRST, SAME = range(3)
STATE_BYTES = (MOVES + 1) * 8 + 8 + 1
CELL_BYTES = MOVES * 4
_SLOTS = 2
_NUMBER = 2 * MOVES


class Plan(NamedTuple):
    """How teams learn.

    Attributes:
      shared: one table serves the whole team.
      ahead: which state values the future of (cell, step) after a move to cell': NEXT is
        (cell', step + 1), and 0 after the last step; FIRST is (cell', 0); SAME is (cell', step).
      rehearsals: passes before the one that counts.
    """

    shared: bool
    ahead: int
    rehearsals: int


class _Desk(NamedTuple):
    """What one thread works on.

    Attributes:
      values: float64[S, 9], of each move; means nothing where it was not tried.
      tops: float64[S], the highest of them.
      marks: int64[S], the learner's number << 18 | the moves it tried << 9 | its best moves.
      pay: int8[S], what a participant receives in `cell` after `step`, in halves.
      ways: int32[cells, 9], where each move leads.
      cells: int64[P], where participants are.
      states: int64[P], the state they last acted in.
    """

    values: NDArray[np.float64]
    tops: NDArray[np.float64]
    marks: Ints
    pay: NDArray[np.int8]
    ways: NDArray[np.int32]
    cells: Ints
    states: Ints


@compiled
def _desk(steps: int, cells: int, participants: int) -> _Desk:
    return _Desk(
        np.empty((steps * cells, MOVES)),
        np.empty(steps * cells),
        np.zeros(steps * cells, np.int64),
        np.zeros(steps * cells, np.int8),
        np.empty((cells, MOVES), np.int32),
        np.empty(participants, np.int64),
        np.empty(participants, np.int64),
    )


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
    moves: NDArray[np.int8],
    rewards: NDArray[np.int8],
    totals: Ints,
    first: int,
    last: int,
) -> None:
    """Plays episodes `first` to `last` - 1; leaves the worlds where the pass that counts ended.

    Args:
      a: B worlds.
      streams: uint64[B]; pass k, step t draws what step k * T + t of a single episode would.
      plan: how teams learn.
      moves: int8[B or 0, T, P], written where there is room: what was done in the pass that counts.
      rewards: int8, likewise: what was received.
      totals: int64[B, P], written: the sums of those rewards.
      first: where to begin.
      last: where to stop.
    """
    steps, participants = moves.shape[1:]
    most, height, width, learner = 0, 0, 0, 0
    for b in range(first, last):
        most = max(most, a.size[b, 0] * a.size[b, 1])
    desk, way = _desk(steps, most, participants), object_paths.blank(steps)
    done, got = np.empty((steps, participants), np.int8), np.empty((steps, participants), np.int8)
    together = participants if plan.shared else 1
    for b in range(first, last):
        if moves.shape[0] > 0:
            done, got = moves[b], rewards[b]
        if a.size[b, 0] != height or a.size[b, 1] != width:
            height, width = a.size[b, 0], a.size[b, 1]
            _chart(height, width, desk.ways)
        object_paths.run(a, b, way)
        _pay(way, height, width, 1, desk)
        for start in range(0, participants, together):
            learner += 1
            team = _Team(learner, start, start + together, streams[b], height * width)
            for k in range(plan.rehearsals + 1):
                learning = k < plan.rehearsals
                _pass(desk, team, k, learning, plan.ahead, a.cells[b], done, got)
        _pay(way, height, width, 0, desk)
        a.step[b] += steps
        for p in range(participants):
            total = 0
            for t in range(steps):
                total += got[t, p]
            totals[b, p] = total
            a.cells[b, p], a.says[b, p] = desk.cells[p], 0
            a.moves[b, p], a.rewards[b, p] = done[steps - 1, p], got[steps - 1, p]


@compiled
def _chart(height: int, width: int, ways: NDArray[np.int32]) -> None:
    """Writes where each move leads from each cell."""
    for cell in range(height * width):
        for move in range(MOVES):
            ways[cell, move] = moved(cell, move, height, width)


@compiled
def _pay(way: object_paths.ObjectPaths, height: int, width: int, unit: int, desk: _Desk) -> None:
    """Adds what Good and Evil bring to every cell after every step; with unit 0 clears it again.

    Source: Chmait et al. 2016, section 4.1.2.
    """
    for t in range(way.good_next.size):
        first = t * height * width
        good = way.good_row[t + 1] * width + way.good_column[t + 1]
        evil = way.evil_row[t + 1] * width + way.evil_column[t + 1]
        for move in range(MOVES):
            worth = 2 if move == STAY else 1
            gives, takes = first + desk.ways[good, move], first + desk.ways[evil, move]
            desk.pay[gives] = unit * (desk.pay[gives] + worth)
            desk.pay[takes] = unit * (desk.pay[takes] - worth)


@compiled
def _pass(
    desk: _Desk,
    team: _Team,
    k: int,
    learning: bool,
    ahead: int,
    starts: Ints,
    done: NDArray[np.int8],
    got: NDArray[np.int8],
) -> None:
    """Plays pass `k` from `starts`, int64[P], and writes its moves and rewards, int8[T, P].

    SARSA needs no case of its own: the next move is always a best one of the next state, which
    nobody learns about before it is made, so its value is the highest there.
    """
    values, tops, marks, pay, ways, cells, states = desk
    steps, participants = done.shape
    for p in range(team.start, team.stop):
        cells[p] = starts[p]
    for t in range(steps):
        here = t * team.cells
        drawn = (k * steps + t) * participants
        for p in range(team.start, team.stop):
            states[p] = here + cells[p]
            u = uniform(team.stream, (drawn + p) * _SLOTS)
            move = nth(_best(marks[states[p]], team.learner), u)
            cells[p] = ways[cells[p], move]
            done[t, p], got[t, p] = move, pay[here + cells[p]]
        if learning:
            over = ahead == NEXT and t + 1 == steps
            base = here + team.cells if ahead == NEXT else (here if ahead == SAME else 0)
            for p in range(team.start, team.stop):
                state, move, future = states[p], int(done[t, p]), 0.0
                if not over:
                    after = base + cells[p]
                    future = tops[after]
                    future = future if marks[after] >> _NUMBER == team.learner else START
                row = _Row(marks[state], tops[state], values[state, move])
                row = _learned(row, team.learner, move, got[t, p], future)
                marks[state], tops[state], values[state, move] = row
                if row.mark & ALL == 0:
                    _search(values, tops, marks, state)


@compiled
def _best(mark: int, learner: int) -> int:
    """Returns the best moves that a mark holds; all of them in another learner's."""
    return mark & ALL if mark >> _NUMBER == learner else ALL


class _Row(NamedTuple):
    """What a table holds of a state, as far as one move is concerned; see `_Desk`."""

    mark: int
    top: float
    value: float


@compiled
def _learned(row: _Row, learner: int, move: int, reward: int, future: float) -> _Row:
    """Returns the row after a move was learned about; where it leaves no best move, search anew.

    To a processor that guesses ahead nearly every question here is a coin toss. So both outcomes
    are reckoned and one is taken. Arrays are kept out, as counting their users costs more than all
    the rest.
    """
    fresh = row.mark >> _NUMBER != learner
    mark, top = ALL if fresh else row.mark, START if fresh else row.top
    tried, best, bit = mark >> MOVES & ALL, mark & ALL, 1 << move
    value = updated(row.value if tried & bit else START, reward, future)
    best = best & ~bit | (value == top) << move
    best = bit if value > top else best
    top = value if value > top else top
    return _Row(learner << _NUMBER | (tried | bit) << MOVES | best, top, value)


@compiled
def _search(
    values: NDArray[np.float64], tops: NDArray[np.float64], marks: Ints, state: int
) -> None:
    """Finds the best moves of a state when the last of them turned out worse."""
    tried, top, best = marks[state] >> MOVES & ALL, -np.inf, 0
    for move in range(MOVES):
        value = values[state, move] if tried >> move & 1 else START
        best = 0 if value > top else best
        top = value if value > top else top
        best |= (value == top) << move
    tops[state] = top
    marks[state] |= best
