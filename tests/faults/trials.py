"""A trial: something is done while faults happen, and then held against what is promised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

Event = TypeVar("Event")
DATABASES = ("sqlite", "postgresql")


class BrokenPromise(AssertionError):
    """What was promised and did not hold, with the shortest history that shows it."""

    def __init__(self, promise: str, history: Sequence[object]) -> None:
        """Take what did not hold, and what happened in the order in which it did."""
        super().__init__("\n".join([promise, *(f"  {event}" for event in history)]))


class Setting(NamedTuple):
    """Where a trial takes place, and what it draws from.

    Attributes:
      random: all that the trial draws.
      folder: empty, and the trial's alone.
      database: one of DATABASES, for parts that have judgements.
    """

    random: np.random.Generator
    folder: Path
    database: str


Trial = Callable[[Setting], Counter[str]]
"""Makes one trial; returns how often what happened, and raises BrokenPromise."""


def drawn(seed: int, part: str, number: int) -> np.random.Generator:
    """Return what the trial of a number draws from, the same whatever else is run."""
    return np.random.default_rng([seed, number, *part.encode()])


def shortest(history: Sequence[Event], fails: Callable[[Sequence[Event]], bool]) -> list[Event]:
    """Return a part of a history that still fails, and no longer does without any of its events.

    Zeller and Hildebrandt 2002, "Simplifying and isolating failure-inducing input", ddmin.
    """
    kept, pieces = list(history), 2
    while kept:
        size = max(1, -(-len(kept) // pieces))
        rests = (kept[:start] + kept[start + size :] for start in range(0, len(kept), size))
        rest = next((rest for rest in rests if fails(rest)), None)
        if rest is not None:
            kept, pieces = rest, max(2, pieces - 1)
        elif size == 1:
            break
        else:
            pieces *= 2
    return kept
