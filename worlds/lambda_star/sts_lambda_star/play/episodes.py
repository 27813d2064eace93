"""Compiled episodes of the reactive agents, many worlds side by side, for their rewards alone.

Each agent's own rule plays; none is written here a second time. An agent whose choice depends only
on the rewards in its reach is asked once, for every situation that it can be in, and its answers
are looked up in a loop that is compiled as a whole. Other agents decide at every step, on what a
kernel has seen for all worlds. The random draws are those of the general path, so both give the
same episodes; where a rule leaves one move, the draw that would select it is skipped.

Axes: B episodes, T steps, P players, M = (2k+1)^2 cells in sight, n lanes.
"""

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import (
    Agent,
    Instructions,
    jit,
    jit_inlined,
    jit_internal,
    load_agent,
    random_uniform,
)
from sts_lambda_star.agents.move_sets import ALL_MOVES, MOVES, pick_move
from sts_lambda_star.agents.reactive import Reactive
from sts_lambda_star.agents.team_sight import TeamSight, find_best
from sts_lambda_star.domain import LambdaStar, Observation
from sts_lambda_star.kernels import Ints, WorldArrays, constant_headings
from sts_lambda_star.lanes import (
    Lanes,
    Shorts,
    advance_objects,
    find_intended_places,
    find_objects,
    list_blocks,
    load_lanes,
    make_lanes,
    make_moves,
    reward_at_distance,
    write_rewards,
)
from sts_lambda_star.torus import side_length

SOLITARY = ("random", "local-search")
"""Agents whose choice depends on the rewards in their reach alone."""
BEHAVIOURS = (
    *SOLITARY,
    *("oracle", "imitation", "stigmergy", "wisdom-of-the-crowd", "bidding", "dictatorship"),
    "binary-tree",
)
"""Agents that `play_reactive` plays."""
_SLOTS = 2
_REACH = 3
_CODES = 13


class _Scratch(NamedTuple):
    """Working memory for n lanes."""

    codes: Shorts  # int16[2, n]
    sets: Shorts  # int16[n]
    draws: NDArray[np.float64]  # float64[n]
    rewards: NDArray[np.int8]  # int8[n]


def play_reactive(
    agent: Agent, a: WorldArrays, streams: NDArray[np.uint64], *, radius: int, steps: int
) -> Ints:
    """Return int64[B, P], the total rewards in halves of an agent of `BEHAVIOURS` in every role.

    `streams` is uint64[B]. The worlds need one player; they are left as they are.
    """
    totals = np.zeros(a.cells.shape[::-1], np.int64)
    if isinstance(agent, Reactive) and agent.name not in SOLITARY:
        _play_step_by_step(agent, a, streams, radius, steps, totals)
    else:
        _play_situations(a, streams, tabulate_answers(agent.name), steps, totals)
    return totals.T


def list_situations() -> NDArray[np.int8]:
    """Return int8[13^4, 9], the rewards in reach in every situation, in halves.

    A situation is four codes: of the ways to Good by rows and by columns, and to Evil; see
    `_axis_code`.
    """
    right, left = (way[:, None] for way in np.divmod(np.arange(_CODES) + _REACH, _REACH + 1))
    shifts = np.arange(-1, 2)
    away = np.minimum(abs(right - shifts), abs(left + shifts))
    gains = reward_at_distance(np.maximum(away[:, None, :, None], away[None, :, None, :]))
    gains = gains.reshape(_CODES**2, MOVES).astype(np.int8)
    out: NDArray[np.int8] = (gains[:, None] - gains).reshape(-1, MOVES)
    return out


@functools.cache
def tabulate_best() -> Shorts:
    """Return int16[13^4]: by situation, the set of the best moves, and 512 * (2 + the reward)."""
    around = np.ascontiguousarray(list_situations().T)[None]
    best, top = np.empty((2, 1, around.shape[2]), np.int16)
    find_best(around, best, top)
    out: Shorts = best[0] | top[0] + 2 << MOVES
    return out


