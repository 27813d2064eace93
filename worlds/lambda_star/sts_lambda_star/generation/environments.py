"""Batches of environments, as the arrays that the kernels step.

Axes: E environments, P players.
"""

from collections.abc import Sequence
from math import log2
from typing import NamedTuple

import numpy as np

from sts.plugin import ArgumentError
from sts_lambda_star.generation import patterns, walks
from sts_lambda_star.generation.patterns import Settings
from sts_lambda_star.kernels import Ints, WorldArrays, copy_arrays
from sts_lambda_star.state import decode, states_to_arrays


class Environments(NamedTuple):
    """E environments before their first step; E is `len(index)`."""

    arrays: WorldArrays  # the initial states; do not step them, but a copy from `copy_arrays`
    settings: Settings  # the settings they were generated with
    complexity: Ints  # int64[E], K of Good's path, and in generated environments also of Evil's
    # int64[E], each environment's index among those of its settings and seed
    index: Ints  # type: ignore[assignment]  # a name that tuples have too

    def __repr__(self) -> str:
        """Summarise the environments in one line."""
        s, low, high = self.settings, int(self.complexity.min()), int(self.complexity.max())
        return (
            f"Environments({len(self.complexity)} of {s.height}x{s.width}, "
            f"team={s.n_players}, steps={s.horizon}, K {low} to {high}, {s.patterns} patterns)"
        )

    def copy_arrays(self) -> WorldArrays:
        """Return a copy of the arrays, to be stepped."""
        return copy_arrays(self.arrays)


def generate_environments(settings: Settings, *, seed: int, start: int, stop: int) -> Environments:
    """Generate environments `start` to `stop` - 1 of a seed; see `patterns.generate_worlds`."""
    arrays = patterns.generate_worlds(settings, [(seed, index) for index in range(start, stop)])
    k = walks.path_complexities(arrays)[:, 0]
    return Environments(arrays, settings, k, np.arange(start, stop))


def environments_from_states(states: Sequence[bytes]) -> Environments:
    """Return the environments in serialised states, which must be at step 0.

    The settings are inferred, so the states must agree in size, team, horizon, radius, needs and
    kind of patterns. The range of K is that of the states, and patterns of cells count as the
    published program's.
    """
    decoded = [decode(raw) for raw in states]
    shapes = {
        (s.height, s.width, len(s.cells), s.horizon, s.kind, s.radius, s.needs) for s in decoded
    }
    later = [s.step for s in decoded if s.step]
    if later:
        raise ArgumentError(f"expected states at step 0, found one at step {later[0]}")
    if len(shapes) != 1:
        raise ArgumentError(
            "expected states that agree in size, team, horizon, radius, needs and patterns, "
            f"found {len(shapes)} kinds"
        )
    height, width, n_players, horizon, kind, radius, needs = shapes.pop()
    if not horizon:
        raise ArgumentError("expected states with a horizon of 1 step or more, found 0")
    arrays = states_to_arrays(decoded)
    k = walks.path_complexities(arrays)[:, 0]
    style = patterns.PATTERNS[kind == "cells"]
    complexity = (int(k.min()), int(k.max()))
    settings = Settings(height, width, n_players, horizon, complexity, style, radius, needs)
    return Environments(arrays, settings, k, np.arange(len(decoded)))


def measure_uncertainty(height: int, width: int) -> float:
    """Return H(mu) in bits, the uncertainty of Good's and Evil's cells before any observation.

    Source: Chmait et al. 2016, section 4.3: log2 of the ways to put two objects on two cells.
    """
    cells = height * width
    return log2(cells * (cells - 1))
