"""Shortest routes through a kitchen to the cells that a cook can face.

A cook stands on the floor and faces one side. A step towards anything else only turns it. Cells are
(row, column).
"""

from collections import deque
from collections.abc import Collection
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sts_overcooked.constants import INTERACT, SIDES

Cell: TypeAlias = tuple[int, int]


class Route(NamedTuple):
    """Route to face a cell."""

    steps: int  # its length; 0 if the cell is faced
    move: int  # its first action


def find_routes(
    floor: NDArray[np.bool_], start: Cell, side: int, blocked: Collection[Cell] = ()
) -> dict[Cell, Route]:
    """Return a shortest route to each cell that is not floor and that a cook can face.

    The edge of `floor`, bool[H, W], is never floor. `side` is the direction the cook faces, as an
    action, and `blocked` lists floor cells that are occupied.
    """
    routes: dict[Cell, Route] = {}
    right, down = SIDES[side]
    if not floor[ahead := (start[0] + down, start[1] + right)]:
        routes[ahead] = Route(0, INTERACT)
    visited = {start}
    queue = deque([(start, 0, INTERACT)])
    while queue:
        (row, column), steps, first_move = queue.popleft()
        for move, (right, down) in enumerate(SIDES):
            place, ahead = (row + down, column + right), (row + 2 * down, column + 2 * right)
            if not floor[place] or place in blocked:
                place, ahead = (row, column), place
            if ahead not in routes and not floor[ahead]:
                routes[ahead] = Route(steps + 1, first_move if steps else move)
            if place not in visited:
                visited.add(place)
                queue.append((place, steps + 1, first_move if steps else move))
    return routes
