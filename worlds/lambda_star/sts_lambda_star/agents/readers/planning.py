"""Planning a few steps ahead towards the distances that an instruction asks for."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import jit, jit_inlined
from sts_lambda_star.agents.readers.forecasts import MOVES, Forecast
from sts_lambda_star.agents.readers.grammar import FAR
from sts_lambda_star.agents.readers.sightings import NOWHERE
from sts_lambda_star.kernels import Ints
from sts_lambda_star.lanes import reward_at_distance
from sts_lambda_star.torus import STAY, distance, first_move, move_cell, side_length

PLAN_STEPS = 4
"""Steps of a plan."""
_WINDOW_SIDE = 2 * PLAN_STEPS + 1
_DISCOUNT = 0.8
_FORBIDDEN, _OUTSIDE, _MARGIN = 20.0, 5.0, 0.1
_BAND, _ALOOF, _GAIN, _LOSS = range(4)
_SHARED, _CROWDED = 8.0, 1.0
_EQUAL = 1e-9


class Positions(NamedTuple):
    """Positions of N roles. All int64[N]; `crowd` is int64[N, M], the others per cell in sight."""

    cell: Ints
    height: Ints
    width: Ints
    crowd: Ints


class Goals(NamedTuple):
    """Goals of N roles: a band of distances to a thing, and constraints."""

    low: Ints  # int64[N], the smallest distance to the thing
    high: Ints  # int64[N], the largest distance
    avoid_threat: NDArray[np.bool_]  # bool[N], whether to stay at least two cells from the threat
    alone: NDArray[np.bool_]  # bool[N], whether to avoid sharing the cell
    # bool[N], whether to ignore the band and maximise reward, which the thing gives and the threat
    # takes
    reward: NDArray[np.bool_]


@jit_inlined
def _distance_value(gap: int, low: int, high: int, kind: int) -> float:
    """Return the value of a distance: about 0 in the band, less outside of it.

    With a lower bound, being too far is as bad as being too near. For `_GAIN` and `_LOSS` the value
    is the reward in halves; for `_GAIN` less a small cost of distance.
    """
    if kind >= _GAIN:
        return float(
            reward_at_distance(gap) - _MARGIN * gap if kind == _GAIN else -reward_at_distance(gap)
        )
    if gap < low:
        return gap - low - _FORBIDDEN
    if gap > high:
        return high - gap - (_FORBIDDEN if low > 0 else _OUTSIDE)
    if high == FAR:
        return _MARGIN * min(gap - low, 2)
    return _MARGIN * (0 if kind == _ALOOF else low - gap)


@jit_inlined
def _cell_value(
    here: int,
    t: int,
    n: int,
    thing: Forecast,
    low: int,
    high: int,
    kind: int,
    height: int,
    width: int,
) -> float:
    """Return the value of a cell in `t` steps; for t = 1, the mean over the thing's moves."""
    on_path = _distance_value(distance(here, thing.path[n, t], height, width), low, high, kind)
    if t > 1:
        return on_path
    total = 0.0
    for move in range(MOVES):
        cell = move_cell(thing.path[n, 0], move, height, width)
        gap = distance(here, cell, height, width)
        total += thing.move_probabilities[n, move] * _distance_value(gap, low, high, kind)
    return float(thing.confidence[n] * on_path + (1.0 - thing.confidence[n]) * total)


@jit_inlined
def _crowding_penalty(crowd: Ints, row: int, column: int) -> float:
    """Return the penalty for others in sight on or next to the cell at this offset."""
    total, length = 0.0, side_length(crowd.size)
    for m in range(crowd.size):
        rows, columns = m // length - length // 2 - row, m % length - length // 2 - column
        gap = max(abs(rows), abs(columns))
        total += crowd[m] * (_SHARED if gap == 0 else _CROWDED if gap == 1 else 0.0)
    return float(total)


