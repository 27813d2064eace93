"""Value tables of the tabular learners: the values of moves by state, in rows.

A row's mark holds the row's owner; for any other owner the row counts as blank. A table with a row
for every state has a single owner. With too many states for that, the table is a hash table: the
owner is the state, in the first of the rows state % N, state % N + 1, ... that is its own or free.
Rows of a hash table are never freed, so the values of a state do not depend on N.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import jit, jit_inlined
from sts_lambda_star.agents.move_sets import ALL_MOVES, MOVES
from sts_lambda_star.kernels import Ints

ALPHA, GAMMA = 0.3, 0.3
INITIAL_VALUE = 0.2
NEXT, FIRST, SAME = range(3)
ENDED = -1
GREEDY = -1
FREE = -1
_ROWS = 31
ROW_BYTES = 8 + 8 + MOVES * 8


class Table(NamedTuple):
    """Table of N rows; the tables of B episodes have a leading axis B."""

    # int64[N], or int32[N] if the owners are few: the owner << 9 | the best moves; -1 if free
    marks: NDArray[np.signedinteger[Any]]
    tops: NDArray[np.float64]  # float64[N], the highest value of a move, in units of reward
    values: NDArray[np.float64]  # float64[N, 9], the value of each move


@jit_inlined
def best_moves(table: Table, row: int, owner: int) -> int:
    """Return the set of moves of the highest value; all moves if the row has another owner."""
    mark = table.marks[row]
    return int(mark & ALL_MOVES if mark >> MOVES == owner else ALL_MOVES)


@jit_inlined
def best_value(table: Table, row: int, owner: int) -> float:
    """Return the highest value of a move; `INITIAL_VALUE` if the row has another owner."""
    return float(table.tops[row] if table.marks[row] >> MOVES == owner else INITIAL_VALUE)


@jit_inlined
def _move_value(table: Table, row: int, owner: int, move: int) -> float:
    """Return the value of a move; `INITIAL_VALUE` if the row has another owner."""
    return float(table.values[row, move] if table.marks[row] >> MOVES == owner else INITIAL_VALUE)


@jit_inlined
def learn(table: Table, row: int, owner: int, move: int, reward: int, future: float) -> None:
    """Update the value of a move towards its reward, in halves, plus the discounted future."""
    mark, bit, values = table.marks[row], 1 << move, table.values[row]
    highest, chosen = table.tops[row], mark & ALL_MOVES
    if mark >> MOVES != owner:
        values[:] = INITIAL_VALUE
        highest, chosen = INITIAL_VALUE, ALL_MOVES
    value = values[move] + ALPHA * (0.5 * reward + GAMMA * future - values[move])
    values[move] = value
    chosen = chosen & ~bit | (value == highest) << move
    chosen = bit if value > highest else chosen
    highest = value if value > highest else highest
    if chosen == 0:  # the value of the last of the best moves fell
        highest = value
        for other in range(MOVES):
            highest = values[other] if values[other] > highest else highest
        for other in range(MOVES):
            chosen |= (values[other] == highest) << other
    table.marks[row] = owner << MOVES | chosen
    table.tops[row] = highest


def empty_tables(batch: int, rows: int = _ROWS) -> Table:
    """Return the empty tables of B episodes."""
    return Table(
        np.full((batch, rows), FREE), np.zeros((batch, rows)), np.zeros((batch, rows, MOVES))
    )


def enlarge_table(table: Table, more: int) -> Table:
    """Return a copy that is at most half full after `more` new states an episode."""
    used = int((table.marks != FREE).sum(-1).max(initial=0)) + more
    out = empty_tables(len(table.marks), _grown_rows(used, table.marks.shape[1]))
    _copy_rows(table, out)
    return out


def _grown_rows(used: int, rows: int = _ROWS) -> int:
    """Return the rows of a table grown from `rows` until at most half of them are used."""
    while rows <= 2 * used:
        rows = 2 * rows + 1
    return rows


def table_bytes(states: int) -> int:
    """Return the bytes of one episode's table with room for so many states."""
    return _grown_rows(states) * ROW_BYTES


@jit_inlined
def _find_row(marks: Ints, state: int) -> int:
    """Return the row of a state, or the free row for it."""
    row = state % marks.size
    while marks[row] >> MOVES != state and marks[row] != FREE:
        row = row + 1 if row + 1 < marks.size else 0
    return int(row)


@jit
def _copy_rows(table: Table, out: Table) -> None:
    """Copy all rows of `table` to `out`, which has room for them."""
    for b in range(len(table.marks)):
        for row in range(table.marks.shape[1]):
            mark = table.marks[b, row]
            if mark != FREE:
                target = _find_row(out.marks[b], mark >> MOVES)
                out.marks[b, target], out.tops[b, target] = mark, table.tops[b, row]
                out.values[b, target] = table.values[b, row]


@jit
def greedy_moves(table: Table, states: Ints) -> Ints:
    """Return int64[B, R], the sets of moves of the highest value in `states`, int64[B, R]."""
    sets = np.empty_like(states)
    for b in range(len(states)):
        episode = Table(table.marks[b], table.tops[b], table.values[b])
        for r in range(states.shape[1]):
            sets[b, r] = best_moves(episode, _find_row(episode.marks, states[b, r]), states[b, r])
    return sets


class Transitions(NamedTuple):
    """Transitions of B teams in one pass over an episode."""

    states: Ints  # int64[B, T, R], each role's state
    actions: NDArray[np.int8]  # int8[B, T, R], its move in that state
    rewards: NDArray[np.int8]  # int8[B, T, R], its reward, in halves
    future_states: Ints  # int64[B, T, R], those to bootstrap from; ENDED after the last step
    future_moves: NDArray[np.int8]  # int8[B, T, R], those to bootstrap from; GREEDY: a best one


@jit
def learn_pass(table: Table, lessons: Transitions) -> None:
    """Learn a pass step by step, role after role, in a table with room for its states."""
    states, actions, rewards, ahead, taken = lessons
    for b in range(len(states)):
        episode = Table(table.marks[b], table.tops[b], table.values[b])
        for t in range(states.shape[1]):
            for r in range(states.shape[2]):
                state, after, future = states[b, t, r], ahead[b, t, r], 0.0
                if after != ENDED:
                    row, move = _find_row(episode.marks, after), int(taken[b, t, r])
                    if move == GREEDY:
                        future = best_value(episode, row, after)
                    else:
                        future = _move_value(episode, row, after, move)
                row, move = _find_row(episode.marks, state), int(actions[b, t, r])
                learn(episode, row, state, move, int(rewards[b, t, r]), future)
