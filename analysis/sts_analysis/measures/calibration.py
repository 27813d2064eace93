"""Classes of environments whose rewards are not balanced, calibrated by random agents.

Complexity is the level, from 0, plus log2 of the length of a solution, as program and time add up
in Levin's Kt. An environment starts again when it has ended, and after so many steps that nothing
done in it lasts. It is given as a random agent left it at a random step, and what random agents get
on average is subtracted: a random agent's expected reward is then 0 at every step.

Source: Hernández-Orallo and Dowe 2010, sections 5.2 and 6.5; Definitions 7 and 9.
"""

import functools
import json
import math
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from sts.domains import reward_values
from sts.domains.adapter import EnvironmentDomain
from sts.domains.envelope import add_envelope
from sts.domains.random import Random
from sts.engine.lockstep import play_episodes
from sts.engine.session import Team
from sts.errors import ArgumentError
from sts.numerics.streams import stream, streams
from sts.storage.files import canonical_json
from sts_analysis.measures.classes import Chosen

SEEDS = 64  # of each level
COPIES, STEPS = 16, 128  # random agents that calibrate an environment; least steps of each
PATIENCE = 8  # steps after which an environment starts again, in lengths of its solution


class Restarting:
    """Environment that starts again when it has ended, or after many times its solution's steps."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.live, self.first, self.solution, self.steps = make(), b"", list[int](), 0

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the environment."""
        return getattr(self.live, name)

    def step(self, actions: Sequence[Any]) -> Sequence[float]:
        """Take a step, and start again if it was the last."""
        rewards: Sequence[float] = self.live.step(actions)
        self.steps += 1
        if self.live.ended or self.steps >= PATIENCE * len(self.solution):
            self.live.restore(self.first)
            self.steps = 0
        return rewards

    def state(self) -> bytes:
        """Return the state, from which it can also start again."""
        states = [state.decode("latin-1") for state in (self.first, self.live.state())]
        return canonical_json([self.solution, self.steps, *states])

    def restore(self, state: bytes) -> None:
        """Restore what `state` returned."""
        self.solution, self.steps, first, now = json.loads(state)
        self.first = first.encode("latin-1")
        self.live.restore(now.encode("latin-1"))


@dataclass(eq=False)
class CalibratedClass:
    """A class of environments for one player; see `classes.EnvironmentClass`."""

    name: str
    domain_name: str  # of the domain whose agents play it
    make: Callable[[], Any]  # constructs an `Environment` with `ended`; rewards span at most 1
    levels: int
    highest: float | None  # complexity, of which there must be many environments
    # resets an environment to a level, from 0, by a seed; returns moves that get a reward, or none
    begin: Callable[[Any, int, int], list[int]]

    def __post_init__(self) -> None:
        """Make the domain, whose environments start again."""
        self.domain: Any = EnvironmentDomain(lambda: Restarting(self.make), self.domain_name)
        self._list = functools.cache(self._list_level)
        self._calibrate = functools.cache(self._play_random)

    def choose(
        self, low: float, high: float, *, n_players: int, key: Sequence[int], used: Set[bytes]
    ) -> Chosen | None:
        """Return an environment; raise ArgumentError if more than one player is asked for."""
        if n_players != 1:
            raise ArgumentError(f"class {self.name} is for 1 player, found {n_players}")
        levels = range(min(self.levels, math.floor(high) + 1))
        every = [own for level in levels for own in self._list(level) if low <= own[1] <= high]
        order = np.argsort(streams(("class", *key), [(state,) for state, _ in every]))
        for state, complexity in (every[i] for i in order):
            starts, offset = self._calibrate(state)
            if used.isdisjoint(starts):
                start = starts[int(stream("class start", *key)) % len(starts)]
                return Chosen(start, complexity, offset)
        return None

    def find_actions(self, state: bytes) -> list[int]:
        """Return no-ops until the environment starts again, and then its solution."""
        world, wait = self.domain.restore_environment(state), list[int]()
        while world.steps:
            wait.append(self.domain.noop)
            world.step((self.domain.noop,))
        return [*wait, *world.solution]

    def _list_level(self, level: int) -> list[tuple[bytes, float]]:
        """Return initial state and complexity of the environments in which actions matter."""
        world, found = self.domain.create_environment(), dict[bytes, float]()
        for seed in range(SEEDS):
            world.solution, sums = self.begin(world.live, level, seed), []
            world.first = world.live.state()
            for moves in (world.solution, [self.domain.noop] * len(world.solution)):
                sums.append(sum(world.live.step((move,))[0] for move in moves))
                world.live.restore(world.first)
            if sums[0] != sums[1]:
                state = add_envelope(self.domain.name, self.domain.version, world.state())
                found[state] = level + math.log2(len(world.solution))
        return [*found.items()]

    def _play_random(self, state: bytes) -> tuple[tuple[bytes, ...], float]:
        """Return the states in which random agents left the environment, and their mean reward."""
        limit = PATIENCE * len(self.domain.restore_environment(state).solution)
        steps = -(-STEPS // limit) * limit
        pause = int(stream("calibration start", state)) % steps
        own = streams(("calibration", state), [(copy,) for copy in range(COPIES)])
        worlds, team = self.domain.restore([state] * COPIES), Team(Random(), (0,), own)
        play_episodes(self.domain, worlds, [team], steps=pause)
        starts, team = tuple(worlds.states()), team._replace(since=pause)
        rewards = play_episodes(self.domain, worlds, [team], steps=steps).rewards
        return starts, float(reward_values(self.domain, rewards).mean())
