"""Validation of rewards: whole numbers of a unit, or finite numbers without one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.errors import StsError

MIN_REWARD, MAX_REWARD = -128, 127
"""Bounds of whole rewards, which are stored as int8."""


class InvalidRewards(StsError):
    """Rewards that are not numbers, not whole units, or not one for each player."""


def validate_rewards(
    values: Sequence[Any], shape: tuple[int, int], *, whole: bool, at: str
) -> NDArray[Any]:
    """Return the rewards of B environments as int8[B, P] if `whole`, else float64[B, P].

    `shape` is (B, P). `at` is the prefix of errors, such as "domain 'pond' at step 3".

    Raises:
      InvalidRewards: the rewards of an environment are invalid.
    """
    rewards = _as_array(values)
    if _is_valid(rewards, shape, whole):
        return rewards.astype(np.int8 if whole else np.float64)
    invalid = (row for row in values if not _is_valid(_as_array(row), shape[1:], whole))
    wrong = next(invalid, values[0])
    noun = f"whole rewards from {MIN_REWARD} to {MAX_REWARD}" if whole else "finite rewards"
    raise InvalidRewards(f"{at}: expected {shape[1]} {noun}, found {wrong!r:.60}")


def _as_array(values: Any) -> NDArray[Any]:
    try:
        return np.array(values)
    except (TypeError, ValueError, OverflowError):  # ragged or not numbers
        return np.empty(0)


def _is_valid(rewards: NDArray[Any], shape: tuple[int, ...], whole: bool) -> bool:
    if rewards.shape != shape or rewards.dtype.kind not in ("iub" if whole else "iubf"):
        return False
    if whole:
        return bool(rewards.min() >= MIN_REWARD and rewards.max() <= MAX_REWARD)
    return bool(np.isfinite(rewards).all())
