"""What learners learn: the values of moves by state, in rows.

A row's mark says whose it is, and for any other owner the row is blank. So a table that has a row
for every state serves one learner after another, whose number is the owner, and starting it afresh
costs nothing. Where there are too many states for that, the state itself is the owner, and stands
at the first of the rows state % N, state % N + 1, ... that is its own or free. No such row is ever
freed, so what a table says of a state does not depend on N.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.numerics.compiled import compiled, lean
from sts.worlds.lambda_star.agents.sets import ALL, MOVES

ALPHA, GAMMA = 0.3, 0.3
START = 0.2
NEXT, FIRST, SAME = range(3)
ENDED = -1
GREEDY = -1
_FREE = -1
_ROWS = 31
ROW_BYTES = 8 + 8 + MOVES * 8
_OWNER = 2 * MOVES
Ints = NDArray[np.int64]


class Table(NamedTuple):
    """N rows; or those of B episodes, whose arrays begin with one axis more.

    Attributes:
      marks: int64[N], the owner << 18 | the moves it tried << 9 | its best moves; -1 where free.
      tops: float64[N], the highest value of a move, in units of reward.
      values: float64[N, 9], of each move; means nothing where it was not tried.
    """

    marks: Ints
    tops: NDArray[np.float64]
    values: NDArray[np.float64]


@lean
def best(table: Table, row: int, owner: int) -> int:
    """Return the set of the moves of the highest value; all of them in another's row."""
    mark = table.marks[row]
    return int(mark & ALL if mark >> _OWNER == owner else ALL)


@lean
def top(table: Table, row: int, owner: int) -> float:
    """Return the highest value of a move; what it starts with in another's row."""
    return float(table.tops[row] if table.marks[row] >> _OWNER == owner else START)


@lean
def _value(table: Table, row: int, owner: int, move: int) -> float:
    """Return the value of a move, or what it starts with."""
    mark = table.marks[row]
    tried = mark >> _OWNER == owner and mark >> MOVES >> move & 1
    return float(table.values[row, move] if tried else START)


@lean
def learn(table: Table, row: int, owner: int, move: int, reward: int, future: float) -> None:
    """Move the value of a move towards a reward, in halves, and the value of what lies ahead.

    To a processor that guesses ahead nearly every question here is a coin toss. So both outcomes
    are reckoned and one is taken.
    """
    mark, bit = table.marks[row], 1 << move
    fresh = mark >> _OWNER != owner
    mark, highest = ALL if fresh else mark, START if fresh else table.tops[row]
    tried, chosen = mark >> MOVES & ALL, mark & ALL
    value = table.values[row, move] if tried & bit else START
    value = value + ALPHA * (0.5 * reward + GAMMA * future - value)
    chosen = chosen & ~bit | (value == highest) << move
    chosen = bit if value > highest else chosen
    table.marks[row] = owner << _OWNER | (tried | bit) << MOVES | chosen
    table.tops[row] = value if value > highest else highest
    table.values[row, move] = value
    if chosen == 0:
        _search(table, row)


@lean
def _search(table: Table, row: int) -> None:
    """Find the best moves of a row when the last of them turned out worse."""
    tried, highest, chosen = table.marks[row] >> MOVES & ALL, -np.inf, 0
    for move in range(MOVES):
        value = table.values[row, move] if tried >> move & 1 else START
        chosen = 0 if value > highest else chosen
        highest = value if value > highest else highest
        chosen |= (value == highest) << move
    table.tops[row] = highest
    table.marks[row] |= chosen


def blank(batch: int, rows: int = _ROWS) -> Table:
    """Return tables of B episodes in which nothing was learned yet."""
    return Table(
        np.full((batch, rows), _FREE), np.zeros((batch, rows)), np.zeros((batch, rows, MOVES))
    )


def roomy(table: Table, more: int) -> Table:
    """Return a copy that is at most half full after `more` new states an episode."""
    used = int((table.marks != _FREE).sum(-1).max(initial=0)) + more
    out = blank(len(table.marks), _rows(used, table.marks.shape[1]))
    _copy(table, out)
    return out


def _rows(used: int, rows: int = _ROWS) -> int:
    """Return how far a table of `rows` rows grows, which at most half of may be used."""
    while rows <= 2 * used:
        rows = 2 * rows + 1
    return rows


def size(states: int) -> int:
    """Return the bytes that an episode takes in a table with room for so many states."""
    return _rows(states) * ROW_BYTES


@lean
def _row(marks: Ints, state: int) -> int:
    """Return the row in which a state stands, or the free one in which it would."""
    row = state % marks.size
    while marks[row] >> _OWNER != state and marks[row] != _FREE:
        row = row + 1 if row + 1 < marks.size else 0
    return int(row)


@compiled
def _copy(table: Table, out: Table) -> None:
    """Write all that `table` holds to `out`, which has room for it."""
    for b in range(len(table.marks)):
        for row in range(table.marks.shape[1]):
            mark = table.marks[b, row]
            if mark != _FREE:
                there = _row(out.marks[b], mark >> _OWNER)
                out.marks[b, there], out.tops[b, there] = mark, table.tops[b, row]
                out.values[b, there] = table.values[b, row]


@compiled
def greedy(table: Table, states: Ints) -> Ints:
    """Return int64[B, R]: the sets of the moves of the highest value in `states`, int64[B, R]."""
    sets = np.empty_like(states)
    for b in range(len(states)):
        own = Table(table.marks[b], table.tops[b], table.values[b])
        for r in range(states.shape[1]):
            sets[b, r] = best(own, _row(own.marks, states[b, r]), states[b, r])
    return sets


class Lessons(NamedTuple):
    """What B teams did in a pass over an episode.

    Attributes:
      states: int64[B, T, R], where each role was.
      moves: int8[B, T, R], what it did there.
      rewards: int8[B, T, R], what it received, in halves.
      ahead: int64[B, T, R], the state whose value counts as the future; ENDED where there is none.
      taken: int8[B, T, R], by which of its moves; GREEDY by a best one.
    """

    states: Ints
    moves: NDArray[np.int8]
    rewards: NDArray[np.int8]
    ahead: Ints
    taken: NDArray[np.int8]


@compiled
def study(table: Table, lessons: Lessons) -> None:
    """Learns a pass step by step, one role after the other, in a table with room for its states."""
    states, moves, rewards, ahead, taken = lessons
    for b in range(len(states)):
        own = Table(table.marks[b], table.tops[b], table.values[b])
        for t in range(states.shape[1]):
            for r in range(states.shape[2]):
                state, after, future = states[b, t, r], ahead[b, t, r], 0.0
                if after != ENDED:
                    row, move = _row(own.marks, after), int(taken[b, t, r])
                    by_best = move == GREEDY
                    future = top(own, row, after) if by_best else _value(own, row, after, move)
                row, move = _row(own.marks, state), int(moves[b, t, r])
                learn(own, row, state, move, int(rewards[b, t, r]), future)
