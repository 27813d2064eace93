"""Observations as flat feature vectors; `feature_slices` names their parts.

Axes: B worlds, R roles, N features of an observation, M = (2k+1)^2 cells in sight, row by row.
"""

import numpy as np
from numpy.typing import NDArray

from sts_lambda_star import state
from sts_lambda_star.domain import LambdaStar, Observation
from sts_lambda_star.generation.patterns import Settings

MOVES = len(state.MOVES)
_UNIT = LambdaStar.reward_unit


def feature_slices(radius: int = 1) -> dict[str, slice]:
    """Return the slice of each part of a feature vector, in order.

    `good`, `evil` [M]: 1 where they are. `others` [M]: the number of other players.
    `reward` [M]: the rewards, -1 to 1. `place` [2]: the role's row and column as fractions of the
    grid's rows and columns, in [0, 1). `time` [1]: the elapsed fraction of the episode.
    `last_move` [9]: one-hot, all 0 before the first move. `last_reward` [1]: -1 to 1.
    """
    cells = (2 * radius + 1) ** 2
    lengths = dict.fromkeys(("good", "evil", "others", "reward"), cells)
    lengths |= {"place": 2, "time": 1, "last_move": MOVES, "last_reward": 1}
    ends = np.cumsum(list(lengths.values())).tolist()
    names = zip(lengths, lengths.values(), ends, strict=True)
    return {name: slice(end - length, end) for name, length, end in names}


def feature_bounds(settings: Settings) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the lowest and highest value of each feature, float32[N], under `settings`."""
    slices = feature_slices(settings.radius)
    size = slices["last_reward"].stop
    low, high = np.zeros(size, np.float32), np.ones(size, np.float32)
    low[slices["reward"]] = low[slices["last_reward"]] = -1
    high[slices["others"]] = max(1, settings.n_players - 1)
    return low, high


def flatten_observation(seen: Observation, horizon: int) -> NDArray[np.float32]:
    """Return float32[B, R, N], the feature vectors of R roles; see `feature_slices`.

    `horizon` is the episode length that normalises `time`; keep the training value when an agent
    plays episodes of another length.
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
