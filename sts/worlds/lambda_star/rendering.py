"""A scene as pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_SIDE = 16
_PAPER, _ME, _OTHER = (255, 255, 255), (40, 90, 200), (150, 150, 150)
_GOOD, _NEAR_GOOD = (0, 140, 60), (190, 230, 200)
_EVIL, _NEAR_EVIL = (200, 30, 40), (245, 200, 200)


def frame(scene: NDArray[np.uint16], height: int, width: int) -> NDArray[np.uint8]:
    """Returns uint8[16 * height, 16 * width, 3]: one scene, its cells as squares.

    Good is green and Evil red, each in a paler field that it rewards or fines; participant 0 is
    blue and the others are grey. A later square of these covers an earlier one: fields, others,
    Good, Evil; participant 0 is a smaller square and covers none.

    Args:
      scene: uint16[2 + P], the cells of Good, Evil and the participants.
      height: rows of the grid.
      width: columns.
    """
    cells = np.full((height, width, 3), _PAPER, np.uint8)
    for cell, colour in ((scene[0], _NEAR_GOOD), (scene[1], _NEAR_EVIL)):
        row, column = divmod(int(cell), width)
        rows, columns = np.arange(row - 1, row + 2) % height, np.arange(column - 1, column + 2)
        cells[np.ix_(rows, columns % width)] = colour
    flat = cells.reshape(-1, 3)
    for chosen, colour in ((scene[3:], _OTHER), (scene[0], _GOOD), (scene[1], _EVIL)):
        flat[chosen] = colour
    image = cells.repeat(_SIDE, 0).repeat(_SIDE, 1)
    top, left = (_SIDE * part + _SIDE // 4 for part in divmod(int(scene[2]), width))
    image[top : top + _SIDE // 2, left : left + _SIDE // 2] = _ME
    return image
