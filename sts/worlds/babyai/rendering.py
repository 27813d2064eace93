"""Pictures of a player's view, and the strip below a map.

Both are drawn from an observation alone.
"""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.worlds.babyai.minigrid_names import (
    COLOR_TO_IDX,
    OBJECT_TO_IDX,
    STATE_TO_IDX,
    Grid,
    WorldObj,
)

TILE = 64
"""Pixels of a cell in a player's view, and of the strip below it."""
_GROUND, _INK = 40, 220
_SMALL = 20
"""Cells with fewer pixels have all doors brightened."""
_NOTHING = OBJECT_TO_IDX["empty"]


def render_view(observation: dict[str, Any]) -> NDArray[np.uint8]:
    """Return an observation as a picture, uint8[512, 448, 3].

    The triangle looks up from the middle of the last row; cells out of view are dark. A strip below
    shows the object carried and the triangle's direction on the map.
    """
    grid, visible = Grid.decode(observation["image"])
    me = (grid.width // 2, grid.height - 1)
    grid.set(*me, None)  # the engine draws the carried object there; here it is in the strip
    picture = grid.render(TILE, agent_pos=me, agent_dir=3, highlight_mask=visible)
    view = brighten_doors(picture, grid, TILE)
    below = draw_strip(view.shape[1], TILE, observation["carrying"], int(observation["direction"]))
    return np.concatenate((view, below))


def brighten_doors(picture: NDArray[np.uint8], grid: Grid, tile: int) -> NDArray[np.uint8]:
    """Return a picture of a grid, `tile` pixels a cell, in which doors stand out from walls.

    The engine draws grey doors and walls in one grey, and in small cells the thin frame of any door
    turns dark. Here the contrast of such a door to the darkest pixel of its cell is doubled, and
    tripled for small grey ones. Of an open grey door this applies to its bar, on the right.
    """
    out = picture.copy()
    for x, y in np.ndindex(grid.width, grid.height):
        cell = grid.get(x, y)
        if cell is None or cell.encode()[0] != OBJECT_TO_IDX["door"]:
            continue
        _, colour, state = cell.encode()
        grey = colour == COLOR_TO_IDX["grey"]
        if not grey and tile >= _SMALL:
            continue
        bar = grey and state == STATE_TO_IDX["open"]
        left = x * tile + (tile * 7 // 8 if bar else 0)
        rows, columns = slice(y * tile, (y + 1) * tile), slice(left, (x + 1) * tile)
        darkest = int(picture[rows, x * tile : (x + 1) * tile].min())
        gain = 2 if tile >= _SMALL or not grey else 3
        brighter = darkest + gain * (picture[rows, columns].astype(int) - darkest)
        out[rows, columns] = brighter.clip(max=255)
    return out


def draw_strip(
    width: int, size: int, carrying: NDArray[np.int8], direction: int | None = None
) -> NDArray[np.uint8]:
    """Return uint8[size, width, 3]: the object carried and the player's direction.

    `carrying` is int8[2], minigrid's codes of type and colour. None omits the direction.
    """
    out = np.full((size, width, 3), _GROUND, np.uint8)
    kind, colour = carrying.tolist()
    tile: NDArray[Any] = np.zeros_like(out)
    if kind != _NOTHING:
        tile = Grid.render_tile(WorldObj.decode(kind, colour, 0), tile_size=size)
    _paste_labelled(out, 0, "carries", tile)
    if direction is not None:
        tile = Grid.render_tile(None, agent_dir=direction, tile_size=size)
        _paste_labelled(out, width // 2, "faces", tile)
    return out


def _paste_labelled(out: NDArray[np.uint8], left: int, word: str, tile: NDArray[Any]) -> None:
    """Draw a word followed by a tile."""
    size, label = len(out), _draw_word(word, len(out))
    after = left + label.shape[1]
    out[:, left:after] = label
    out[:, after : after + size] = tile[:, :size]


@functools.cache
def _draw_word(word: str, size: int) -> NDArray[np.uint8]:
    """Return a word as a picture, uint8[size, W, 3]."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(size=size * 0.45)
    image = Image.new("L", (round(font.getlength(word) + 0.6 * size), size), _GROUND)
    ImageDraw.Draw(image).text((0.3 * size, size / 2), word, _INK, font, anchor="lm")
    return np.repeat(np.asarray(image)[..., None], 3, axis=2)
