"""Number of remaining judgements shown to annotators, refreshed rarely."""

from __future__ import annotations

import time
from collections.abc import Callable

REFRESH_S = 15 * 60.0
"""Time after which the number is counted again."""


class RemainingWork:
    """Cached number of remaining judgements of each suite.

    Judging a reference does not reduce the number. If it were updated after each answer,
    annotators could tell which clips are references.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start without counts; `clock` returns seconds."""
        self._clock = clock
        self._counts: dict[str, tuple[float, int]] = {}

    def count(self, suite: str, left: Callable[[], int]) -> int:
        """Return the cached number for a suite; `left` counts it again if it is too old."""
        counted_at, number = self._counts.get(suite, (float("-inf"), 0))
        if self._clock() - counted_at >= REFRESH_S:
            number = left()
            self._counts[suite] = self._clock(), number
        return number
