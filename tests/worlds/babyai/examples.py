"""Small BabyAI worlds for tests."""

from __future__ import annotations

import pytest

from sts_babyai.environment import MOVES, BabyAI, level_ids

EACH_LEVEL = pytest.mark.parametrize(
    "level",
    [
        pytest.param(level, marks=pytest.mark.slow if n % 6 else ())
        for n, level in enumerate(sorted(level_ids()))
    ],
)
"""Every level that is registered; before a change lands, one in six is tried."""


def begun(level: str = "GoToLocal", seed: int = 3, actions: str = "") -> BabyAI:
    """Return a level, and plays the moves, a digit each."""
    world = BabyAI()
    world.reset(seed, level)
    for move in actions:
        world.step((int(move),))
    return world


def numbers(*names: str) -> str:
    """Return moves by name as digits."""
    return "".join(str(MOVES.index(name)) for name in names)
