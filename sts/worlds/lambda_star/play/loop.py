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
from sts.worlds.lambda_star.agents.reactive import Teams
from sts.worlds.lambda_star.agents.sets import MOVES, nth
from sts.worlds.lambda_star.kernels import Arrays, Ints, heading
from sts.worlds.lambda_star.play import object_paths
from sts.worlds.lambda_star.play.object_paths import ObjectPaths
from sts.worlds.lambda_star.play.tables import Tables, key_of, kind_of
from sts.worlds.lambda_star.torus import wrapped

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


class Outcome(NamedTuple):
    """What was done and received, rewards in halves.

    Attributes:
      moves: int8[B, T, P]; or of no episode where nothing was to be recorded, as is what follows.
      rewards: int8[B, T, P].
      totals: int64[B, P], the sum of each participant's rewards, of every episode.
    """

    moves: NDArray[np.int8]
    rewards: NDArray[np.int8]
    totals: Ints


@compiled
def room(recorded: int, steps: int, totals: Ints) -> Outcome:
    """Returns room for the outcome of the episodes that `totals` has, so many of them recorded."""
    shape = (recorded, steps, totals.shape[1])
    return Outcome(np.empty(shape, np.int8), np.empty(shape, np.int8), totals)


class _Team(NamedTuple):
    """A team in an episode; the arrays serve one episode after another.

    Attributes:
      row: int64[R], where each role is.
      column: int64[R].
      key: int64[R], what each role sees.
      picks: float64[T * R], the draws that choose.
      plans: float64[T, 1, R], the draws that behaviours plan with.
      around: int8[1, R, 9], and what follows: as `Teams` has it, of one team.
      cell: int64[1, R].
      heading: int64[1].
      sets: int64[1, R].
      values: float64[1, cells], of stigmergy and the wisdom of the crowd.
      bids: int64[1, 2], of bidding.
      targets: int64[2, R], of the binary tree.
      guide: int64[1, 1], of imitation.
    """

    row: Ints
    column: Ints
    key: Ints
    picks: NDArray[np.float64]
    plans: NDArray[np.float64]
    around: NDArray[np.int8]
    cell: Ints
    heading: Ints
    sets: Ints
    values: NDArray[np.float64]
    bids: Ints
    targets: Ints
    guide: Ints


