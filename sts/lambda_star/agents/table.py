"""What learners learn: the values of moves by state, in rows only for states learned from.

A table of B episodes is open addressing, row by row: a state stands at the first of the rows
state % C, state % C + 1, ... that holds it or is free. No row is ever freed, so what a table says
of a state does not depend on C, which grows with the fullest episode of a batch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.compiled import compiled
from sts.lambda_star.agents.sets import ALL, MOVES

ALPHA, GAMMA = 0.3, 0.3
START = 0.2
ENDED = -1
GREEDY = -1
_FREE = -1
_ROWS = 31


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


def blank(batch: int, rows: int = _ROWS) -> Table:
    """Returns a table in which nothing was learned yet."""
    return Table(
        np.full((batch, rows), _FREE), np.zeros((batch, rows, MOVES)), np.zeros(batch, np.int64)
    )


def roomy(table: Table, more: int) -> Table:
    """Returns a copy of `table` that is at most half full after `more` new states an episode."""
    wanted, rows = 2 * (int(table.used.max(initial=0)) + more), table.states.shape[1]
    if wanted < rows:
        return Table(table.states.copy(), table.values.copy(), table.used.copy())
    while rows <= wanted:
        rows = 2 * rows + 1
    out = blank(len(table.used), rows)
    _enter(table, out)
    return out


@compiled
def _enter(table: Table, out: Table) -> None:
    """Writes all that `table` holds to `out`, which is blank."""
    for b in range(table.used.size):
        out.used[b] = table.used[b]
        for row in range(table.states.shape[1]):
            if table.states[b, row] != _FREE:
                there = _row(out.states[b], table.states[b, row])
                out.states[b, there] = table.states[b, row]
                out.values[b, there] = table.values[b, row]


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
def greedy(table: Table, states: NDArray[np.int64], sets: NDArray[np.int64]) -> None:
    """Writes to `sets`, int64[B, R], the moves of the highest value in `states`, int64[B, R]."""
    for b in range(states.shape[0]):
        for r in range(states.shape[1]):
            row = _row(table.states[b], states[b, r])
            sets[b, r] = ALL
            if table.states[b, row] != _FREE:
                values = table.values[b, row]
                top, sets[b, r] = values.max(), 0
                for move in range(MOVES):
                    if values[move] == top:
                        sets[b, r] |= 1 << move


@compiled
def learn(
    table: Table,
    states: NDArray[np.int64],
    moves: NDArray[np.int8],
    rewards: NDArray[np.int8],
    ahead: NDArray[np.int64],
    taken: NDArray[np.int8],
) -> None:
    """Learns in place from one step of every role, one role after the other.

    Args:
      table: with room for all `states`.
      states: int64[B, R], where each role was; -1 where there is nothing to learn from.
      moves: int8[B, R], what it did there.
      rewards: int8[B, R], what it received, in halves.
      ahead: int64[B, R], the state whose value counts as the future; ENDED where there is none.
      taken: int8[B, R], by which of its moves; GREEDY by a best one.
    """
    for b in range(states.shape[0]):
        for r in range(states.shape[1]):
            if states[b, r] < 0:
                continue
            future = 0.0
            if ahead[b, r] != ENDED:
                future = START
                row = _row(table.states[b], ahead[b, r])
                if table.states[b, row] != _FREE:
                    values = table.values[b, row]
                    future = values.max() if taken[b, r] == GREEDY else values[taken[b, r]]
            row = _row(table.states[b], states[b, r])
            if table.states[b, row] == _FREE:
                table.states[b, row] = states[b, r]
                table.values[b, row] = START
                table.used[b] += 1
            value = table.values[b, row, moves[b, r]]
            table.values[b, row, moves[b, r]] = updated(value, rewards[b, r], future)
