"""Input features of the cloned cook: the kitchen around it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROWS, COLUMNS = 3, 5
"""Rows above and below the cook and columns to its sides in the features."""
_WINDOW = (2 * ROWS + 1) * (2 * COLUMNS + 1)
_COUNTER, _POT = 1, 5
_LAYERS = 12
_SIDES, _HELD = 4, 5
_FULL, _COOKED = 3.0, 20.0
SIZE = _WINDOW * _LAYERS + 2 * (_SIDES + _HELD)


def extract_features(values: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
    """Return float32[N, SIZE] of N cooks' observations, arrays of leading axis N.

    A window around the cook in layers: counters, onions, dishes, pots and windows; onions, dishes
    and soups lying about; number of ingredients in pots, cooking progress and whether it is done;
    the partner. Then the side that each cook faces and what each holds, one-hot.
    """
    tiles, things = _cut_window(values, "tiles", _COUNTER), _cut_window(values, "things", 0)
    filled, cooking = _cut_window(values, "filled", 0), _cut_window(values, "cooking", -1)
    tiles = np.where(tiles < 0, _COUNTER, tiles)
    lying = np.where(tiles == _POT, 0, things)
    layers = [
        *(tiles == tile for tile in (_COUNTER, 2, 4, _POT, 6)),
        *(lying == thing for thing in (1, 3, 4)),
        filled / _FULL,
        np.where(cooking >= 0, 1 - cooking / _COOKED, 0.0),
        cooking == 0,
        _partner_layer(values),
    ]
    count = len(tiles)
    out = np.empty((count, SIZE), np.float32)
    for number, layer in enumerate(layers):
        out[:, number * _WINDOW : (number + 1) * _WINDOW] = layer.reshape(count, -1)
    at = _WINDOW * _LAYERS
    for cook in ("me", "partner"):
        for column, kinds in ((2, _SIDES), (3, _HELD)):
            out[:, at : at + kinds] = values[cook][:, column, None] == np.arange(kinds)
            at += kinds
    return out


def _cut_window(values: Mapping[str, NDArray[Any]], name: str, outside: int) -> NDArray[Any]:
    """Return the window around each cook, [N, 2 ROWS + 1, 2 COLUMNS + 1]."""
    wide = np.pad(values[name], ((0, 0), (ROWS, ROWS), (COLUMNS, COLUMNS)), constant_values=outside)
    rows = values["me"][:, 0, None] + np.arange(2 * ROWS + 1)
    columns = values["me"][:, 1, None] + np.arange(2 * COLUMNS + 1)
    window: NDArray[Any] = wide[
        np.arange(len(wide))[:, None, None], rows[:, :, None], columns[:, None]
    ]
    return window


def _partner_layer(values: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
    offset = values["partner"][:, :2] - values["me"][:, :2] + (ROWS, COLUMNS)
    rows = offset[:, 0, None, None] == np.arange(2 * ROWS + 1)[:, None]
    columns = offset[:, 1, None, None] == np.arange(2 * COLUMNS + 1)
    layer: NDArray[np.bool_] = rows & columns
    return layer
