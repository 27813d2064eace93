"""What a learner sees as one flat vector, which any function approximator takes.

`layout` says what stands where in it.

Axes: B worlds, R roles, N numbers of an observation, M = (2k+1)^2 cells in sight, row by row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.worlds.lambda_star import state
from sts.worlds.lambda_star.domain import LambdaStar, Observation
from sts.worlds.lambda_star.generation.patterns import Settings

MOVES = len(state.MOVES)
_UNIT = LambdaStar.reward_unit


def layout(radius: int = 1) -> dict[str, slice]:
    """Return what an observation holds, in its order.

    `good`, `evil` [M]: 1 where they are. `others` [M]: how many other participants are there.
    `reward` [M]: the reward there, -1 to 1. `place` [2]: the own row and column as parts of the
    grid's rows and columns, 0 to below 1. `time` [1]: the part of the episode that is over.
    `last_move` [9]: 1 at the own last move, all 0 before the first. `last_reward` [1]: -1 to 1.
    """
    cells = (2 * radius + 1) ** 2
    lengths = {
        "good": cells,
        "evil": cells,
        "others": cells,
        "reward": cells,
        "place": 2,
        "time": 1,
        "last_move": MOVES,
        "last_reward": 1,
    }
    ends = np.cumsum(list(lengths.values())).tolist()
    return {
        name: slice(end - length, end)
        for (name, length), end in zip(lengths.items(), ends, strict=True)
    }


class Bounds(NamedTuple):
    """The least and the greatest that each number of an observation can be: float32[N]."""

    low: NDArray[np.float32]
    high: NDArray[np.float32]


def bounds(settings: Settings) -> Bounds:
    """Return what observations under `settings` lie within."""
    where = layout(settings.radius)
    size = where["last_reward"].stop
    low, high = np.zeros(size, np.float32), np.ones(size, np.float32)
    low[where["reward"]] = low[where["last_reward"]] = -1
    high[where["others"]] = max(1, settings.participants - 1)
    return Bounds(low, high)


def flat(seen: Observation, horizon: int) -> NDArray[np.float32]:
    """Return float32[B, R, N]: what R roles see, as `layout` has it.

    Args:
      seen: what they see.
      horizon: the steps of an episode, which make the step a part of it; an agent that learnt in
        episodes of 50 steps goes on with 50 wherever it plays.
    """
    height, width = seen.height[:, None], seen.width[:, None]
    row = seen.cell // width
    time = np.broadcast_to(seen.step[:, None] / horizon, seen.cell.shape)
    parts = (
        seen.good,
        seen.evil,
        seen.team + seen.others,
        seen.reward * _UNIT,
        np.stack((row / height, (seen.cell - row * width) / width, time), -1),
        seen.last_move[..., None] == np.arange(MOVES),
        seen.last_reward[..., None] * _UNIT,
    )
    return np.concatenate(parts, -1, dtype=np.float32)
