"""What a core can do at all of what an agent-step needs: random draws, and bytes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sts.numerics.compiled import compiled
from sts.numerics.draws import uniform
from sts.worlds.lambda_star.play import fused
from tests.benchmarks import learners, paths
from tests.benchmarks.measure import Sizes, Table, seconds
from tests.benchmarks.paths import made

TEAM = 5


class Limits(NamedTuple):
    """Nanoseconds of one random draw, and of one byte at the speed of a copy."""

    draw: float
    byte: float


# How many draws of an agent-step can change what happens (a dictator's, one for the whole team),
# and what the rest of its time goes into.
NEEDS = {
    "random": (1.0, "moving round the edges; what is near, as a key; the reward looked up by it"),
    "local-search": (1.0, "the same, and the best moves looked up by the key"),
    "oracle": (0.0, "the same, and the way to Good's next cell or against it, axis by axis"),
    "stigmergy": (1.0, "writing a mark on nine cells, then comparing the nine on one's own"),
    "wisdom-of-the-crowd": (
        1.0,
        "averaging nine cells, then searching the whole grid for the best",
    ),
    "bidding": (1.0, "the highest of nine rewards, the bid, the way to the target"),
    "dictatorship": (1 / TEAM, "the way to the target, axis by axis"),
    "binary-tree": (1.0, "the highest of nine rewards, the children's, the way to the target"),
    "imitation": (1.0, "the way to the guide, or the highest of nine rewards"),
}


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
    """Returns what a draw and a byte cost on one core."""
    count = size = 500 * sizes.steps * sizes.episodes
    source = np.ones(size, np.int8)
    target = np.empty_like(source)
    return Limits(
        draw=1e9 * seconds(lambda _: _draws(count), runs=sizes.runs) / count,
        byte=1e9 * seconds(lambda _: np.copyto(target, source), runs=sizes.runs) / size,
    )


def traffic(sizes: Sizes) -> float:
    """Returns the bytes that an agent-step has to fetch and put back, spread over an episode.

    They are the world's own (its pattern most of all), the stream's number and the sums; a step in
    the middle touches nothing that is not in a register or the nearest cache.
    """
    worlds = made(TEAM, sizes.episodes, sizes)
    state = sum(array.nbytes for array in worlds.arrays)
    sums = worlds.arrays.cells.nbytes
    own = 8 * sizes.episodes
    return (state + own + sums) / (sizes.episodes * sizes.steps * TEAM)


def table(limits: Limits, reactive: paths.Rates, learning: learners.Rates, sizes: Sizes) -> Table:
    """How far each behaviour stands from what its draws and bytes allow."""
    carried = traffic(sizes)
    rows = [
        _row(limits, name, reactive[name, TEAM].fused, NEEDS[name][0], carried, NEEDS[name][1])
        for name in fused.AGENTS
    ]
    rows += [
        _row(limits, name, learning[name, TEAM], 1.0, UPDATE_BYTES, UPDATE)
        for name in fused.LEARNERS
    ]
    return Table(
        "How far from the limit",
        f"One random draw takes {limits.draw:.2f} ns on one core, and a byte {limits.byte:.3f} ns "
        "at the speed at which a large array is copied. Nothing can be quicker than the draws and "
        "bytes that its rule needs. The table has both for one fused agent-step, or one training "
        f"update, with {TEAM} in a world; the speed that they alone would allow; and the share of "
        "it that is reached. Draws are those that can change what happens. The bytes of a reactive "
        "behaviour are its world's, its stream's and its sums', fetched once an episode and spread "
        "over its steps; those of a learner are its table's, reckoned at the same speed although "
        "the table stays in a quicker cache. So for most behaviours neither draws nor memory hold "
        "much up: the time goes into the arithmetic of the last column, in which every step waits "
        "for the one before.",
        (
            "agent",
            "draws",
            "bytes",
            "limit, millions a second",
            "reached",
            "share, %",
            "what the rest goes into",
        ),
        rows,
    )


def _row(
    limits: Limits, name: str, rate: float, draws: float, carried: float, rest: str
) -> tuple[Any, ...]:
    allowed = 1e3 / (draws * limits.draw + carried * limits.byte)
    return name, draws, carried, allowed, rate, 100 * rate / allowed, rest
