"""How each object of a board looks: a colour of Okabe and Ito's, and a shape."""

from __future__ import annotations

import math
from collections.abc import Iterator

_OWN = (("#009E73", 0.0), ("#D55E00", 4.0))
_COLOURS = ("#0072B2", "#E69F00", "#56B4E9", "#CC79A7", "#F0E442")
_CORNERS = (4.5, 3.0, 6.0, 5.0, 3.5, 8.0)
DARK = _COLOURS[0]
"""The colour that carries white letters."""
INK = "#111"
"""The colour of edges, and of letters on the others."""


def look(which: int) -> tuple[str, float]:
    """Return colour and corners; 0 is a disc, 4.5 a square, 3.5 a triangle that points down.

    Good and Evil, the first two, have a look of their own; the others go round five colours and six
    shapes, so that thirty of them differ.
    """
    if which < len(_OWN):
        return _OWN[which]
    which -= len(_OWN)
    return _COLOURS[which % len(_COLOURS)], _CORNERS[which % len(_CORNERS)]


def outline(corners: float, x: float, y: float, radius: float) -> Iterator[tuple[float, float]]:
    """Yield the corners of a regular shape; a square lies on a side, the others on a tip."""
    count, square = int(corners), corners == 4.5
    radius *= 1.2 if square else 1.3 if count == 3 else 1.12
    start = math.pi / 2 if corners == 3.5 else -math.pi / 2
    for i in range(count):
        angle = start + (i + (0.5 if square else 0.0)) / count * 2 * math.pi
        yield x + radius * math.cos(angle), y + radius * math.sin(angle)
