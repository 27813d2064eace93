"""Worlds made ahead of their use, many at a time, for whoever needs new ones again and again."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from sts.worlds.lambda_star.generation import patterns
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.kernels import Arrays, copied

AT_ONCE = 1024
"""Worlds that are made together where there are fewer seeds: many cost less by the world."""


class Supply:
    """The worlds of B seeds, index by index: those that `patterns.generate` makes one by one.

    Whoever takes the second of each seed will want more: from then on the next are made on a thread
    while the last are played. One is made at first, then two together, then four, and so on, so
    that nobody waits for many where one is needed.
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
        self._next: dict[int, Arrays] = {}
        self._thread: threading.Thread | None = None

    def worlds(self, index: int) -> Arrays:
        """Returns B worlds, to be played: each seed's number `index`, counted from 0."""
        if self._count is not None:
            index %= self._count
        if index not in self._made:
            self._take_up(index)
        following = max(self._made) + 1
        if index and self._thread is None and following != self._count:
            self._thread = threading.Thread(target=self._make, args=(following,))
            self._thread.start()
        return copied(self._made[index])

    def _take_up(self, first: int) -> None:
        """Keeps the worlds from index `first` on, as the thread has made them or made now."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if first not in self._next:  # asked for out of order, or in a copy of this process
            self._make(first)
        self._made = self._next if self._count is None else self._made | self._next

    def _make(self, first: int) -> None:
        ahead = max(1, min(first + 1, AT_ONCE // len(self._seeds)))
        indices = range(first, min(first + ahead, self._count or first + ahead))
        names = [(seed, index) for index in indices for seed in self._seeds]
        made, batch = patterns.worlds(self._settings, names), len(self._seeds)
        self._next = {
            index: _part(made, i * batch, (i + 1) * batch) for i, index in enumerate(indices)
        }

    def __getstate__(self) -> dict[str, Any]:
        """Lets it be copied and pickled while its thread works; the copy makes its own."""
        return self.__dict__ | {"_thread": None}


def _part(a: Arrays, start: int, stop: int) -> Arrays:
    """Returns worlds `start` to `stop` - 1; the patterns are those of all."""
    own = {name: array[start:stop] for name, array in a._asdict().items() if name != "patterns"}
    return a._replace(**own)
