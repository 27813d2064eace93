"""Step-table columns of Λ*: distances of Good, Evil and others, and what is in sight.

Distances are Chebyshev on the torus. In a scene Good is object 0, Evil object 1 and player p
object 2 + p.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Episode
from sts_lambda_star.state import decode
from sts_lambda_star.torus import distance

VERSION = 1
_GOOD, _EVIL, _FIRST = 0, 1, 2


def step_columns(episode: Episode, player: int) -> dict[str, NDArray[Any]]:
    """Return the columns of player `player` by name, arrays [T] of values before each step.

    NaN marks missing values: the distance of others for a lone player, and the steps since a
    thing was in sight before its first sighting.
    """
    start = decode(episode.state)
    size = start.height, start.width
    scene = episode.scene[: episode.steps].astype(np.int64)
    me, good, evil = scene[:, _FIRST + player], scene[:, _GOOD], scene[:, _EVIL]
    others = np.delete(scene[:, _FIRST:], player, axis=1)
    to_good, to_evil = distance(me, good, *size), distance(me, evil, *size)
    to_others = distance(me[:, None], others, *size)
    nearest = to_others.min(1) if others.shape[1] else np.full(len(me), np.nan)
    return {
        "height": np.full(len(me), start.height),
        "width": np.full(len(me), start.width),
        "row": me // start.width,
        "column": me % start.width,
        "good_distance": to_good,
        "evil_distance": to_evil,
        "other_distance": nearest,
        "good_evil_distance": distance(good, evil, *size),
        "good_in_sight": to_good <= start.radius,
        "evil_in_sight": to_evil <= start.radius,
        "others_in_sight": (to_others <= start.radius).sum(1),
        "good_seen_ago": _count_steps_since(to_good <= start.radius),
        "evil_seen_ago": _count_steps_since(to_evil <= start.radius),
        "moved": _has_moved(me),
        "good_moved": _has_moved(good),
        "evil_moved": _has_moved(evil),
    }


def _count_steps_since(seen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return, at each step, the steps since a thing was last seen; NaN before the first time."""
    steps = np.arange(len(seen))
    last = np.maximum.accumulate(np.where(seen, steps, -1))
    return np.where(last < 0, np.nan, steps - last)


def _has_moved(cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return bool[T], True if the last step led to another cell; False before the first."""
    return np.concatenate(([False], cells[1:] != cells[:-1]))[: len(cells)]
