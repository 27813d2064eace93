"""Small BabyAI worlds for tests."""

from __future__ import annotations

import pytest

from sts.worlds.babyai.environment import MOVES, BabyAI, level_ids

EACH_LEVEL = pytest.mark.parametrize(
    "level",
    [
        level if n % 6 == 0 else pytest.param(level, marks=pytest.mark.landing)
        for n, level in enumerate(sorted(level_ids()))
    ],
)
"""Every level that is registered, of which the quick tier tries one in six."""


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
