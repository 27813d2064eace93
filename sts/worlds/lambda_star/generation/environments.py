"""Many environments at once, as the arrays that the kernels play.

Axes: E environments, P participants.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import NamedTuple

import numpy as np

from sts.errors import ArgumentError
from sts.worlds.lambda_star.generation import patterns, walks
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.kernels import Arrays, Ints, copied
from sts.worlds.lambda_star.state import decode, gather


class Environments(NamedTuple):
    """E environments before their first step; E is `len(index)`.

    Attributes:
      arrays: as they start; never written to, so play what `fresh` returns.
      settings: what they were made to.
      complexity: int64[E], K of Good's path, which a generated environment's Evil shares.
      index: int64[E], each one's number among those of its settings and seed.
    """

    arrays: Arrays
    settings: Settings
    complexity: Ints
    index: Ints  # type: ignore[assignment]  # a name that tuples have too

    def __repr__(self) -> str:
        """Return one line; the arrays are long."""
        s, low, high = self.settings, int(self.complexity.min()), int(self.complexity.max())
        return (
            f"Environments({len(self.complexity)} of {s.height}x{s.width}, "
            f"team={s.participants}, steps={s.horizon}, K {low} to {high}, {s.patterns} patterns)"
        )

    def fresh(self) -> Arrays:
        """Return the arrays anew, to be played."""
        return copied(self.arrays)


def generate(settings: Settings, *, seed: int, start: int, stop: int) -> Environments:
    """Return the environments `start` to `stop` - 1, each as `patterns.generate` makes it."""
    if not 0 <= start < stop:
        raise ArgumentError(f"expected indices from 0 on, found {start} to {stop - 1}")
    made = patterns.worlds(settings, [(seed, index) for index in range(start, stop)])
    k = walks.complexities(made)[:, 0]
    return Environments(made, settings, k, np.arange(start, stop))


def of_states(states: Sequence[bytes]) -> Environments:
    """Return the environments in serialised states, none of which has begun.

    Settings are read off them, so they must agree in size, team, horizon, radius and kind of
    patterns: K's range is what they have, and patterns of cells count as the published program's.
    """
    found = [decode(raw) for raw in states]
    shapes = {(s.height, s.width, len(s.cells), s.horizon, s.kind, s.radius) for s in found}
    begun = [s.step for s in found if s.step]
    if begun:
        raise ArgumentError(f"expected states at step 0, found one at step {begun[0]}")
    if len(shapes) != 1:
        raise ArgumentError(
            "expected states that agree in size, team, horizon, radius and kind of patterns, "
            f"found {len(shapes)} kinds"
        )
    height, width, participants, horizon, kind, radius = shapes.pop()
    if not horizon:
        raise ArgumentError("expected states made for 1 step or more, found them made for 0")
    arrays = gather(found)
    k = walks.complexities(arrays)[:, 0]
    made = patterns.PATTERNS[kind == "cells"]
    drawn = (int(k.min()), int(k.max()))
    settings = Settings(height, width, participants, horizon, drawn, made, radius)
    return Environments(arrays, settings, k, np.arange(len(found)))


def uncertainty(height: int, width: int) -> float:
    """Return H(mu) in bits: of where Good and Evil are, before anything has been seen.

    Source: Chmait et al. 2016, section 4.3: log2 of the ways to put two objects on two cells.
    """
    cells = height * width
    return log2(cells * (cells - 1))
