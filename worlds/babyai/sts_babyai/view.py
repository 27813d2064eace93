"""The cells of a level, and the view of a player: the image of minigrid's `gen_obs`.

The package cuts the view out of its grid, rotates it up to four times and then hides what is behind
walls, object by object. Here the codes of all cells are kept in one array, from which a view is
read at once, and light spreads row by row.
"""

import functools
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts_babyai.minigrid_names import COLOR_TO_IDX, OBJECT_TO_IDX

VIEW_SIZE = 7
PLAYER_CELL = (VIEW_SIZE // 2, VIEW_SIZE - 1)
"""The player's own cell in a view, (x, y)."""
_AHEAD = ((1, 0), (0, 1), (-1, 0), (0, -1))
_MARGIN = VIEW_SIZE - 1
"""Cells beyond each edge of the grid that a view may show; they look like walls."""
EMPTY = (OBJECT_TO_IDX["empty"], 0, 0)
_WALL = (OBJECT_TO_IDX["wall"], COLOR_TO_IDX["grey"], 0)


class Cells:
    """The contents of minigrid's grid; `update` must follow every change of a cell.

    Attributes:
      objects: everything but walls, by cell, a number that counts row by row.
      facts: bytes that encode the objects, their cells, and what they contain.
    """

    def __init__(self, grid: Any) -> None:
        """Read all cells of `grid`."""
        self._grid, self._row = grid, grid.width + 2 * _MARGIN
        is_empty = np.zeros((grid.height + 2 * _MARGIN, self._row), np.bool_)
        inner = is_empty[_MARGIN:-_MARGIN, _MARGIN:-_MARGIN]
        inner[:] = np.reshape([thing is None for thing in grid.grid], inner.shape)
        self._clear = is_empty.ravel()
        self._codes = np.where(self._clear[:, None], EMPTY, _WALL).astype(np.int8)
        self.objects: dict[int, Any] = {}
        for cell, thing in enumerate(grid.grid):
            if thing and thing.type != "wall":
                self._read(cell, thing)
        self.facts = self._pack_objects()

    def update(self, x: int, y: int) -> None:
        """Read one cell again."""
        cell = y * self._grid.width + x
        self.objects.pop(cell, None)
        self._read(cell, self._grid.grid[cell])
        self.objects = dict(sorted(self.objects.items()))
        self.facts = self._pack_objects()

    def _read(self, cell: int, thing: Any) -> None:
        y, x = divmod(cell, self._grid.width)
        place = self._place(x, y)
        self._codes[place] = thing.encode() if thing else EMPTY
        self._clear[place] = thing is None or thing.see_behind()
        if thing and thing.type != "wall":
            self.objects[cell] = thing

    def _pack_objects(self) -> bytes:
        return b"".join(pack_facts(cell, thing) for cell, thing in self.objects.items())

    def _place(self, x: int, y: int) -> int:
        return int((y + _MARGIN) * self._row + x + _MARGIN)

    def read_map(self, x: int, y: int, facing: int) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
        """Return the codes of all cells, int8[H, W, 3], and what a player at (x, y) sees of them.

        What they see is bool[H, W].
        """
        seen = np.zeros(len(self._codes), np.bool_)
        places = _view_offsets(facing, self._row) + self._place(x, y)
        seen[places] = self.read_view(x, y, facing, None)[..., 0] > 0
        inner = slice(_MARGIN, -_MARGIN)
        every = self._codes.reshape(-1, self._row, 3), seen.reshape(-1, self._row)
        return every[0][inner, inner], every[1][inner, inner]

    def read_view(self, x: int, y: int, facing: int, carrying: Any) -> NDArray[np.int8]:
        """Return what a player at (x, y) sees, a read-only int8[7, 7, 3]."""
        places = _view_offsets(facing, self._row) + self._place(x, y)
        image = self._codes.take(places, 0)
        image[PLAYER_CELL] = carrying.encode() if carrying else EMPTY
        clear = np.packbits(self._clear[places], axis=0, bitorder="little")[0].tolist()
        image *= _BITS[_visible_rows(clear)].T[..., None]
        image.flags.writeable = False
        return image


def pack_facts(cell: int, thing: Any) -> bytes:
    """Return the cell and the codes of an object and of what it contains, int16 each."""
    facts: list[int] = []
    while thing:
        facts += cell, *thing.encode()
        thing = thing.contains
    return struct.pack(f"<{len(facts)}h", *facts)


@functools.cache
def _view_offsets(facing: int, row: int) -> NDArray[np.intp]:
    """Return intp[7, 7], the offset of each cell of a view in an array with `row` cells a row."""
    (ahead_x, ahead_y), (right_x, right_y) = _AHEAD[facing], _AHEAD[(facing + 1) % 4]
    x, y = np.mgrid[:VIEW_SIZE, :VIEW_SIZE]
    aside, distance = x - PLAYER_CELL[0], PLAYER_CELL[1] - y
    return distance * (ahead_y * row + ahead_x) + aside * (right_y * row + right_x)  # type: ignore[no-any-return]


_BITS = (np.arange(2**VIEW_SIZE)[:, None] >> np.arange(VIEW_SIZE) & 1).astype(np.int8)
"""int8[128, 7], the bits of a row of a view, the leftmost cell first."""


def _visible_rows(clear: list[int]) -> list[int]:
    """Return which cells of each row are visible, as bits; `clear` are the transparent cells.

    Light spreads from the player through transparent cells, row by row.
    """
    rows = [0] * VIEW_SIZE
    seen = 1 << PLAYER_CELL[0]
    for y in reversed(range(VIEW_SIZE)):
        rows[y], seen = _spread_light(seen, clear[y])
    return rows


@functools.cache
def _spread_light(visible: int, clear: int) -> tuple[int, int]:
    """Spread light through a row, first to the right and then to the left.

    Returns the visible cells of the row and those of the row ahead, as bits.
    """
    ahead = 0
    for cells, to in ((range(VIEW_SIZE - 1), 1), (range(VIEW_SIZE - 1, 0, -1), -1)):
        for cell in cells:
            if visible & clear & 1 << cell:
                visible |= 1 << cell + to
                ahead |= 1 << cell + to | 1 << cell
    return visible, ahead
