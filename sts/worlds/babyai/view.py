"""The view of a player: the image of minigrid's `gen_obs`, in a fraction of its time.

The package cuts the view out of its grid, rotates it up to four times and then hides what is behind
walls, object by object. Here the visible cells are read directly from the grid.
"""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.worlds.babyai.minigrid_names import COLOR_TO_IDX, OBJECT_TO_IDX

VIEW_SIZE = 7
_AHEAD = ((1, 0), (0, 1), (-1, 0), (0, -1))
_PLAYER_CELL = VIEW_SIZE * VIEW_SIZE - 1 - VIEW_SIZE // 2
_EMPTY = (OBJECT_TO_IDX["empty"], 0, 0)
_WALL = (OBJECT_TO_IDX["wall"], COLOR_TO_IDX["grey"], 0)


@functools.cache
def _view_offsets(facing: int) -> tuple[tuple[int, int], ...]:
    """Return the offset of each cell of a view from the player, row by row."""
    (ahead_x, ahead_y), (right_x, right_y) = _AHEAD[facing], _AHEAD[(facing + 1) % 4]
    return tuple(
        (distance * ahead_x + aside * right_x, distance * ahead_y + aside * right_y)
        for distance in reversed(range(VIEW_SIZE))
        for aside in range(-(VIEW_SIZE // 2), VIEW_SIZE // 2 + 1)
    )


def view_image(live: Any) -> NDArray[np.int8]:
    """Return what the player sees in minigrid's environment, a read-only int8[7, 7, 3]."""
    grid, (x, y) = live.grid, map(int, live.agent_pos)
    codes, clear = [], []
    for right, down in _view_offsets(int(live.agent_dir)):
        column, row = x + right, y + down
        if not (0 <= column < grid.width and 0 <= row < grid.height):
            codes.append(_WALL)
            clear.append(False)
            continue
        thing = grid.grid[row * grid.width + column]
        codes.append(thing.encode() if thing else _EMPTY)
        clear.append(thing is None or thing.see_behind())
    codes[_PLAYER_CELL] = live.carrying.encode() if live.carrying else _EMPTY
    sight = _visible_cells(clear)
    flat = bytearray(3 * VIEW_SIZE * VIEW_SIZE)
    for cell, code in enumerate(codes):
        if sight[cell]:
            place = 3 * (cell % VIEW_SIZE * VIEW_SIZE + cell // VIEW_SIZE)
            flat[place : place + 3] = bytes(code)
    return np.frombuffer(bytes(flat), np.int8).reshape(VIEW_SIZE, VIEW_SIZE, 3)


def _visible_cells(clear: list[bool]) -> list[bool]:
    """Return which cells are visible: light spreads from the player through transparent cells."""
    visible = [False] * (VIEW_SIZE * VIEW_SIZE)
    visible[_PLAYER_CELL] = True
    for row in reversed(range(VIEW_SIZE)):
        first = row * VIEW_SIZE
        for cell, to in (
            *((first + n, 1) for n in range(VIEW_SIZE - 1)),
            *((first + n, -1) for n in reversed(range(1, VIEW_SIZE))),
        ):
            if visible[cell] and clear[cell]:
                visible[cell + to] = True
                if row:
                    visible[cell + to - VIEW_SIZE] = visible[cell - VIEW_SIZE] = True
    return visible