@functools.cache
def tabulate_answers(name: str) -> Shorts:
    """Return int16[13^4]: by situation, the set of moves that a solitary agent weighs equally.

    It is empty if the agent always allows all moves.
    """
    agent: Any = load_agent(name)
    agent = agent if agent.domain else agent.bind_domain(LambdaStar())
    around = list_situations()[:, None]
    threes, zeros = np.full(len(around), 3), np.zeros((len(around), 1), np.int8)
    nothing: Any = np.zeros(around.shape, np.uint16)
    seen = Observation(
        height=threes,
        width=threes,
        step=threes,
        cell=zeros.astype(np.int64),
        good=nothing > 0,
        evil=nothing > 0,
        team=nothing,
        others=nothing,
        reward=around,
        heard=nothing,
        last_move=zeros,
        last_said=zeros,
        last_reward=zeros,
    )
    told = Instructions(("",), np.zeros(len(around), np.int32))
    choice, _ = agent.act(seen, told, {}, np.empty((*zeros.shape, 0)))
    members = np.asarray(choice.actions)[:, 0] > 0
    sets: Shorts = (members @ (1 << np.arange(MOVES))).astype(np.int16)
    return sets[:0] if (sets == ALL_MOVES).all() else sets


@jit_inlined
def _axis_code(start: Any, goal: Any, size: Any) -> Any:
    """Return the code, 0 to 12, of the ways to a goal right and left round a ring, at most 3."""
    right = np.int16(goal - start + size * (goal < start))
    return np.int16(4 * min(right, np.int16(3)) + min(np.int16(size - right), np.int16(3)) - 3)


@jit_inlined
def _look_up(lanes: Lanes, k: int, table: Shorts, codes: Shorts, out: Shorts) -> None:
    """Write what a table has, int16[n], for the situation of entry k; `codes` is int16[2, n]."""
    rows, columns, height, width = lanes.rows[k], lanes.columns[k], lanes.height, lanes.width
    for index in range(2):
        code, to_rows, to_columns = codes[index], lanes.rows[index], lanes.columns[index]
        for b in range(len(code)):
            down = _axis_code(rows[b], to_rows[b], height[b])
            code[b] = down * np.int16(_CODES) + _axis_code(columns[b], to_columns[b], width[b])
    good, evil = codes[0], codes[1]
    for b in range(len(out)):
        out[b] = table[np.uint64(good[b] * _CODES**2 + evil[b])]


@jit_inlined
def _draw(streams: NDArray[np.uint64], counter: int, out: NDArray[np.float64]) -> None:
    """Write the random draw number `counter` of n streams."""
    for b in range(len(out)):
        out[b] = random_uniform(streams[b], counter)


@jit_inlined
def _pick_moves(sets: Shorts, draws: NDArray[np.float64], out: NDArray[np.int8]) -> None:
    """Write the moves that draws select from n sets."""
    for b in range(len(out)):
        out[b] = pick_move(np.uint64(sets[b]), draws[b])


@jit_inlined
def _pick_any_moves(draws: NDArray[np.float64], out: NDArray[np.int8]) -> None:
    """Write the moves that draws select from all moves, as `pick_move`."""
    for b in range(len(out)):
        out[b] = np.int32(draws[b] * MOVES)


@jit_inlined
def _add_rewards(lanes: Lanes, k: int, rewards: NDArray[np.int8], totals: Ints) -> None:
    """Add the rewards of entry k in n worlds to `totals`, int64[n]."""
    write_rewards(lanes, k, rewards)
    for b in range(len(rewards)):
        totals[b] += rewards[b]


def _play_situations(
    a: WorldArrays, streams: NDArray[np.uint64], table: Shorts, steps: int, totals: Ints
) -> None:
    """Play whole episodes by a table of allowed moves, and add up the rewards, int64[P, B]."""
    for first, stop, n in list_blocks(0, len(streams)):
        lanes, scratch = make_lanes(2 + len(totals), n, a.patterns), make_scratch(n)
        _play_blocks(lanes, scratch, a, streams, table, steps, totals, first, stop)


def make_scratch(n: int) -> _Scratch:
    """Return working memory; its draws are 0."""
    sets, rewards = np.empty(n, np.int16), np.empty(n, np.int8)
    return _Scratch(np.empty((2, n), np.int16), sets, np.zeros(n), rewards)


@jit
def _play_blocks(
    lanes: Lanes,
    scratch: _Scratch,
    a: WorldArrays,
    streams: NDArray[np.uint64],
    table: Shorts,
    steps: int,
    totals: Ints,
    first: int,
    stop: int,
) -> None:
    """Play episodes `first` to `stop` - 1, which fill blocks of n lanes."""
    no_observers, n = np.empty((len(streams), 0), np.int64), len(scratch.sets)
    for start in range(first, stop, n):
        load_lanes(lanes, a, no_observers, start)
        episodes = slice(start, start + n)
        _play_block(lanes, scratch, streams[episodes], table, steps, totals[:, episodes])


