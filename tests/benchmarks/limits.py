"""What a core can do at all of what a training update needs: random draws, and bytes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sts.numerics.compiled import compiled
from sts.numerics.draws import uniform
from sts.worlds.lambda_star.play.practice import LEARNERS
from tests.benchmarks import learners
from tests.benchmarks.measure import Sizes, Table, seconds

TEAM = 5


class Limits(NamedTuple):
    """Nanoseconds of one random draw, and of one byte at the speed of a copy."""

    draw: float
    byte: float


# Of the state that is left a value, the highest one and a mark are read and written; of the one
# that follows the last two are read; and the reward is.
UPDATE_BYTES = 8 * (2 * 3 + 2) + 1.0
UPDATE = "finding the state's row, the best moves again where the best one got worse"


@compiled
def _draws(count: int) -> float:
    total = 0.0
    for i in range(count):
        total += uniform(7, i)
    return total


def measured(sizes: Sizes) -> Limits:
    """Return what a draw and a byte cost on one core."""
    count = size = 500 * sizes.steps * sizes.episodes
    source = np.ones(size, np.int8)
    target = np.empty_like(source)
    return Limits(
        draw=1e9 * seconds(lambda _: _draws(count), runs=sizes.runs) / count,
        byte=1e9 * seconds(lambda _: np.copyto(target, source), runs=sizes.runs) / size,
    )


def table(limits: Limits, learning: learners.Rates) -> Table:
    """How far each learner stands from what its draws and bytes allow."""
    return Table(
        "How far from the limit",
        f"One random draw takes {limits.draw:.2f} ns on one core, and a byte {limits.byte:.3f} ns "
        "at the speed at which a large array is copied. Nothing can be quicker than the draws and "
        f"bytes that its rule needs. The table has both for one training update, with {TEAM} in a "
        "world; the speed that they alone would allow; and the share of it that is reached. The "
        "bytes are those of the table of values, reckoned at the same speed although the table "
        "stays in a quicker cache.",
        (
            "agent",
            "draws",
            "bytes",
            "limit, millions a second",
            "reached",
            "share, %",
            "what the rest goes into",
        ),
        [_row(limits, name, learning[name, TEAM]) for name in LEARNERS],
    )


def _row(limits: Limits, name: str, rate: float) -> tuple[Any, ...]:
    allowed = 1e3 / (limits.draw + UPDATE_BYTES * limits.byte)
    return name, 1.0, UPDATE_BYTES, allowed, rate, 100 * rate / allowed, UPDATE
