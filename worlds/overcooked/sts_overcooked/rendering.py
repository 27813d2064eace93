"""Pictures of kitchens in one size, drawn by the package."""

import functools
import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

FRAME_SIZE = (300, 540)
"""Rows and columns of pixels: the largest recorded kitchen in tiles of 60."""
SPRITE = 15
"""Pixels of a tile in the package's sprites; whole multiples keep edges sharp."""
BACKGROUND = 32
PUSH = (240, 228, 66)
"""Colour of the arrowhead that marks a push, outlined in black."""


def draw_kitchen(
    state: Any, terrain: Sequence[Sequence[str]], pushes: Sequence[int] = ()
) -> NDArray[np.uint8]:
    """Return uint8[300, 540, 3]: the kitchen as large as fits, centred; `pushes` are marked."""
    tile, left, top = place_kitchen(len(terrain), len(terrain[0]))
    visualizer, pygame = _make_visualizer(tile)
    surface = visualizer.render_state(state, terrain)
    for cook in pushes:
        (x, y), (dx, dy) = state.players[cook].position, state.players[cook].orientation
        tip, base = 0.78, 0.4  # of a tile, from the middle of the cook's
        corners = [(tip, 0.0), (base, 0.24), (base, -0.24)]
        points = [
            (tile * (x + 0.5 + far * dx - side * dy), tile * (y + 0.5 + far * dy + side * dx))
            for far, side in corners
        ]
        pygame.draw.polygon(surface, PUSH, points)
        pygame.draw.polygon(surface, (0, 0, 0), points, width=max(2, tile // 20))
    pixels = pygame.surfarray.array3d(surface).transpose(1, 0, 2)
    out = np.full((*FRAME_SIZE, 3), BACKGROUND, np.uint8)
    out[top : top + len(pixels), left : left + pixels.shape[1]] = pixels
    return out


def place_kitchen(rows: int, columns: int) -> tuple[int, int, int]:
    """Return the pixels of a tile of a kitchen, and those left of and above the kitchen."""
    tile = min(FRAME_SIZE[0] // rows, FRAME_SIZE[1] // columns) // SPRITE * SPRITE
    return tile, (FRAME_SIZE[1] - columns * tile) // 2, (FRAME_SIZE[0] - rows * tile) // 2


@functools.cache
def _make_visualizer(tile: int) -> tuple[Any, Any]:
    """Return the package's visualizer and pygame, without a window or a greeting."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pygame
        from overcooked_ai_py.visualization.state_visualizer import StateVisualizer

        visualizer = StateVisualizer(tile_size=tile, cooking_timer_font_size=tile // 4)
    return visualizer, pygame
