"""Motion forecasts from the shortest period that fits the moves seen so far."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import jit, jit_inlined
from sts_lambda_star.agents.readers.sightings import NOWHERE
from sts_lambda_star.kernels import Ints
from sts_lambda_star.torus import STAY, first_move, wrap

MOVES = 9
PERIOD_CONFIDENCE = 0.9
"""Confidence in a path with a period; the rest allows for a thing blocked by another."""
_PRIOR_COUNT = 0.1
"""Prior count of each move, as against 1 for a move that was seen; staying has it twice."""
_UNKNOWN = -1


class Forecast(NamedTuple):
    """Expected positions of N things."""

    path: Ints  # int64[N, A + 1], their cells now and after 1 to A steps; `NOWHERE` if never seen
    confidence: NDArray[np.float64]  # float64[N], confidence in the path; 0 without a period
    move_probabilities: NDArray[np.float64]  # float64[N, 9], from how often each move was seen


def unknown_forecast(count: int, ahead: int) -> Forecast:
    """Return the forecast of things that were never seen."""
    return Forecast(
        np.full((count, ahead + 1), NOWHERE, np.int64),
        np.zeros(count),
        np.full((count, MOVES), 1 / MOVES),
    )


@jit_inlined
def _encode_shift(start: int, goal: int, height: int, width: int) -> int:
    """Return the offset from one cell to another, encoded as a cell of a grid with origin start."""
    row = wrap(goal // width - start // width, height)
    return int(row * width + wrap(goal % width - start % width, width))


@jit_inlined
def _apply_shift(cell: int, shift: int, height: int, width: int) -> int:
    """Return the cell at an offset that `_encode_shift` encoded."""
    row = wrap(cell // width + shift // width, height)
    return int(row * width + wrap(cell % width + shift % width, width))


@jit_inlined
def _find_period(shifts: Ints) -> int:
    """Return the shortest period of the shifts, seen for two rounds; 0 without one.

    A period that fits all shifts has priority over one that fits only the last two rounds.
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


@jit
def write_forecasts(trace: Ints, height: Ints, width: Ints, out: Forecast) -> None:
    """Write the forecast of N things to `out`, which `unknown_forecast` made.

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
        seen = np.full(MOVES, _PRIOR_COUNT)
        seen[STAY] += _PRIOR_COUNT
        for j in range(1, length):
            if trace[n, j] != NOWHERE and trace[n, j - 1] != NOWHERE:
                shifts[j - 1] = _encode_shift(trace[n, j - 1], trace[n, j], height[n], width[n])
                seen[first_move(0, shifts[j - 1], height[n], width[n])] += 1.0
        period = _find_period(shifts)
        out.move_probabilities[n] = seen / seen.sum()
        out.confidence[n] = PERIOD_CONFIDENCE if period > 0 else 0.0
        cell = trace[n, last]
        for j in range(last, length + ahead):
            if j > last and period > 0:
                k = j - 1
                while k >= 0 and (k >= length - 1 or shifts[k] == _UNKNOWN):
                    k -= period
                cell = _apply_shift(cell, shifts[k], height[n], width[n]) if k >= 0 else cell
            if j >= length - 1:
                out.path[n, j - length + 1] = cell
