"""The compiled loop over episodes, steps and roles in which every reactive behaviour is played.

Axes: B episodes, T steps, R roles, which are all participants of a world.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.numerics.compiled import compiled, lean
from sts.numerics.draws import uniform
from sts.worlds.lambda_star.agents import (
    bidding,
    binary_tree,
    dictatorship,
    imitation,
    oracle,
    stigmergy,
    wisdom_of_the_crowd,
)
from sts.worlds.lambda_star.agents.sets import wrapped
from sts.worlds.lambda_star.kernels import Arrays, Ints, heading
from sts.worlds.lambda_star.play import object_paths
from sts.worlds.lambda_star.play.object_paths import Course
from sts.worlds.lambda_star.play.tables import Tables, key_of, kind_of

AGENTS = (
    "random",
    "local-search",
    "oracle",
    "stigmergy",
    "wisdom-of-the-crowd",
    "bidding",
    "dictatorship",
    "binary-tree",
    "imitation",
)
RANDOM, LOCAL, ORACLE, STIGMERGY, WISDOM, BIDDING, DICTATORSHIP, TREE, IMITATION = range(9)
_PLANNING = (WISDOM, BIDDING, DICTATORSHIP, TREE)
_SLOTS = 2
_MOVES = 9


class Outcome(NamedTuple):
    """What was done and received: int8[B, T, P] each, rewards in halves."""

    moves: NDArray[np.int8]
    rewards: NDArray[np.int8]


class _Team(NamedTuple):
    """A team in an episode; the arrays serve one episode after another.

    Attributes:
      row: int64[R], where each role is.
      column: int64[R].
      cell: int64[R], the same, where the behaviour looks at it.
      key: int64[R], what each role sees.
      around: int8[R, 9], the rewards that it sees, in halves.
      sets: int64[R], the moves that it chooses from.
      picks: float64[T * R], the draws that choose.
      plans: float64[T, R], the draws that behaviours plan with.
      values: float64[cells], of stigmergy and the wisdom of the crowd.
      bids: int64[2], of bidding.
      found: int64[2, R], of the binary tree.
      guide: int64[1], of imitation.
    """

    row: Ints
    column: Ints
    cell: Ints
    key: Ints
    around: NDArray[np.int8]
    sets: Ints
    picks: NDArray[np.float64]
    plans: NDArray[np.float64]
    values: NDArray[np.float64]
    bids: Ints
    found: Ints
    guide: Ints


class _Episode(NamedTuple):
    """One episode: its grid, its course, its team, and what is done and received, int8[T, R]."""

    height: int
    width: int
    heading: int
    course: Course
    team: _Team
    moves: NDArray[np.int8]
    rewards: NDArray[np.int8]


@compiled
def episodes(
    a: Arrays,
    streams: NDArray[np.uint64],
    code: int,
    tables: Tables,
    out: Outcome,
    totals: Ints,
    first: int,
    last: int,
) -> None:
    """Plays episodes `first` to `last` - 1.

    Args:
      a: B worlds; those that are played are afterwards where their episodes ended.
      streams: uint64[B], each episode's stream of draws.
      code: of the behaviour, its index in `AGENTS`.
      tables: to look up in.
      out: written, or of no episode where nothing is to be recorded.
      totals: int64[B, P], written: the sum of each participant's rewards, in halves.
      first: an episode.
      last: an episode.
    """
    steps, roles = out.moves.shape[1:]
    cells = 0
    for b in range(first, last):
        cells = max(cells, a.size[b, 0] * a.size[b, 1])
    team = _Team(
        row=np.empty(roles, np.int64),
        column=np.empty(roles, np.int64),
        cell=np.empty(roles, np.int64),
        key=np.empty(roles, np.int64),
        around=np.empty((roles, _MOVES), np.int8),
        sets=np.empty(roles, np.int64),
        picks=np.empty(steps * roles),
        plans=np.empty((steps, roles)),
        values=np.empty(cells),
        bids=np.empty(2, np.int64),
        found=np.empty((2, roles), np.int64),
        guide=np.empty(1, np.int64),
    )
    if len(out.moves) == 0:
        out = Outcome(np.empty((1, steps, roles), np.int8), np.empty((1, steps, roles), np.int8))
    way = object_paths.blank(steps)
    for b in range(first, last):
        _play(a, b, streams[b], code, tables, way, team, out, totals[b])


@lean
def _play(
    a: Arrays,
    b: int,
    stream: int | np.uint64,
    code: int,
    tables: Tables,
    way: Course,
    team: _Team,
    out: Outcome,
    totals: Ints,
) -> None:
    """Plays episode `b` and leaves its world where it ended."""
    into = b % len(out.moves)
    moves, rewards = out.moves[into], out.rewards[into]
    height, width = a.size[b, 0], a.size[b, 1]
    pattern = a.patterns[a.offset[b, 0] : a.offset[b, 0] + a.length[b, 0]]
    fled = heading(pattern, a.kind[b], height, width) if code == ORACLE else -1
    object_paths.run(a, b, way)
    e = _Episode(height, width, fled, way, team, moves, rewards)
    _begin(code, tables, e, stream, a.cells[b])
    if code == RANDOM:
        _wander(tables, e)
    elif code == LOCAL:
        _search(tables, e)
    else:
        _confer(code, tables, e)
    steps, roles = moves.shape
    a.step[b] += steps
    for r in range(roles):
        total = 0
        for t in range(steps):
            total += rewards[t, r]
        totals[r] = total
        a.cells[b, r] = team.row[r] * width + team.column[r]
        a.moves[b, r], a.rewards[b, r] = moves[steps - 1, r], rewards[steps - 1, r]
        a.says[b, r] = 0


@lean
def _begin(code: int, tables: Tables, e: _Episode, stream: int | np.uint64, cells: Ints) -> None:
    """Places the team, empties its memory and takes all its draws."""
    team, stride = e.team, _SLOTS
    if code in _PLANNING:
        stride += 1
        _draw(stream, _SLOTS, stride, team.plans.reshape(team.plans.size))
    _draw(stream, 0, stride, team.picks)
    for r in range(cells.size):
        team.row[r], team.column[r] = cells[r] // e.width, cells[r] % e.width
        team.key[r] = key_of(tables, e.course, 0, e.height, e.width, team.row[r], team.column[r])
    if code == WISDOM:
        team.values[: e.height * e.width] = 0.0
    team.bids[0], team.bids[1] = bidding.NO_BID
    team.guide[0] = imitation.UNPLACED


@lean
def _draw(stream: int | np.uint64, first: int, stride: int, out: NDArray[np.float64]) -> None:
    for i in range(out.size):
        out[i] = uniform(stream, first + i * stride)


@lean
def _wander(tables: Tables, e: _Episode) -> None:
    """Plays random agents; role by role, as none minds where it is."""
    steps, roles = e.moves.shape
    for r in range(roles):
        for t in range(steps):
            _go(tables, e, t, r, int(e.team.picks[t * roles + r] * _MOVES))


@lean
def _search(tables: Tables, e: _Episode) -> None:
    """Plays local search agents, whose best moves are looked up."""
    steps, roles = e.moves.shape
    best = tables.best[kind_of(e.height, e.width)]
    for t in range(steps):
        for r in range(roles):
            _pick(tables, e, t, r, best[e.team.key[r]])


@lean
def _confer(code: int, tables: Tables, e: _Episode) -> None:
    """Plays any other behaviour by its rule."""
    steps, roles = e.moves.shape
    team, around = e.team, tables.around[kind_of(e.height, e.width)]
    for t in range(steps):
        for r in range(roles):
            team.cell[r] = team.row[r] * e.width + team.column[r]
            for m in range(_MOVES):
                team.around[r, m] = around[team.key[r], m]
        _decide(code, e, t)
        for r in range(roles):
            _pick(tables, e, t, r, team.sets[r])


@lean
def _decide(code: int, e: _Episode, t: int) -> None:
    """Writes the sets of moves from which the roles choose at step `t`."""
    height, width, good_next = e.height, e.width, e.course.good_next[t]
    around, cell, sets, plans = e.team.around, e.team.cell, e.team.sets, e.team.plans[t]
    if code == ORACLE:
        oracle.rule(cell, good_next, e.heading, height, width, sets)
    elif code == STIGMERGY:
        stigmergy.rule(around, cell, height, width, False, e.team.values, sets)
    elif code == WISDOM:
        wisdom_of_the_crowd.rule(around, cell, height, width, plans, e.team.values, sets)
    elif code == BIDDING:
        bidding.rule(around, cell, height, width, plans, e.team.bids, sets)
    elif code == DICTATORSHIP:
        dictatorship.rule(around, cell, height, width, plans, sets)
    elif code == TREE:
        binary_tree.rule(around, cell, height, width, plans, e.team.found, sets)
    elif code == IMITATION:
        imitation.rule(around, cell, height, width, good_next, False, e.team.guide, sets)


@lean
def _pick(tables: Tables, e: _Episode, t: int, r: int, chosen: int) -> None:
    """Makes one of a set of moves."""
    u = e.team.picks[t * e.team.row.size + r]
    _go(tables, e, t, r, tables.nth[chosen, int(u * tables.members[chosen])])


@lean
def _go(tables: Tables, e: _Episode, t: int, r: int, move: int) -> None:
    """Makes a move, and notes what it brings."""
    team = e.team
    row, column = team.row[r] + object_paths.DOWN[move], team.column[r] + object_paths.RIGHT[move]
    key = key_of(tables, e.course, t + 1, e.height, e.width, row, column)
    team.row[r], team.column[r] = wrapped(row, e.height), wrapped(column, e.width)
    team.key[r] = key
    e.moves[t, r], e.rewards[t, r] = move, tables.reward[key]
