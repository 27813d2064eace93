"""Where things will be: by the shortest period that the moves seen so far agree with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.numerics.compiled import compiled, lean
from sts.worlds.lambda_star.agents.readers.sight import NOWHERE
from sts.worlds.lambda_star.kernels import Ints
from sts.worlds.lambda_star.torus import STAY, Offset, step, way, wrapped

MOVES = 9
SURE = 0.9
"""How much an agreed period counts for; the rest is left for a thing that was in another's way."""
_ONCE = 0.1
"""What a move that was never seen counts for, and staying twice, as against one that was."""
_UNKNOWN = -1


class Forecast(NamedTuple):
    """Where N things are expected.

    Attributes:
      path: int64[N, A + 1], their cells now and after 1 to A steps; `NOWHERE` if never seen.
      sure: float64[N], how much the path counts for; 0 without a period.
      chances: float64[N, 9], how likely each next move is, by how often it was seen.
    """

    path: Ints
    sure: NDArray[np.float64]
    chances: NDArray[np.float64]


def blank(count: int, ahead: int) -> Forecast:
    """Return what is expected of things that were never seen."""
    return Forecast(
        np.full((count, ahead + 1), NOWHERE, np.int64),
        np.zeros(count),
        np.full((count, MOVES), 1 / MOVES),
    )


@lean
def _shift(start: int, goal: int, height: int, width: int) -> int:
    """Return how far one cell is from another, as a cell counted from the first."""
    row = wrapped(goal // width - start // width, height)
    return int(row * width + wrapped(goal % width - start % width, width))


@lean
def _shifted(cell: int, shift: int, height: int, width: int) -> int:
    """Return the cell that is a shift away."""
    row = wrapped(cell // width + shift // width, height)
    return int(row * width + wrapped(cell % width + shift % width, width))


@lean
def _period(shifts: Ints) -> int:
    """Return the shortest period that shifts repeat by, seen for two rounds; 0 without one.

    One that all of them agree with goes before one that the last two rounds alone agree with.
    """
    for period in range(1, shifts.size // 2 + 1):
        agreed, clash = 0, False
        for j in range(period, shifts.size):
            if shifts[j] != _UNKNOWN and shifts[j - period] != _UNKNOWN:
                agreed += shifts[j] == shifts[j - period]
                clash = clash or shifts[j] != shifts[j - period]
        if agreed >= period and not clash:
            return period
    for period in range(2, shifts.size // 2 + 1):
        agreed = 0
        for j in range(shifts.size - period, shifts.size):
            agreed += shifts[j] != _UNKNOWN and shifts[j] == shifts[j - period]
        if agreed == period:
            return period
    return 0


@compiled
def foresee(trace: Ints, height: Ints, width: Ints, out: Forecast) -> None:
    """Write to `out`, which is blank, what is to be expected of things from where they were.

    `trace` is int64[N, W], their cells at the last W steps, the newest last; `NOWHERE` if unseen.
    """
    length, ahead = trace.shape[1], out.path.shape[1] - 1
    for n in range(len(trace)):
        last = -1
        for j in range(length):
            last = j if trace[n, j] != NOWHERE else last
        if last < 0:
            continue
        shifts = np.full(length - 1, _UNKNOWN, np.int64)
        seen = np.full(MOVES, _ONCE)
        seen[STAY] += _ONCE
        for j in range(1, length):
            if trace[n, j] != NOWHERE and trace[n, j - 1] != NOWHERE:
                shifts[j - 1] = _shift(trace[n, j - 1], trace[n, j], height[n], width[n])
                seen[_move(shifts[j - 1], height[n], width[n])] += 1.0
        period = _period(shifts)
        out.chances[n] = seen / seen.sum()
        out.sure[n] = SURE if period > 0 else 0.0
        cell = trace[n, last]
        for j in range(last, length + ahead):
            if j > last and period > 0:
                k = j - 1
                while k >= 0 and (k >= length - 1 or shifts[k] == _UNKNOWN):
                    k -= period
                cell = _shifted(cell, shifts[k], height[n], width[n]) if k >= 0 else cell
            if j >= length - 1:
                out.path[n, j - length + 1] = cell


@lean
def _move(shift: int, height: int, width: int) -> int:
    """Return the move that a shift begins with."""
    return int(step(Offset(way(0, shift // width, height), way(0, shift % width, width))))
