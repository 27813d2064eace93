"""Gymnasium's frozen lakes, 3 x 3 to 8 x 8: it has the maps, and needs no further package."""

from typing import Any

from sts.domains.gymnasium import GymnasiumEnvironment, make_environment_class
from sts_analysis.measures.calibration import CalibratedClass


def make_class() -> CalibratedClass:
    """Return the class; the reward is 1 at the goal."""
    make = make_environment_class("FrozenLake-v1")
    return CalibratedClass("frozen-lake", "gymnasium:FrozenLake-v1", make, 6, 8.0, _begin)


def _begin(environment: GymnasiumEnvironment, level: int, seed: int) -> list[int]:
    from gymnasium.envs.toy_text.frozen_lake import generate_random_map

    environment.reset(0, desc=generate_random_map(level + 3, seed=seed), is_slippery=False)
    live: Any = environment.live.unwrapped
    ways: dict[int, list[int]] = {int(live.s): []}
    for cell in (cells := [*ways]):
        for action, ((_, after, reward, ended),) in live.P[cell].items():
            if reward:
                return [*ways[cell], action]
            if not ended and after not in ways:
                ways[after] = [*ways[cell], action]
                cells.append(after)
    return []
