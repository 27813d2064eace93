"""Worlds made many at a time, for learners that need new ones again and again."""

from __future__ import annotations

from collections.abc import Sequence

from sts.worlds.lambda_star.generation import patterns
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.kernels import Arrays, copied

AT_ONCE = 1024
"""Worlds that are made together where there are fewer seeds: many cost less by the world."""


class Supply:
    """The worlds of B seeds, index by index: those that `patterns.generate` makes one by one.

    One is made at first, then two together, then four, and so on, so that no learner waits for many
    where one is needed.
    """

    def __init__(self, settings: Settings, seeds: Sequence[int], count: int | None = None) -> None:
        """Makes no world yet.

        Args:
          settings: what they are made to.
          seeds: B of them.
          count: how many worlds a seed has before the first comes round again, all of which are
            kept; None for ever new ones.
        """
        self._settings, self._seeds, self._count = settings, tuple(seeds), count
        self._made: dict[int, Arrays] = {}

    def worlds(self, index: int) -> Arrays:
        """Returns B worlds, to be played: each seed's number `index`, counted from 0."""
        if self._count is not None:
            index %= self._count
        if index not in self._made:
            made = self._from(index)
            self._made = made if self._count is None else self._made | made
        return copied(self._made[index])

    def _from(self, first: int) -> dict[int, Arrays]:
        """Makes the worlds of index `first` and of some that follow it."""
        ahead = max(1, min(first + 1, AT_ONCE // len(self._seeds)))
        indices = range(first, min(first + ahead, self._count or first + ahead))
        names = [(seed, index) for index in indices for seed in self._seeds]
        made, batch = patterns.worlds(self._settings, names), len(self._seeds)
        return {index: _part(made, i * batch, (i + 1) * batch) for i, index in enumerate(indices)}


def _part(a: Arrays, start: int, stop: int) -> Arrays:
    """Returns worlds `start` to `stop` - 1; the patterns are those of all."""
    own = {name: array[start:stop] for name, array in a._asdict().items() if name != "patterns"}
    return a._replace(**own)
