"""Arithmetic on the torus: on rings of `size` coordinates, and on grids of height x width cells.

Cells are row * width + column. A neighbourhood is (2k + 1)^2 cells around one, row by row; its
entry m lies m // side - k rows down and m % side - k columns right, so that a move is an entry of a
neighbourhood of side 3.

Arguments are numbers or arrays, which broadcast, unless annotated as int.
"""

from typing import Any, NamedTuple

import numpy as np

from sts.plugin import callable_from_jit

STAY = 4
"""The move "stay", in the middle of the nine."""

TIE_INSIDE, TIE_BACK = range(2)
"""Tie-breaking between two paths halfway round: the one that crosses no edge, or up or left."""


class Offset(NamedTuple):
    """Displacement in rows down and columns right; negative for up and left."""

    rows: Any
    columns: Any


@callable_from_jit
def wrap(coordinate: Any, size: Any) -> Any:
    """Return a coordinate in [-size, 2 * size) wrapped onto the ring."""
    return coordinate + size * (coordinate < 0) - size * (coordinate >= size)


@callable_from_jit
def shortest_displacement(start: Any, goal: Any, size: Any, ties: int = TIE_INSIDE) -> Any:
    """Return the signed shortest displacement on a ring; `ties` is `TIE_INSIDE` or `TIE_BACK`.

    Source: `TIE_INSIDE` is the published program's approachPosition, General.cpp:296
    (lambdastar_2016.md section 6); `TIE_BACK` is this project's categories'.
    """
    direct = goal - start
    return direct - size * (2 * direct + ties > size) + size * (2 * direct < -size)


@callable_from_jit
def shortest_offset(
    start: Any, goal: Any, height: Any, width: Any, ties: int = TIE_INSIDE
) -> Offset:
    """Return the shortest displacement between two cells; see `shortest_displacement` on `ties`."""
    row, to_row = start // width, goal // width
    column, to_column = start - row * width, goal - to_row * width
    rows = shortest_displacement(row, to_row, height, ties)
    return Offset(rows, shortest_displacement(column, to_column, width, ties))


@callable_from_jit
def place_distance(
    row: Any, column: Any, to_row: Any, to_column: Any, height: Any, width: Any
) -> Any:
    """Return the toroidal Chebyshev distance of two cells given by row and column."""
    rows, columns = abs(row - to_row), abs(column - to_column)
    return np.maximum(np.minimum(rows, height - rows), np.minimum(columns, width - columns))


@callable_from_jit
def distance(start: Any, goal: Any, height: Any, width: Any) -> Any:
    """Return the toroidal Chebyshev distance of two cells."""
    return place_distance(start // width, start % width, goal // width, goal % width, height, width)


@callable_from_jit
def offset_to_move(offset: Offset) -> Any:
    """Return the move that shortens an offset on both axes; "stay" for a zero offset."""
    rows, columns = offset
    down = 1 * (rows > 0) - 1 * (rows < 0)
    return 3 * down + 1 * (columns > 0) - 1 * (columns < 0) + STAY


@callable_from_jit
def first_move(start: Any, goal: Any, height: Any, width: Any, ties: int = TIE_INSIDE) -> Any:
    """Return the first move of a shortest path; see `shortest_displacement` on `ties`."""
    return offset_to_move(shortest_offset(start, goal, height, width, ties))


@callable_from_jit
def neighbour(cell: Any, entry: Any, side: int, height: Any, width: Any) -> Any:
    """Return the cell at an entry of the `side` x `side` neighbourhood of a cell."""
    row = cell // width
    column = wrap(cell - row * width + entry % side - side // 2, width)
    return wrap(row + entry // side - side // 2, height) * width + column


@callable_from_jit
def move_cell(cell: Any, move: Any, height: Any, width: Any) -> Any:
    """Return the cell one move away."""
    return neighbour(cell, move, 3, height, width)


@callable_from_jit
def side_length(cells: int) -> int:
    """Return the side 2k + 1 of a neighbourhood of (2k + 1)^2 cells."""
    return int(np.sqrt(cells))
