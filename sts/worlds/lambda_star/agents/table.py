"""What learners learn: the values of moves by state, in rows only for states learned from.

A table of B episodes is open addressing, row by row: a state stands at the first of the rows
state % C, state % C + 1, ... that holds it or is free. No row is ever freed, so what a table says
of a state does not depend on C, which grows with the fullest episode of a batch.

A learner writes to nothing that it is passed, and copying at every step all that it ever learned
would take most of its time. So it keeps two tables, `Tables`: what it learns in a pass goes into a
small one, which `joined` enters in the large one when the pass is over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.numerics.compiled import compiled
from sts.worlds.lambda_star.agents.sets import ALL, MOVES

ALPHA, GAMMA = 0.3, 0.3
START = 0.2
ENDED = -1
GREEDY = -1
_FREE = -1
_ROWS = 31
_ROW_BYTES = 8 + MOVES * 8


class Table(NamedTuple):
    """B episodes' values.

    Attributes:
      states: int64[B, C], the state of each row, at least 0; -1 where a row is free.
      values: float64[B, C, 9], of each move, in units of reward.
      used: int64[B], how many rows are taken.
    """

    states: NDArray[np.int64]
    values: NDArray[np.float64]
    used: NDArray[np.int64]


class Tables(NamedTuple):
    """What a learner knows; where both tables hold a state, the fresh one's values count."""

    known: Table
    fresh: Table


def blank(batch: int, rows: int = _ROWS) -> Table:
    """Returns a table in which nothing was learned yet."""
    return Table(
        np.full((batch, rows), _FREE), np.zeros((batch, rows, MOVES)), np.zeros(batch, np.int64)
    )


def roomy(table: Table, more: int) -> Table:
    """Returns a copy of `table` that is at most half full after `more` new states an episode."""
    used, rows = int(table.used.max(initial=0)) + more, table.states.shape[1]
    if 2 * used < rows:
        return Table(table.states.copy(), table.values.copy(), table.used.copy())
    out = blank(len(table.used), _rows(used, rows))
    _enter(table, out)
    return out


def _rows(used: int, rows: int = _ROWS) -> int:
    """Returns how far a table of `rows` rows grows, which at most half of may be used."""
    while rows <= 2 * used:
        rows = 2 * rows + 1
    return rows


def size(states: int) -> int:
    """Returns the bytes that an episode takes in a table with room for so many states."""
    return _rows(states) * _ROW_BYTES


def joined(tables: Tables) -> Table:
    """Returns all that both tables hold, as one."""
    out = roomy(tables.known, int(tables.fresh.used.max(initial=0)))
    _enter(tables.fresh, out)
    return out


@compiled
def _enter(table: Table, out: Table) -> None:
    """Writes all that `table` holds to `out`, which has room for it."""
    for b in range(table.used.size):
        for row in range(table.states.shape[1]):
            if table.states[b, row] != _FREE:
                there = _taken(out, b, table.states[b, row])
                out.values[b, there] = table.values[b, row]


@compiled
def _taken(table: Table, b: int, state: int) -> int:
    """Returns the row of `state` in episode `b`, which it takes if it has none."""
    row = _row(table.states[b], state)
    if table.states[b, row] == _FREE:
        table.states[b, row] = state
        table.used[b] += 1
    return row


@compiled
def _row(states: NDArray[np.int64], state: int) -> int:
    """Returns the row in which a state stands, or the free one in which it would."""
    row = state % states.size
    while states[row] != state and states[row] != _FREE:
        row = row + 1 if row + 1 < states.size else 0
    return int(row)


@compiled
def updated(value: float, reward: int, ahead: float) -> float:
    """Returns `value` moved towards a reward, in halves, and the value of what lies ahead."""
    return value + ALPHA * (0.5 * reward + GAMMA * ahead - value)


@compiled
def _found(tables: Tables, b: int, state: int, values: NDArray[np.float64]) -> bool:
    """Returns whether episode `b` knows a state, and writes what its moves are worth if so."""
    row = _row(tables.fresh.states[b], state)
    if tables.fresh.states[b, row] != _FREE:
        values[:] = tables.fresh.values[b, row]
        return True
    row = _row(tables.known.states[b], state)
    if tables.known.states[b, row] != _FREE:
        values[:] = tables.known.values[b, row]
        return True
    return False


@compiled
def greedy(tables: Tables, states: NDArray[np.int64], sets: NDArray[np.int64]) -> None:
    """Writes to `sets`, int64[B, R], the moves of the highest value in `states`, int64[B, R]."""
    values = np.empty(MOVES)
    for b in range(states.shape[0]):
        for r in range(states.shape[1]):
            sets[b, r] = ALL
            if _found(tables, b, states[b, r], values):
                top, sets[b, r] = values.max(), 0
                for move in range(MOVES):
                    if values[move] == top:
                        sets[b, r] |= 1 << move


@compiled
def learn(
    tables: Tables,
    states: NDArray[np.int64],
    moves: NDArray[np.int8],
    rewards: NDArray[np.int8],
    ahead: NDArray[np.int64],
    taken: NDArray[np.int8],
) -> None:
    """Learns from one step of every role, one role after the other, in place in the fresh table.

    Args:
      tables: the fresh one with room for all `states`.
      states: int64[B, R], where each role was; -1 where there is nothing to learn from.
      moves: int8[B, R], what it did there.
      rewards: int8[B, R], what it received, in halves.
      ahead: int64[B, R], the state whose value counts as the future; ENDED where there is none.
      taken: int8[B, R], by which of its moves; GREEDY by a best one.
    """
    fresh, values = tables.fresh, np.empty(MOVES)
    for b in range(states.shape[0]):
        for r in range(states.shape[1]):
            state, move = states[b, r], moves[b, r]
            if state < 0:
                continue
            future = 0.0
            if ahead[b, r] != ENDED:
                future = START
                if _found(tables, b, ahead[b, r], values):
                    future = values.max() if taken[b, r] == GREEDY else values[taken[b, r]]
            if not _found(tables, b, state, values):
                values[:] = START
            values[move] = updated(values[move], rewards[b, r], future)
            fresh.values[b, _taken(fresh, b, state)] = values