@jit_internal
def _play_block(
    lanes: Lanes,
    scratch: _Scratch,
    streams: NDArray[np.uint64],
    table: Shorts,
    steps: int,
    totals: Ints,
) -> None:
    """Play the episodes in lanes."""
    n_players = len(totals)
    for t in range(steps):
        for p in range(n_players):
            _draw(streams, (t * n_players + p) * _SLOTS, scratch.draws)
            if table.size > 0:
                _look_up(lanes, 2 + p, table, scratch.codes, scratch.sets)
                _pick_moves(scratch.sets, scratch.draws, lanes.moves)
            else:
                _pick_any_moves(scratch.draws, lanes.moves)
            make_moves(lanes.rows[2 + p], lanes.columns[2 + p], lanes, lanes.moves)
        find_intended_places(lanes)
        advance_objects(lanes)
        for p in range(n_players):
            _add_rewards(lanes, 2 + p, scratch.rewards, totals[p])


def _play_step_by_step(
    agent: Reactive,
    a: WorldArrays,
    streams: NDArray[np.uint64],
    radius: int,
    steps: int,
    totals: Ints,
) -> None:
    """Play whole episodes by an agent's rule, and add up the rewards, int64[P, B]."""
    n_players, n = totals.shape
    lanes = make_lanes(2 + n_players, n, a.patterns)
    load_lanes(lanes, a, np.empty((n, 0), np.int64), 0)
    shorts, cells = np.empty((3, n_players, n), np.int16), (2 * radius + 1) ** 2
    sees_world = agent.sees == "world"
    team = TeamSight(
        height=lanes.height,
        width=lanes.width,
        rows=lanes.rows[2:],
        columns=lanes.columns[2:],
        around=np.empty((n_players * (agent.reads == "neighbourhood"), cells, n), np.int8),
        best=shorts[0],
        top=shorts[1],
        next_rows=lanes.next_rows[0],
        next_columns=lanes.next_columns[0],
        heading=(constant_headings(a, 0) if sees_world else np.empty(0)).astype(np.int16),
        draws=np.empty((n_players * (agent.draws > 0), n)),
        sets=shorts[2],
    )
    memory = agent.begin(a.cells, a.size[:, 0], a.size[:, 1])
    scratch = make_scratch(n)
    table = tabulate_best() if agent.reads == "best" else np.empty(0, np.int16)
    stride = _SLOTS + agent.draws
    for t in range(steps):
        first_draw = t * n_players * stride
        _see(lanes, table, team, scratch, streams, first_draw + _SLOTS, stride)
        agent.decide(team, memory)
        draw = first_draw if agent.leaves_choice else -1
        _move(lanes, team.sets, scratch, streams, draw, stride, totals)


@jit
def _see(
    lanes: Lanes,
    table: Shorts,
    team: TeamSight,
    scratch: _Scratch,
    streams: NDArray[np.uint64],
    draw: int,
    stride: int,
) -> None:
    """Write what all players see, as far as `table` and the arrays of `team` are not empty."""
    _, cells, n = team.around.shape
    axes = np.empty((4, side_length(cells), n), np.int16)
    sights = np.empty((3, cells, n), np.int8)
    find_intended_places(lanes)
    for p in range(len(team.draws)):
        _draw(streams, draw + p * stride, team.draws[p])
    for p in range(len(team.best) if table.size else 0):
        best, top = team.best[p], team.top[p]
        _look_up(lanes, 2 + p, table, scratch.codes, best)
        for b in range(len(best)):
            top[b] = (best[b] >> MOVES) - 2
        for b in range(len(best)):
            best[b] &= (1 << MOVES) - 1
    for p in range(len(team.around)):
        find_objects(lanes, 2 + p, axes, sights)
        for m in range(cells):
            around, rewards = team.around[p, m], sights[0, m]
            for b in range(n):
                around[b] = rewards[b]


@jit
def _move(
    lanes: Lanes,
    sets: Shorts,
    scratch: _Scratch,
    streams: NDArray[np.uint64],
    draw: int,
    stride: int,
    totals: Ints,
) -> None:
    """Move all players, Good and Evil, and add the rewards; a `draw` of -1 needs none."""
    for p in range(len(sets)):
        rows, columns = lanes.rows[2 + p], lanes.columns[2 + p]
        if draw >= 0:
            _draw(streams, draw + p * stride, scratch.draws)
        _pick_moves(sets[p], scratch.draws, lanes.moves)
        make_moves(rows, columns, lanes, lanes.moves)
    advance_objects(lanes)
    for p in range(len(sets)):
        _add_rewards(lanes, 2 + p, scratch.rewards, totals[p])
