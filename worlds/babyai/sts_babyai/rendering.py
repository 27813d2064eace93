"""Pictures of a level or of a player's view, and the strip below both.

The package draws a cell; a picture is put together from the few that differ.
"""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts_babyai.minigrid_names import (
    COLOR_TO_IDX,
    OBJECT_TO_IDX,
    STATE_TO_IDX,
    Grid,
    WorldObj,
)
from sts_babyai.view import EMPTY, PLAYER_CELL

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
    codes = np.swapaxes(observation["image"], 0, 1).copy()
    lit = codes[..., 0] != OBJECT_TO_IDX["unseen"]
    codes[PLAYER_CELL[::-1]] = EMPTY  # the carried object is there in the codes; see the strip
    view = draw_cells(codes, lit, PLAYER_CELL, 3, TILE)
    below = draw_strip(view.shape[1], TILE, observation["carrying"], int(observation["direction"]))
    return np.concatenate((view, below))


def draw_cells(
    codes: NDArray[np.int8], lit: NDArray[np.bool_], player: tuple[int, int], facing: int, tile: int
) -> NDArray[np.uint8]:
    """Return cells as a picture, uint8[H * tile, W * tile, 3].

    Args:
      codes: minigrid's codes of each cell, int8[H, W, 3].
      lit: the cells that are brighter, bool[H, W].
      player: the cell of the red triangle, (x, y).
      facing: its direction.
      tile: pixels of a cell.
    """
    height, width, _ = codes.shape
    parts = np.zeros((height, width, 8), np.int8)
    parts[..., :3], parts[..., 4] = codes, lit
    parts[player[1], player[0], 3] = facing + 1
    _, first, place = np.unique(parts.view(np.int64), return_index=True, return_inverse=True)
    kinds = parts.reshape(-1, 8)[first, :5].tolist()
    tiles = np.stack([_draw_cell(*kind, tile) for kind in kinds])
    picture = tiles[place.reshape(height, width)].swapaxes(1, 2)
    return picture.reshape(height * tile, width * tile, 3)


@functools.cache
def _draw_cell(
    kind: int, colour: int, state: int, facing: int, lit: int, tile: int
) -> NDArray[np.uint8]:
    """Draw a cell as the package does, but with doors that stand out from walls.

    The package draws grey doors and walls in one grey, and in small cells the thin frame of any
    door turns dark. Here the contrast of such a door to the darkest pixel of its cell is doubled,
    and tripled for small grey ones. Of an open grey door this applies to its bar, on the right.
    `facing` is 1 more than the triangle's direction; 0 without one.
    """
    thing = WorldObj.decode(kind, colour, state)
    drawn: NDArray[np.uint8] = Grid.render_tile(
        thing, facing - 1 if facing else None, highlight=bool(lit), tile_size=tile
    ).astype(np.uint8)
    grey, is_small = colour == COLOR_TO_IDX["grey"], tile < _SMALL
    if kind != OBJECT_TO_IDX["door"] or not (grey or is_small):
        return drawn
    left = tile * 7 // 8 if grey and state == STATE_TO_IDX["open"] else 0
    darkest, out = int(drawn.min()), drawn.copy()
    brighter = darkest + (3 if grey and is_small else 2) * (drawn[:, left:].astype(int) - darkest)
    out[:, left:] = brighter.clip(max=255)
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