@jit
def plan_moves(
    places: Positions, wishes: Goals, goal: Forecast, threat: Forecast, sets: Ints
) -> None:
    """Write to `sets`, int64[N], the moves with the highest value over the next `PLAN_STEPS` steps.

    The sets of roles that do not know the goal's cell are left unchanged. The threat is ignored if
    its cell is unknown.
    """
    values = np.zeros((_WINDOW_SIDE + 2, _WINDOW_SIDE + 2))
    later = np.zeros((_WINDOW_SIDE + 2, _WINDOW_SIDE + 2))
    for n in range(len(sets)):
        if goal.path[n, 0] == NOWHERE:
            continue
        height, width, low, high = places.height[n], places.width[n], wishes.low[n], wishes.high[n]
        own_row, own_column = places.cell[n] // width, places.cell[n] % width
        gain, loss = (_GAIN, _LOSS) if wishes.reward[n] else (_BAND, _BAND)
        gain = _ALOOF if wishes.alone[n] else gain
        shuns = wishes.avoid_threat[n] and threat.path[n, 0] != NOWHERE
        later[:] = 0.0
        for t in range(PLAN_STEPS, 0, -1):
            for row in range(-t, t + 1):
                for column in range(-t, t + 1):
                    here = (own_row + row) % height * width + (own_column + column) % width
                    value = _cell_value(here, t, n, goal, low, high, gain, height, width)
                    if shuns:
                        value += _cell_value(here, t, n, threat, 2, FAR, loss, height, width)
                    if wishes.alone[n] and t == 1:
                        value -= _crowding_penalty(places.crowd[n], row, column)
                    i, j = row + PLAN_STEPS + 1, column + PLAN_STEPS + 1
                    best = later[i, j]
                    for m in range(MOVES):
                        best = max(best, later[i + m // 3 - 1, j + m % 3 - 1])
                    values[i, j] = value + _DISCOUNT * (best if t < PLAN_STEPS else 0.0)
            later, values = values, later
        sets[n] = _best_moves(later)


@jit_inlined
def _best_moves(values: NDArray[np.float64]) -> int:
    """Return the set of moves to the highest values around the middle."""
    top, chosen = -np.inf, 0
    for move in range(MOVES):
        value = values[PLAN_STEPS + move // 3, PLAN_STEPS + move % 3]
        chosen = 0 if value > top + _EQUAL else chosen
        chosen |= (value >= top - _EQUAL) << move
        top = max(top, value)
    return chosen


@jit
def lie_in_wait(places: Positions, stood: Ints, wanted: Ints, prey: Forecast, sets: Ints) -> None:
    """Write to `sets` the moves to the cell at which a waiting role meets the prey soonest.

    Roles have not moved for `stood` steps and must have waited `wanted` steps when it comes; a
    role without a forecast of the prey's path stays. All int64[N].
    """
    for n in range(len(sets)):
        sets[n] = 1 << STAY
        soonest = prey.path.shape[1]
        if prey.confidence[n] == 0.0:
            continue
        for t in range(1, prey.path.shape[1]):
            came, move = _meet_prey(places, n, prey.path[n, t], stood[n], wanted[n], prey.path[n])
            if came < soonest:
                soonest, sets[n] = came, 1 << move


@jit_inlined
def _meet_prey(
    places: Positions, n: int, target: int, stood: int, wanted: int, path: Ints
) -> tuple[int, int]:
    """Return when the prey reaches a role that waits on `target`, and the first move there.

    The step is `path.size` if the prey comes too early, never, or meets the role on its way.
    """
    cell, height, width = places.cell[n], places.height[n], places.width[n]
    first, t = first_move(cell, target, height, width), 0
    while cell != target:
        cell, t = move_cell(cell, first_move(cell, target, height, width), height, width), t + 1
        if t >= path.size or path[t] == cell:
            return path.size, STAY
    ready = t + wanted if t > 0 else wanted - stood
    for later in range(t + 1, path.size):
        if path[later] == target:
            return (later, first) if later >= ready else (path.size, STAY)
    return path.size, STAY
