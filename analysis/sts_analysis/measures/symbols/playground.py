"""A playground in which Good and Evil repeat their moves, as a class of environments.

Source: Hernández-Orallo and Dowe 2010, section 6.3.
"""

import math
from collections.abc import Sequence, Set
from itertools import count

import numpy as np
from numpy.typing import NDArray

from sts.errors import ArgumentError
from sts.numerics.streams import stream
from sts_analysis.measures.classes import Chosen
from sts_analysis.measures.symbols.domain import Batch, Field, Floats, Ints

SIDE, LONGEST = 9, 25  # cells of a row and a column; the most moves of a path before it repeats
MOVES = ("left", "right", "up", "down", "stay")
_STEPS = np.array([(-1, 0), (1, 0), (0, 1), (0, -1), (0, 0)])
_WEIGHTS = np.array([(45, 9, 3), (90, 18, 6), (135, 27, 1), (180, 36, 2)])  # of what is seen


class Playground(Batch):
    """A torus of 9 x 9 cells, (x, y), in which the player observes the four cells next to it.

    The reward is 1 / (1 + its distance to Good) - 1 / (1 + its distance to Evil). If Good and Evil
    would be in one cell, one of them, at random, keeps its own.
    """

    kind, action_names, noop, n_symbols = "playground", MOVES, MOVES.index("stay"), 225
    fields = {
        "cells": Field(0, SIDE - 1, (3, 2)),  # of the player, Good and Evil
        "paths": Field(0, len(MOVES) - 1, (2, LONGEST)),  # of Good and Evil
        "lengths": Field(1, LONGEST, (2,)),
        "stream": Field(0, 2**53),  # of random draws
    }

    def see(self) -> NDArray[np.bool_]:
        """Return bool[B, 4, 3]: is Good, Evil or the grid's limit on the left, right, up, down?"""
        cells = self.values["cells"]
        around = cells[:, :1] + _STEPS[:4]
        there = (around[:, :, None] % SIDE == cells[:, None, 1:]).all(3)
        return np.dstack([there, (around % SIDE != around).any(2)])

    def _symbols(self) -> Ints:
        return np.asarray((self.see() * _WEIGHTS).sum((1, 2)))

    def _rewards(self) -> Floats:
        gap = np.abs(self.values["cells"][:, 1:] - self.values["cells"][:, :1])
        closeness = 1 / (1 + np.linalg.norm(np.minimum(gap, SIDE - gap), axis=2))
        return np.asarray(closeness[:, 0] - closeness[:, 1])

    def _advance(self, moves: Ints) -> None:
        values, cells, step = self.values, self.values["cells"], self.values["step"]
        turns = (step[:, None] % values["lengths"])[:, :, None]
        every = np.column_stack([moves, np.take_along_axis(values["paths"], turns, 2)[:, :, 0]])
        new = (cells + _STEPS[every]) % SIDE
        for row in np.flatnonzero((new[:, 1] == new[:, 2]).all(1)):
            drawn = stream("playground", int(values["stream"][row]), int(step[row]))
            one = 1 + int(drawn) % 2
            if (new[row, one] == cells[row, one]).all():  # it stays, so the other cannot enter
                one = 3 - one
            new[row, one] = cells[row, one]
        values["cells"] = new


class PlaygroundClass:
    """Playgrounds in which all start anywhere; the complexity is that of both paths, in bits.

    A path's code is its length (Elias gamma) and log2(5) bits a move; none repeats a shorter one.
    """

    name = "playground"
    domain = Playground

    def __init__(self) -> None:
        lengths = range(1, LONGEST + 1)
        bits = {n: 2 * (n.bit_length() - 1) + 1 + n * math.log2(len(MOVES)) for n in lengths}
        self._pairs = {(m, n): bits[m] + bits[n] for m in lengths for n in lengths}
        self.highest: float | None = max(self._pairs.values())

    def choose(
        self, low: float, high: float, *, n_players: int, key: Sequence[int], used: Set[bytes]
    ) -> Chosen | None:
        """Return an environment; pairs of lengths of such a complexity have the same chance."""
        if n_players != 1:
            raise ArgumentError(f"class {self.name}: expected a team of 1, found {n_players}")
        pairs = [pair for pair, bits in self._pairs.items() if low <= bits <= high]
        drawn = (int(stream("class", *key, index)) for index in count())
        while pairs:
            lengths = pairs[next(drawn) % len(pairs)]
            paths = [bytes(next(drawn) % len(MOVES) for _ in range(n)) for n in lengths]
            cells = [(next(drawn) % SIDE, next(drawn) % SIDE) for _ in range(3)]
            padded = [list(path.ljust(LONGEST, b"\0")) for path in paths]
            values = {"cells": [cells], "paths": [padded], "lengths": [lengths]}
            (state,) = Playground(values | {"stream": [next(drawn) % 2**53]}).states()
            repeats = any(path in (path + path)[1:-1] for path in paths)
            if not repeats and cells[1] != cells[2] and state not in used:
                return Chosen(state, self._pairs[lengths])
        return None
