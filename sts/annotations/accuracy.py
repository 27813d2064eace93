"""Right answers on references, in all and in the order in which they were given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

BLOCK_SIZE = 20
"""References in one block of accuracy over time."""
_TAIL = 0.025


class Right(NamedTuple):
    """Right answers on references that were judged, success or not; "cannot judge" is left out.

    The interval is Jeffreys', 95%; share and interval are None without any answer.
    """

    answered: int
    right: int
    share: float | None
    interval: tuple[float, float] | None


def measure_accuracy(answers: Sequence[bool]) -> Right:
    """Return how many are true, with Jeffreys' interval.

    Source: Brown, Cai and DasGupta 2001, Stat. Sci. 16:101.
    """
    number, good = len(answers), sum(answers)
    if not number:
        return Right(0, 0, None, None)
    from scipy.stats import beta

    shape = beta(good + 0.5, number - good + 0.5)
    return Right(
        number, good, good / number, (float(shape.ppf(_TAIL)), float(shape.ppf(1 - _TAIL)))
    )


def blocks(answers: Sequence[bool]) -> tuple[Right, ...]:
    """Return the same of each `BLOCK` in order; the last may have fewer."""
    return tuple(
        measure_accuracy(answers[at : at + BLOCK_SIZE]) for at in range(0, len(answers), BLOCK_SIZE)
    )
