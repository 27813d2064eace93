"""Small BabyAI worlds for tests."""

from __future__ import annotations

import pytest

from sts_babyai.environment import MOVES, BabyAI, level_ids

TIERS: dict[int, list[pytest.MarkDecorator]] = {0: [], 3: [pytest.mark.landing]}
EACH_LEVEL = pytest.mark.parametrize(
    "level",
    [
        pytest.param(level, marks=TIERS.get(n % 6, [pytest.mark.slow]))
        for n, level in enumerate(sorted(level_ids()))
    ],
)
"""Every level that is registered; the quick and the landing tier try one in six each."""


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
