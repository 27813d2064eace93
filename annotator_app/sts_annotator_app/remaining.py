"""How much is left to judge, as judges are told it."""

from __future__ import annotations

import time
from collections.abc import Callable

REFRESH_S = 15 * 60.0
"""Seconds after which it is told anew."""


class RemainingWork:
    """What was left of each suite when it was last told.

    A judgement of a reference counts for no agent, so it takes nothing from what is left. Whoever
    saw the number after each answer would learn which clips are references.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Was told nothing yet; `clock` counts seconds."""
        self._clock = clock
        self._told: dict[str, tuple[float, int]] = {}

    def count(self, suite: str, left: Callable[[], int]) -> int:
        """Return what to tell of a suite; `left` counts its judgements that are left."""
        since, before = self._told.get(suite, (float("-inf"), 0))
        if self._clock() - since >= REFRESH_S:
            before = left()
            self._told[suite] = self._clock(), before
        return before
