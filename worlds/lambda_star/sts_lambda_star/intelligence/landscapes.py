"""Fitness landscapes of Λ*: many local optima and one global optimum, possibly drifting.

The reward of a cell is a sum of bumps on the torus minus its mean over all cells, so that a random
agent expects exactly 0. Good is on the highest cell and Evil on the lowest, and both drift with the
landscape; agents see neither, but only rewards.

Source: Chmait et al. 2016, section 6.2, which gives no formula.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.plugin import streams
from sts_lambda_star.domain import Batch, Observation
from sts_lambda_star.generation.environments import Environments
from sts_lambda_star.generation.walks import draw_cells
from sts_lambda_star.kernels import Ints, WorldArrays
from sts_lambda_star.torus import STAY, neighbour, shortest_offset

Heights = NDArray[np.int8]
UNIT = 0.01
"""Reward of a height of 1."""


class Landscapes(Batch):
    """B landscapes, of equal size, which are stepped as worlds of Λ*."""

    def __init__(self, arrays: WorldArrays, heights: Heights) -> None:
        """Take worlds whose Good is on the highest cell of `heights`, int8[B, H * W]."""
        super().__init__(arrays, radius=1)
        self._heights, self._start = heights, arrays.objects[:, :1].copy()

    def observe(self, *arguments: Any, **keywords: Any) -> Observation:
        """Return an observation of Λ* with heights for rewards, and without Good and Evil."""
        seen = super().observe(*arguments, **keywords)
        hidden, rewards = np.zeros_like(seen.good), self._heights_at(seen.surroundings)
        return replace(seen, good=hidden, evil=hidden, reward=rewards)

    def step(self, actions: NDArray[np.int8], utterances: NDArray[np.int8]) -> None:
        """Advance every landscape by one step."""
        super().step(actions, utterances)
        self.arrays.rewards[:] = self._heights_at(self.arrays.cells)

    def _heights_at(self, cells: Ints) -> Heights:
        """Return int8[B, ...], the heights of `cells`, int64[B, ...]."""
        (height, width), flat = self.arrays.size[0], cells.reshape(len(cells), -1)
        good, start = self.arrays.objects[:, :1], self._start
        rows = (flat // width - good // width + start // width) % height
        at: Ints = rows * width + (flat - good + start) % width
        return np.asarray(np.take_along_axis(self._heights, at, 1).reshape(cells.shape))


def make_landscapes(
    worlds: Environments, settings: Mapping[str, int]
) -> tuple[Environments, Heights]:
    """Return `worlds` with Good, Evil and their patterns as in landscapes, and the heights."""
    size, drift = (worlds.settings.height, worlds.settings.width), settings["drift"]
    purpose = ("landscape", settings["bumps"], settings["width"], settings["seed"])
    keys, counters = streams(purpose, worlds.index[:, None]), np.zeros(len(worlds.index), np.int64)
    centres = draw_cells(keys, counters, settings["bumps"], size[0] * size[1])
    heights = make_heights(centres, settings["width"], size)
    directions = draw_cells(keys, counters, 1, 8)
    patterns = np.full((9, max(drift, 1)), STAY)  # in each direction: stay, and then move
    patterns[:, -1] = np.arange(9) if drift else STAY
    a = worlds.copy_arrays()._replace(patterns=patterns.ravel())
    a.objects[:] = np.stack((heights.argmax(1), heights.argmin(1)), 1)
    a.offset[:] = (directions + (directions >= STAY)) * patterns.shape[1]
    a.length[:] = patterns.shape[1]
    return worlds._replace(arrays=a), heights


def make_heights(centres: Ints, width: int, size: tuple[int, int]) -> Heights:
    """Return int8[E, H * W], the sum of bumps at `centres`, int64[E, J], minus its mean.

    A bump falls with the square of the distance, to 0 at `width`. The first has a height of 1, the
    others of .25 to .75. Heights sum to exactly 0 and are scaled to at most 1, in units of `UNIT`;
    a single cell is the highest. Whole numbers make them equal on all machines.
    """
    cells, count = np.arange(size[0] * size[1]), centres.shape[1]
    tall = np.array([100, *(75 - 50 * j // count for j in range(1, count))])
    rows, columns = shortest_offset(centres[..., None], cells, *size)
    bumps = tall[:, None] * np.maximum(0, width**2 - rows**2 - columns**2)
    surface: Ints = cells.size * bumps.sum(1) - bumps.sum((1, 2))[:, None]
    heights, rest = np.divmod(99 * surface, abs(surface).max(1, keepdims=True))
    rank = np.argsort(np.argsort(-rest, 1, kind="stable"), 1)
    heights += rank < -heights.sum(1, keepdims=True)  # the largest remainders are rounded up
    each = np.arange(len(heights))
    heights[each, surface.argmax(1)] += 1
    heights[each, surface.argmin(1)] -= 1
    return heights.astype(np.int8)


def count_optima(heights: Heights, size: tuple[int, int]) -> Ints:
    """Return int64[E], the number of cells that are higher than all eight around them."""
    cells, others = np.arange(size[0] * size[1])[:, None], np.delete(np.arange(9), STAY)
    around = heights[:, neighbour(cells, others, 3, *size)]
    return np.asarray((heights > around.max(2)).sum(1))
