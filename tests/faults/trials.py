"""A trial: something is done while faults happen, and then compared with what is promised."""

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
        super().__init__("\n".join([promise, *(f"  {event}" for event in history)]))


class Setting(NamedTuple):
    """Where a trial takes place: its random draws, an empty folder, and one of DATABASES."""

    random: np.random.Generator
    folder: Path
    database: str


Trial = Callable[[Setting], Counter[str]]
"""Makes one trial; returns how often what happened, and raises BrokenPromise."""


def make_generator(seed: int, part: str, number: int) -> np.random.Generator:
    """Return what the trial of a number draws from, the same whatever else is run."""
    return np.random.default_rng([seed, number, *part.encode()])


def shortest(history: Sequence[Event], fails: Callable[[Sequence[Event]], bool]) -> list[Event]:
    """Return a part of a history that still fails, and no longer does without any of its events."""
    kept, before = list(history), -1
    while len(kept) != before:
        before = len(kept)
        for event in tuple(kept):
            rest = [one for one in kept if one is not event]
            kept = rest if fails(rest) else kept
    return kept
