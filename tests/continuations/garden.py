"""A garden whose old hoses burst when they are used, and scenarios in it; and one with thorns."""

import itertools
import json
import os

from sts import agents
from sts.suites.suite import Scenario
from tests.domains.worlds import Lanterns
from tests.examples import scenario
from tests.recording import record

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

    def step(self, actions):
        if self.flaw and actions[0]:
            raise RuntimeError("the hose burst")
        return super().step(actions)


class Thorny(Flawed):
    """Fails in one world of four, or ends its process there."""

    name = "thorny"

    def reset(self, seed, deadly=False):
        super().reset(seed)
        self.flaw = (1 + deadly) * (seed % 4 == 0)

    def step(self, actions):
        if self.flaw == 2:
            os._exit(9)
        if self.flaw:
            raise RuntimeError("the thorns")
        return super().step(actions)


class Bottomless(Flawed):
    """Ends its process where it begins."""

    name = "bottomless"

    def reset(self, seed, length=0):
        os._exit(9)


def gardens(old: tuple[bool, ...], lengths: tuple[int, ...] = (6,)) -> list[Scenario]:
    """Return a scenario in each garden, of these lengths in turn."""
    resting, each = agents.load(f"{KEEPERS}:Resting"), zip(old, itertools.cycle(lengths))
    recorded = [
        record(resting, domain=GARDEN, count=1, steps=16, seed=seed, settings=settings)[0]
        for seed, settings in enumerate({"old": one, "length": length} for one, length in each)
    ]
    return [scenario(t, id=f"garden-{i:02}") for i, t in enumerate(recorded, 1)]
