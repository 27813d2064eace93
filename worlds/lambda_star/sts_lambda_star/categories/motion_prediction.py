"""Motion prediction: cell probabilities and expected distances, compiled.

Cells are row * W + column, HIDDEN if not seen. Moves are indices of `MOVES`.
"""

import numpy as np
from numpy.typing import NDArray

from sts.plugin import jit
from sts_lambda_star.torus import TIE_BACK, distance, first_move, move_cell

HIDDEN = -1
"""Value of a cell or move that was not in sight."""
MOVE_COUNT = 9
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@jit
def cells_within(cells: Ints, me: int, height: int, width: int, radius: int) -> Ints:
    """Return the cells at most `away` from the player, in ascending order."""
    out = np.empty(len(cells), np.int64)
    count = 0
    for cell in cells:
        if distance(cell, me, height, width) <= radius:
            out[count] = cell
            count += 1
    return np.sort(out[:count])


@jit
def moves_between(cells: Ints, height: int, width: int) -> Ints:
    """Return int64[F - 1], the moves between F frames; HIDDEN if either frame was not seen."""
    out = np.full(max(len(cells) - 1, 0), HIDDEN, np.int64)
    for n in range(len(out)):
        if cells[n] != HIDDEN and cells[n + 1] != HIDDEN:
            out[n] = first_move(cells[n], cells[n + 1], height, width, TIE_BACK)
    return out


@jit
def shortest_period(actions: Ints) -> int:
    """Return the length of the shortest period that was seen twice; 0 if there is none.

    Also 0 if it is a single repeated move, or if a longer period that was seen twice predicts a
    different next move.
    """
    count, shortest = len(actions), 0
    for length in range(2, count // 2 + 1):
        repeats, varies = True, False
        for n in range(count - length, count):
            repeats = repeats and actions[n] != HIDDEN and actions[n] == actions[n - length]
            varies = varies or actions[n] != actions[count - length]
        if not repeats or not varies:
            continue
        if shortest == 0:
            shortest = length
        elif actions[count - length] != actions[count - shortest]:
            return 0
    return shortest


@jit
def shortest_periods(actions: Ints) -> Ints:
    """Return int64[2, N]: each row's period and predicted next move; 0 and HIDDEN if none."""
    out = np.zeros((2, len(actions)), np.int64)
    out[1] = HIDDEN
    for n in range(len(actions)):
        length = shortest_period(actions[n])
        if length:
            out[0, n] = length
            out[1, n] = actions[n, actions.shape[1] - length]
    return out


@jit
def cell_probabilities(cells: Ints, me: Ints, height: int, width: int) -> Floats:
    """Return float64[H * W], the probability of each cell at the next frame.

    Moves with a period are continued; otherwise every move has its observed frequency. Cells where
    it would have been seen since are excluded. Without any sighting the distribution is uniform.
    `cells` is int64[F], its cell in each frame, and `me` the player's cell.
    """
    count, size = len(cells), height * width
    last = count - 1
    while last >= 0 and cells[last] == HIDDEN:
        last -= 1
    if last < 0:
        return np.full(size, 1 / size)
    actions = moves_between(cells[: last + 1], height, width)
    length = shortest_period(actions)
    frequency = np.zeros(MOVE_COUNT)
    for move in actions:
        if move != HIDDEN:
            frequency[move] += 1
    if frequency.sum() == 0:
        frequency[:] = 1
    frequency /= frequency.sum()
    chance = np.zeros(size)
    chance[cells[last]] = 1.0
    for frame in range(last + 1, count + 1):
        if length:
            frequency[:] = 0
            frequency[actions[len(actions) - length + (frame - last - 1) % length]] = 1
        spread = np.zeros(size)
        for cell in range(size):
            if chance[cell] > 0:
                for move in range(MOVE_COUNT):
                    if frequency[move] > 0:
                        spread[move_cell(cell, move, height, width)] += (
                            chance[cell] * frequency[move]
                        )
        if frame < count:
            for move in range(MOVE_COUNT):
                spread[move_cell(me[frame], move, height, width)] = 0
        total = spread.sum()
        if total == 0:  # its move was not predicted
            break
        chance = spread / total
    return chance


@jit
def distance_probabilities(chance: Floats, me: int, height: int, width: int, most: int) -> Floats:
    """Return float64[most + 2, 9]: the probabilities of a distance of at most 0 to `most`.

    Columns are the moves. The last row is the expected distance.
    """
    out = np.zeros((most + 2, MOVE_COUNT))
    for move in range(MOVE_COUNT):
        landing = move_cell(me, move, height, width)
        for cell in range(len(chance)):
            if chance[cell] > 0:
                away = distance(landing, cell, height, width)
                out[most + 1, move] += away * chance[cell]
                for within in range(away, most + 1):
                    out[within, move] += chance[cell]
    return out