class _Episode(NamedTuple):
    """One episode: its grid, also as int64[1, 2], its objects, its team, and int8[T, R] of each."""

    height: int
    width: int
    size: Ints
    paths: ObjectPaths
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
    first: int,
    last: int,
) -> None:
    """Plays episodes `first` to `last` - 1.

    Args:
      a: B worlds; those that are played are afterwards where their episodes ended.
      streams: uint64[B], each episode's stream of draws.
      code: of the behaviour, its index in `AGENTS`.
      tables: to look up in.
      out: written.
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
        key=np.empty(roles, np.int64),
        picks=np.empty(steps * roles),
        plans=np.empty((steps, 1, roles)),
        around=np.empty((1, roles, MOVES), np.int8),
        cell=np.empty((1, roles), np.int64),
        heading=np.empty(1, np.int64),
        sets=np.empty((1, roles), np.int64),
        values=np.empty((1, cells)),
        bids=np.empty((1, 2), np.int64),
        targets=np.empty((2, roles), np.int64),
        guide=np.empty((1, 1), np.int64),
    )
    if len(out.moves) == 0:
        out = room(1, steps, out.totals)
    paths = object_paths.blank(steps)
    for b in range(first, last):
        _play(a, b, streams[b], code, tables, paths, team, out)


@lean
def _play(
    a: Arrays,
    b: int,
    stream: int | np.uint64,
    code: int,
    tables: Tables,
    paths: ObjectPaths,
    team: _Team,
    out: Outcome,
) -> None:
    """Plays episode `b` and leaves its world where it ended."""
    into = b % len(out.moves)
    moves, rewards = out.moves[into], out.rewards[into]
    height, width = a.size[b, 0], a.size[b, 1]
    pattern = a.patterns[a.offset[b, 0] : a.offset[b, 0] + a.length[b, 0]]
    team.heading[0] = heading(pattern, a.kind[b], height, width) if code == ORACLE else -1
    object_paths.run(a, b, paths)
    e = _Episode(height, width, a.size[b : b + 1], paths, team, moves, rewards)
    _begin(code, tables, e, stream, a.cells[b])
    if code == RANDOM:
        _wander(tables, e)
    elif code == LOCAL:
        _search(tables, e)
    else:
        _confer(code, tables, e)
    for r in range(moves.shape[1]):
        a.cells[b, r] = team.row[r] * width + team.column[r]
    conclude(a, b, moves, rewards, out.totals[b])


@lean
def conclude(
    a: Arrays, b: int, moves: NDArray[np.int8], rewards: NDArray[np.int8], totals: Ints
) -> None:
    """Sums up the rewards of an episode, and leaves its world with what was last done.

    Args:
      a: the worlds; objects and participants of world `b` are where they ended.
      b: which of them was played.
      moves: int8[T, P], of the episode.
      rewards: int8[T, P], in halves.
      totals: int64[P], written.
    """
    steps = len(moves)
    a.step[b] += steps
    for p in range(totals.size):
        totals[p] = 0
        for t in range(steps):
            totals[p] += rewards[t, p]
        a.moves[b, p], a.rewards[b, p] = moves[steps - 1, p], rewards[steps - 1, p]
        a.says[b, p] = 0


@lean
def _begin(code: int, tables: Tables, e: _Episode, stream: int | np.uint64, cells: Ints) -> None:
    """Places the team, empties its memory and takes all its draws."""
    team, stride = e.team, _SLOTS
    height, width = e.height, e.width
    if code in _PLANNING:
        stride += 1
        _draw(stream, _SLOTS, stride, team.plans.reshape(team.plans.size))
    _draw(stream, 0, stride, team.picks)
    for r in range(cells.size):
        team.row[r], team.column[r] = cells[r] // width, cells[r] % width
        team.key[r] = key_of(tables, e.paths, 0, height, width, team.row[r], team.column[r])
    if code == WISDOM:
        team.values[0, : height * width] = 0.0
    team.bids[0, 0], team.bids[0, 1] = bidding.NO_BID
    team.guide[0, 0] = cells[cells.size - 1]


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
            _go(tables, e, t, r, int(e.team.picks[t * roles + r] * MOVES))


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
            team.cell[0, r] = team.row[r] * e.width + team.column[r]
            for m in range(MOVES):
                team.around[0, r, m] = around[team.key[r], m]
        _decide(code, e, t)
        for r in range(roles):
            _pick(tables, e, t, r, team.sets[0, r])


@lean
def _decide(code: int, e: _Episode, t: int) -> None:
    """Writes the sets of moves from which the roles choose at step `t`."""
    team, height, width = e.team, e.size[:, 0], e.size[:, 1]
    good_next, plans = e.paths.good_next[t : t + 1], team.plans[t]
    teams = Teams(team.around, team.cell, height, width, good_next, team.heading, plans, team.sets)
    if code == ORACLE:
        oracle.rule(teams)
    elif code == STIGMERGY:
        stigmergy.rule(teams, False, team.values)
    elif code == WISDOM:
        wisdom_of_the_crowd.rule(teams, team.values)
    elif code == BIDDING:
        bidding.rule(teams, team.bids)
    elif code == DICTATORSHIP:
        dictatorship.rule(teams)
    elif code == TREE:
        binary_tree.rule(teams, team.targets)
    elif code == IMITATION:
        imitation.rule(teams, False, team.guide)


@lean
def _pick(tables: Tables, e: _Episode, t: int, r: int, chosen: int) -> None:
    """Makes one of a set of moves."""
    _go(tables, e, t, r, nth(chosen, e.team.picks[t * e.team.row.size + r]))


@lean
def _go(tables: Tables, e: _Episode, t: int, r: int, move: int) -> None:
    """Makes a move, and notes what it brings."""
    team, height, width = e.team, e.height, e.width
    row, column = team.row[r] + object_paths.DOWN[move], team.column[r] + object_paths.RIGHT[move]
    key = key_of(tables, e.paths, t + 1, height, width, row, column)
    team.row[r], team.column[r] = wrapped(row, height), wrapped(column, width)
    team.key[r] = key
    e.moves[t, r], e.rewards[t, r] = move, tables.reward[key]
