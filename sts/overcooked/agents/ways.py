"""Ways through a kitchen: what a cook can come to face, in how many steps, and how to begin.

A cook stands on the floor and faces one side. A step towards what cannot be stood on only turns.
Cells are (row, column).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Cell: TypeAlias = tuple[int, int]
SIDES: tuple[Cell, ...] = ((-1, 0), (1, 0), (0, 1), (0, -1))
"""What the first four moves do."""
STAY, INTERACT = 4, 5


class Way(NamedTuple):
    """How to come to face a cell.

    Attributes:
      steps: until one faces it; 0 for now.
      move: the first of them.
    """

    steps: int
    move: int


def ways(
    floor: NDArray[np.bool_], start: Cell, side: int, blocked: Collection[Cell] = ()
) -> dict[Cell, Way]:
    """Returns a shortest way to each cell that is no floor and that one can come to face.

    Args:
      floor: bool[H, W], where one can stand; the edge is none.
      start: where the cook stands.
      side: which way it faces, as the moves.
      blocked: floor where one cannot step now.
    """
    found: dict[Cell, Way] = {}
    seen = {start}
    waiting: deque[tuple[Cell, int, int]] = deque([(start, 0, STAY)])
    while waiting:
        (row, column), steps, first = waiting.popleft()
        for move, (down, right) in enumerate(SIDES):
            cell = (row + down, column + right)
            if not floor[cell]:
                faced = Way(steps + 1, move if steps == 0 else first)
                if steps == 0 and move == side:
                    faced = Way(0, INTERACT)
                if cell not in found or faced.steps < found[cell].steps:
                    found[cell] = faced
            elif cell not in seen and cell not in blocked:
                seen.add(cell)
                waiting.append((cell, steps + 1, move if steps == 0 else first))
    return found
