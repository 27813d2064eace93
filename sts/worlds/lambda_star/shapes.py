"""Colours (Okabe and Ito's) and shapes of the objects on a board."""

from __future__ import annotations

import math
from collections.abc import Iterator

_OBJECT_STYLES = (("#009E73", 0.0), ("#D55E00", 4.0))
_COLOURS = ("#0072B2", "#E69F00", "#56B4E9", "#CC79A7", "#F0E442")
_CORNERS = (4.5, 3.0, 6.0, 5.0, 3.5, 8.0)
DARK = _COLOURS[0]
"""The colour on which letters are white."""
INK = "#111"
"""The colour of outlines, and of letters on all other colours."""


def object_style(index: int) -> tuple[str, float]:
    """Return an object's colour and corners; 0 is a disc, 4.5 a square, 3.5 a triangle point-down.

    Good and Evil, the first two, have unique styles; the others cycle through five colours and six
    shapes, so that thirty of them differ.
    """
    if index < len(_OBJECT_STYLES):
        return _OBJECT_STYLES[index]
    index -= len(_OBJECT_STYLES)
    return _COLOURS[index % len(_COLOURS)], _CORNERS[index % len(_CORNERS)]


def polygon_corners(
    corners: float, x: float, y: float, radius: float
) -> Iterator[tuple[float, float]]:
    """Yield the corners of a regular polygon; a square rests on a side, the others point up."""
    count, square = int(corners), corners == 4.5
    radius *= 1.2 if square else 1.3 if count == 3 else 1.12
    start = math.pi / 2 if corners == 3.5 else -math.pi / 2
    for i in range(count):
        angle = start + (i + (0.5 if square else 0.0)) / count * 2 * math.pi
        yield x + radius * math.cos(angle), y + radius * math.sin(angle)
