"""Small BabyAI worlds for tests."""

from __future__ import annotations

from sts.worlds.babyai.environment import MOVES, BabyAI


def begun(level: str = "GoToLocal", seed: int = 3, moves: str = "") -> BabyAI:
    """Returns a level, and plays the moves, a digit each."""
    world = BabyAI()
    world.reset(seed, level)
    for move in moves:
        world.step((int(move),))
    return world


def numbers(*names: str) -> str:
    """Returns moves by name as digits."""
    return "".join(str(MOVES.index(name)) for name in names)
