"""Distances and ways on the torus, for whole teams at once.

Arrays are [B, R, ...] for B episodes and R roles; grids of one batch may differ in size.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
UNKNOWN = -1


class Gaps(NamedTuple):
    """How many rows down and columns right the nearest way leads, negative for up and left."""

    rows: Ints
    columns: Ints

    @property
    def distance(self) -> Ints:
        """The toroidal Chebyshev distance."""
        return np.maximum(abs(self.rows), abs(self.columns))


def per_episode(values: Ints, like: NDArray[Any]) -> Ints:
    """Returns int64[B] as [B, 1, ...], to broadcast over `like`."""
    return values.reshape(-1, *(1,) * (like.ndim - 1))


def gaps(start: Ints, goal: Ints, height: Ints, width: Ints) -> Gaps:
    """Returns the nearest way from `start` to `goal`; halfway round, the one that crosses no edge.

    The rule of `sets.way`, for whole teams.

    Args:
      start: cells, [B, ...].
      goal: cells, likewise.
      height: int64[B].
      width: int64[B].
    """
    rows, columns = per_episode(height, start), per_episode(width, start)
    return Gaps(
        _signed(goal // columns - start // columns, rows),
        _signed(goal % columns - start % columns, columns),
    )


def _signed(difference: Ints, size: Ints) -> Ints:
    return np.where(2 * abs(difference) > size, difference - np.sign(difference) * size, difference)


def toward(way: Gaps) -> Ints:
    """Returns the move that shortens `way` most; "stay" where there is none to go."""
    return 3 * (np.sign(way.rows) + 1) + np.sign(way.columns) + 1


def surroundings(cell: Ints, height: Ints, width: Ints, radius: int = 1) -> Ints:
    """Returns int64[B, R, M]: the cells within `radius` of `cell` [B, R], row by row."""
    rows, columns = per_episode(height, cell)[..., None], per_episode(width, cell)[..., None]
    down, right = np.divmod(np.arange((2 * radius + 1) ** 2), 2 * radius + 1)
    row, column = cell[..., None] // columns, cell[..., None] % columns
    return (row + down - radius) % rows * columns + (column + right - radius) % columns


def radius(flags: NDArray[Any]) -> int:
    """Returns k of an observed neighbourhood [..., (2k + 1)^2]."""
    return (int(np.sqrt(flags.shape[-1])) - 1) // 2


def remember(known: Ints, flags: NDArray[np.bool_], seen: Ints) -> Ints:
    """Returns where something is known to be after a look: int64[B, R], UNKNOWN for nowhere.

    Args:
      known: what was known before.
      flags: bool[B, R, M], where it shows now; of several places the middle comes first.
      seen: int64[B, R, M], the cells in sight. A known cell that shows nothing now is forgotten.
    """
    middle = flags.shape[-1] // 2
    first = np.where(flags[..., middle], middle, flags.argmax(-1))
    now = np.take_along_axis(seen, first[..., None], -1)[..., 0]
    gone = (seen == known[..., None]).any(-1)
    return np.where(flags.any(-1), now, np.where(gone, UNKNOWN, known))
