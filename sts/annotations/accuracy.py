"""Annotators' accuracy on references, overall and in successive blocks."""

from collections.abc import Sequence
from typing import NamedTuple

BLOCK_SIZE = 20
"""Number of references in one block of accuracy over time."""
_TAIL = 0.025


class Accuracy(NamedTuple):
    """Accuracy on references, comparing success with not success; "cannot judge" is left out.

    The interval is the 95% Jeffreys interval; without answers, both share and interval are None.
    """

    answered: int
    right: int
    share: float | None
    interval: tuple[float, float] | None


def measure_accuracy(answers: Sequence[bool]) -> Accuracy:
    """Count correct answers, and compute the share and its Jeffreys interval.

    Source: Brown, Cai and DasGupta 2001, Stat. Sci. 16:101.
    """
    number, good = len(answers), sum(answers)
    if not number:
        return Accuracy(0, 0, None, None)
    from scipy.stats import beta

    shape = beta(good + 0.5, number - good + 0.5)
    interval = (float(shape.ppf(_TAIL)), float(shape.ppf(1 - _TAIL)))
    return Accuracy(number, good, good / number, interval)


def measure_blocks(answers: Sequence[bool]) -> tuple[Accuracy, ...]:
    """Return the accuracy of each `BLOCK_SIZE` answers in order; the last block may be shorter."""
    return tuple(
        measure_accuracy(answers[at : at + BLOCK_SIZE]) for at in range(0, len(answers), BLOCK_SIZE)
    )
