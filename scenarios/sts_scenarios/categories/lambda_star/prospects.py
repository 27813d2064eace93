"""Where something will be by how it has moved, and how near every move leads: compiled.

Cells are row * W + column, HIDDEN where it was not seen; moves are indices of `MOVES`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sts.numerics.compiled import compiled
from sts.worlds.lambda_star.torus import BACK, distance, moved, toward

HIDDEN = -1
"""In place of a cell, or of a move: it was not in sight."""
MOVE_COUNT = 9
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@compiled
def cells_within(cells: Ints, me: int, height: int, width: int, away: int) -> Ints:
    """Return those cells, in rising order, that are at most so far away."""
    out = np.empty(len(cells), np.int64)
    count = 0
    for cell in cells:
        if distance(cell, me, height, width) <= away:
            out[count] = cell
            count += 1
    return np.sort(out[:count])


@compiled
def moves_between(cells: Ints, height: int, width: int) -> Ints:
    """Return int64[F - 1], the moves between F frames; HIDDEN where one of two was not seen."""
    out = np.full(max(len(cells) - 1, 0), HIDDEN, np.int64)
    for n in range(len(out)):
        if cells[n] != HIDDEN and cells[n + 1] != HIDDEN:
            out[n] = toward(cells[n], cells[n + 1], height, width, BACK)
    return out


@compiled
def shortest_period(moves: Ints) -> int:
    """Return the shortest period that was seen twice, from which the next moves follow; else 0.

    0 as well where it is one move over and over, or where a longer period that was seen twice says
    another next move.
    """
    count, shortest = len(moves), 0
    for length in range(2, count // 2 + 1):
        whole, several = True, False
        for n in range(count - length, count):
            whole = whole and moves[n] != HIDDEN and moves[n] == moves[n - length]
            several = several or moves[n] != moves[count - length]
        if not whole or not several:
            continue
        if shortest == 0:
            shortest = length
        elif moves[count - length] != moves[count - shortest]:
            return 0
    return shortest


@compiled
def shortest_periods(moves: Ints) -> Ints:
    """Return int64[2, N], of N rows of moves the period, and the next move; 0 and HIDDEN else."""
    out = np.zeros((2, len(moves)), np.int64)
    out[1] = HIDDEN
    for n in range(len(moves)):
        length = shortest_period(moves[n])
        if length:
            out[0, n] = length
            out[1, n] = moves[n, moves.shape[1] - length]
    return out


@compiled
def cell_probabilities(cells: Ints, me: Ints, height: int, width: int) -> Floats:
    """Return float64[H * W], with what chance something will be in each cell at the next frame.

    It repeats its moves where they have been seen to repeat; else each that was seen is as likely
    as it was often. Where it would have been seen since, it is not. Even where nothing is known.
    `cells` is int64[F], where it was in each frame, and `me` is the own cell.
    """
    count, size = len(cells), height * width
    seen = count - 1
    while seen >= 0 and cells[seen] == HIDDEN:
        seen -= 1
    if seen < 0:
        return np.full(size, 1 / size)
    moves = moves_between(cells[: seen + 1], height, width)
    length = shortest_period(moves)
    often = np.zeros(MOVE_COUNT)
    for move in moves:
        if move != HIDDEN:
            often[move] += 1
    if often.sum() == 0:
        often[:] = 1
    often /= often.sum()
    chance = np.zeros(size)
    chance[cells[seen]] = 1.0
    for frame in range(seen + 1, count + 1):
        if length:
            often[:] = 0
            often[moves[len(moves) - length + (frame - seen - 1) % length]] = 1
        spread = np.zeros(size)
        for cell in range(size):
            if chance[cell] > 0:
                for move in range(MOVE_COUNT):
                    if often[move] > 0:
                        spread[moved(cell, move, height, width)] += chance[cell] * often[move]
        if frame < count:
            for move in range(MOVE_COUNT):
                spread[moved(me[frame], move, height, width)] = 0
        total = spread.sum()
        if total == 0:  # it moved as it never had
            break
        chance = spread / total
    return chance


@compiled
def distance_probabilities(chance: Floats, me: int, height: int, width: int, most: int) -> Floats:
    """Return float64[most + 2, 9]: with what chance it is 0, 1, ... `most` cells away or nearer.

    That is after each move; the last row is how far away it is on average.
    """
    out = np.zeros((most + 2, MOVE_COUNT))
    for move in range(MOVE_COUNT):
        here = moved(me, move, height, width)
        for cell in range(len(chance)):
            if chance[cell] > 0:
                away = distance(here, cell, height, width)
                out[most + 1, move] += away * chance[cell]
                for within in range(away, most + 1):
                    out[within, move] += chance[cell]
    return out
