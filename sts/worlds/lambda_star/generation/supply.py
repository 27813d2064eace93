"""Worlds made ahead of their use, many at a time, for whoever needs new ones again and again."""

from __future__ import annotations

from collections.abc import Sequence

from sts.worlds.lambda_star.generation import patterns
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.kernels import Arrays, copied

AT_ONCE = 1024
"""Worlds that are made together where there are fewer seeds: many cost less by the world."""


class Supply:
    """The worlds of B seeds, index by index: those that `patterns.generate` makes one by one.

    The first of each seed are made alone, then two indices together, then four, and so on, so that
    whoever needs one does not wait for many.
    """

    def __init__(self, settings: Settings, seeds: Sequence[int], count: int | None = None) -> None:
        """Makes no world yet.

        Args:
          settings: what they are made to.
          seeds: B of them.
          count: how many worlds a seed has before the first comes round again, all of which are
            kept; None for ever new ones.
        """
        self._settings, self._seeds, self._count = settings, seeds, count
        self._made: dict[int, Arrays] = {}
        self._ahead = 1

    def worlds(self, index: int) -> Arrays:
        """Returns B worlds, to be played: each seed's number `index`, counted from 0."""
        if self._count is not None:
            index %= self._count
        if index not in self._made:
            self._make(index)
        return copied(self._made[index])

    def _make(self, first: int) -> None:
        """Makes the worlds from index `first` on, and forgets others that do not come round."""
        if self._count is None:
            self._made = {}
        ahead = range(first, min(first + self._ahead, self._count or first + self._ahead))
        names = [(seed, index) for index in ahead for seed in self._seeds]
        made, batch = patterns.worlds(self._settings, names), len(self._seeds)
        for i, index in enumerate(ahead):
            self._made[index] = _part(made, i * batch, (i + 1) * batch)
        self._ahead = min(2 * self._ahead, max(1, AT_ONCE // batch))


def _part(a: Arrays, start: int, stop: int) -> Arrays:
    """Returns worlds `start` to `stop` - 1; the patterns are those of all."""
    own = {name: array[start:stop] for name, array in a._asdict().items() if name != "patterns"}
    return a._replace(**own)
