"""Cups that the player and the environment turn over, as a class of environments.

Source: after Hernández-Orallo and Dowe 2010, section 6.1, whose text leaves the rules open; these
are ours. The majority counts. The number of cups is even: as two are turned in a step, an odd
number would be balanced only over the initial states, and two unlike cups would bring no reward.
"""

from itertools import product

import numpy as np

from sts_analysis.measures.symbols.domain import Batch, Field, Floats, Ints, ListedClass

COUNTS, MOST = (4, 6, 8), 8


class Cups(Batch):
    """A row of n cups, black or white, that are observed as one symbol.

    Action i turns cup i modulo n over, and step t at the same time cup t modulo n. The reward is 1
    if most cups are black, -1 if most are white, otherwise 0.
    """

    kind, action_names = "cups", tuple(f"cup {i}" for i in range(MOST))
    n_symbols = 2 ** (MOST + 1)
    fields = {"count": Field(COUNTS[0], MOST), "black": Field(0, 1, (MOST,))}

    def _advance(self, moves: Ints) -> None:
        black, rows = self.values["black"].copy(), np.arange(len(moves))
        for turned in (moves, self.values["step"]):
            black[rows, turned % self.values["count"]] ^= 1
        self.values["black"] = black

    def _rewards(self) -> Floats:
        return np.asarray(np.sign(2.0 * self.values["black"].sum(1) - self.values["count"]))

    def _symbols(self) -> Ints:
        bits = self.values["black"] << np.arange(MOST)
        return np.asarray(bits.sum(1) + (1 << self.values["count"]))


class CupsClass(ListedClass):
    """Four, six or eight cups of all initial colours; the complexity is their number."""

    name = "cups"

    def __init__(self) -> None:
        colours = [own for count in COUNTS for own in product((0, 1), repeat=count)]
        counts = [len(own) for own in colours]
        black = [(*own, *[0] * (MOST - len(own))) for own in colours]
        super().__init__(Cups({"count": counts, "black": black}), np.array(counts, float))
