"""A garden whose old hoses burst when they are used, and scenarios in it; and one with thorns."""

from __future__ import annotations

import itertools
import json
import os
from typing import Any

from sts import agents
from sts.suites.types import Scenario
from sts.trajectories.record import record
from sts.trajectories.types import Trajectory
from tests.domains.worlds import Lanterns
from tests.examples import scenario

GARDEN = "tests.continuations.garden:Garden"
KEEPERS = "tests.domains.keepers"


class Flawed(Lanterns):
    """Keeps beside the lanterns what is wrong with it."""

    flaw = 0

    def state(self):
        return json.dumps([json.loads(super().state()), self.flaw]).encode()

    def restore(self, state):
        own, self.flaw = json.loads(state)
        super().restore(json.dumps(own))


class Garden(Flawed):
    """Fails where it is `old` and its keeper does not rest."""

    name = "garden"

    def reset(self, seed, length=6, old=False):
        super().reset(seed, length)
        self.flaw = old

    def step(self, moves):
        if self.flaw and moves[0]:
            raise RuntimeError("the hose burst")
        return super().step(moves)


class Thorny(Flawed):
    """Fails in one world of four, or ends its process there."""

    name = "thorny"

    def reset(self, seed, deadly=False):
        super().reset(seed)
        self.flaw = (1 + deadly) * (seed % 4 == 0)

    def step(self, moves):
        if self.flaw == 2:
            os._exit(9)
        if self.flaw:
            raise RuntimeError("the thorns")
        return super().step(moves)


class Bottomless(Flawed):
    """Ends its process where it begins."""

    name = "bottomless"

    def reset(self, seed, length=0):
        os._exit(9)


def gardens(old: tuple[bool, ...], lengths: tuple[int, ...] = (6,)) -> list[Scenario]:
    """Return a scenario in each garden, of these lengths in turn."""
    recorded = [
        walk(number, old=one, length=length)
        for number, (one, length) in enumerate(zip(old, itertools.cycle(lengths)))
    ]
    return [scenario(t, id=f"garden-{i:02}") for i, t in enumerate(recorded, 1)]


def walk(seed: int, **settings: Any) -> Trajectory:
    """Return a recording of keepers that rest."""
    resting = agents.load(f"{KEEPERS}:Resting")
    (one,) = record(resting, domain=GARDEN, count=1, steps=16, seed=seed, settings=settings)
    return one
