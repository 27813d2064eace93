"""A tiny environment that only renders pixels, and an agent for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sts import agents
from sts.agents import Agent, PolicyOutput
from sts.suites.suite import Scenario
from tests.examples import on_test_side, scenario
from tests.recording import record

NAME = "tests.annotator_app.ring:Ring"
PEEPING = "tests.annotator_app.ring:Peeping"
RINGER = "tests.annotator_app.ring:Ringer"
SUITE = "rings@1"
SIDE = 16
TAKEOVER, HORIZON = 10, 30


class Ring:
    """A ring of cells: two walk along it, and one of them may ring the bell."""

    name: ClassVar[str] = "ring"
    version: ClassVar[str] = "1"
    action_names: ClassVar[tuple[str, ...]] = ("stay", "left", "right", "ring")
    noop: ClassVar[int] = 0
    players: ClassVar[tuple[str, ...]] = ("blue walker", "orange walker")
    reward_unit: ClassVar[float] = 1.0
    guide: ClassVar[str] = "**The ring.** The bell is the dark square."

    def reset(self, seed: int, cells: int = 24) -> None:
        rng = np.random.default_rng(seed)
        self.cells, self.rung = int(cells), False
        *self.at, self.bell = (int(rng.integers(cells)) for _ in range(3))

    def step(self, actions: Sequence[int]) -> Sequence[int]:
        if self.rung:
            return [0, 0]
        self.at = [
            (p + (0, -1, 1, 0)[m]) % self.cells for p, m in zip(self.at, actions, strict=True)
        ]
        won = [int(m == 3 and p == self.bell) for p, m in zip(self.at, actions, strict=True)]
        self.rung = any(won)
        return won

    def state(self) -> bytes:
        return json.dumps([self.cells, self.at, self.bell, self.rung]).encode()

    def restore(self, raw: bytes) -> None:
        self.cells, self.at, self.bell, self.rung = json.loads(raw)

    def digest(self) -> bytes:
        return self.state()

    def observe(self, player: int) -> dict[str, Any]:
        return {"there": np.array(self.at[player] == self.bell)}

    def instruction(self) -> str:
        return "Ring the bell."

    def render(self) -> NDArray[np.uint8]:
        """A row of cells on noise, in which a pixel that is off by one would be noticed."""
        noise = np.random.default_rng(self.bell).integers(180, 256, (3 * SIDE, SIDE * self.cells))
        out = np.repeat(noise.astype(np.uint8)[..., None], 3, axis=2)
        colours = ((0, 114, 178), (230, 159, 0))
        for p, (cell, colour) in enumerate(zip(self.at, colours, strict=True)):
            out[p * SIDE + 3 : p * SIDE + 13, cell * SIDE + 3 : cell * SIDE + 13] = colour
        bell = (200, 0, 0) if self.rung else (60, 60, 60)
        out[2 * SIDE + 4 : 2 * SIDE + 12, self.bell * SIDE + 4 : self.bell * SIDE + 12] = bell
        return out


class Peeping(Ring):
    """A ring of which each player sees their own cell, with the bell if it hangs there."""

    def render_player_view(self, player: int) -> NDArray[np.uint8]:
        left = self.at[player] * SIDE
        there = self.render()[:, left : left + SIDE].copy()
        there[(1 - player) * SIDE : (2 - player) * SIDE] = 0
        return there


class Ringer(Agent):
    """Walks right until it stands under the bell, then rings it."""

    name = "ringer"
    version = "1"  # the tests that it is written among read files

    def act(self, observation: Any, instructions: Any, memory: Any, draws: Any) -> Any:
        there = observation.values["there"]
        return PolicyOutput(np.where(there, 3, 2).astype(np.int64)), memory


def scenarios(count: int, domain: str = NAME) -> list[Scenario]:
    """Return scenarios, each in an environment of its own in which the bell has not rung yet."""
    worlds: dict[str, Any] = {"count": 16 * count, "seed": 3, "settings": {"cells": 40}}
    made = record(agents.load(RINGER), domain=domain, steps=TAKEOVER + HORIZON, **worlds)
    quiet = [one for one in on_test_side(made) if not one.episode.rewards[:TAKEOVER].any()]
    found = {one.world: one for one in quiet}
    given: dict[str, Any] = {"category": "ring", "text": "Ring the bell.", "start": 0}
    given |= {"context": TAKEOVER, "horizon": HORIZON}
    every = enumerate(list(found.values())[:count])
    return [scenario(one, id=f"ring-{i:02}", **given) for i, one in every]
