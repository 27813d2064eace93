"""Episodes as arrays, for whoever trains or studies agents of their own.

    from sts import lambda_star

    environments = lambda_star.generate(100, seed=1, team=3)
    episodes = lambda_star.rollout("local-search", environments)
    episodes.rewards.mean()

Axes: E environments, T steps, P participants, M = (2k+1)^2 cells in sight, row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sts.domains import Worlds
from sts.errors import ArgumentError
from sts.worlds.lambda_star.domain import Batch, LambdaStar
from sts.worlds.lambda_star.generation import environments as environments_
from sts.worlds.lambda_star.generation.environments import Environments
from sts.worlds.lambda_star.generation.patterns import Settings, check_whole, sides, whole
from sts.worlds.lambda_star.play.teams import check, episodes, team_for

MOST = 10_000_000
Worldly: TypeAlias = Environments | int | Sequence[bytes]


class Rollout(NamedTuple):
    """What happened in E episodes.

    Attributes:
      moves: int8[E, T, P], 0 to 8: up-left, up, up-right, left, stay, right, down-left, down,
        down-right.
      says: int8[E, T, P], tokens; 0 is silence.
      rewards: float32[E, T, P], -1 to 1, for the step's move.
      cells: uint16[E, T + 1, P], row * width + column; entry t is before step t.
      good: uint16[E, T + 1], likewise Good's cell.
      evil: uint16[E, T + 1], likewise Evil's.
      log_probs: float32[E, T, P], of what was done under the agent's weights, 1% of the uniform
        distribution mixed in; NaN where the agent returns moves in place of weights, and for the
        built-in behaviours that rehearse.
      around: float32[E, T, P, M], the rewards that each participant saw before each step; None
        unless asked for.
    """

    moves: NDArray[np.int8]
    says: NDArray[np.int8]
    rewards: NDArray[np.float32]
    cells: NDArray[np.uint16]
    good: NDArray[np.uint16]
    evil: NDArray[np.uint16]
    log_probs: NDArray[np.float32]
    around: NDArray[np.float32] | None = None

    def __repr__(self) -> str:
        """Return one line; the arrays are long."""
        episodes, steps, team = self.moves.shape
        return f"Rollout(episodes={episodes}, steps={steps}, team={team})"


def generate(
    count: int,
    *,
    seed: int = 0,
    size: tuple[int, int] = (10, 10),
    team: int = 1,
    steps: int = 50,
    patterns: str = "paper",
    complexity: tuple[int, int] | None = None,
    radius: int = 1,
    start: int = 0,
) -> Environments:
    """Return `count` new environments, those that the intelligence test of this seed plays.

    Args:
      count: E, at least 1.
      seed: names them, with all the rest.
      size: rows and columns.
      team: P participants.
      steps: T of an episode.
      patterns: "paper" or "lambdastar-2016".
      complexity: the range that K is drawn from; None is as much of 2 to 23 as can be drawn.
      radius: k, how far participants see.
      start: the first one's index; `start=1000` gives others than the first thousand.

    Raises:
      ArgumentError: there are no such environments; says which there are.
    """
    if not whole(count) or not 1 <= count <= MOST:
        raise ArgumentError(f"expected 1 to {MOST} environments, found {count!r}")
    check_whole(seed=seed, start=start)
    if start < 0:
        raise ArgumentError(f"expected a start of 0 or more, found start {start}")
    settings = Settings(*sides(size), team, steps, complexity, patterns, radius)
    return environments_.generate(settings, seed=seed, start=start, stop=start + count)


def rollout(
    agent: Any,
    environments: Worldly,
    *,
    seed: int = 0,
    rehearsals: int = 100,
    observe: bool = False,
    threads: int = 1,
) -> Rollout:
    """Return what happens when `agent` plays every participant of `environments`.

    The same arguments give the same episodes, and each is the one that `sts lambda-star score`
    plays for this seed. An episode depends on no other: any part of the environments gives its
    part of the episodes, for an agent that keeps the protocol.

        def upwards(observation):
            return np.full(observation.cell.shape, 1)

        rollout(upwards, 10).rewards.mean()

    Args:
      agent: a name ("local-search"), `module:Class`, several of them between commas or in a
        sequence (a mixed team: participants are dealt to them in turn), an agent or its class, or a
        function: it is given an `Observation` of E episodes and P participants and returns their
        moves, int[E, P], or weights over moves, float[E, P, 9].
      environments: from `generate`; or how many with the default settings; or serialised states.
      seed: names the agents' streams of draws.
      rehearsals: how often a learning behaviour practises each episode before the pass shown here.
      observe: True also returns what each participant saw.
      threads: how many compiled learning may use; the same result whatever they are.

    Raises:
      UnknownName: no agent of that name is installed.
      ArgumentError: it is no agent, it has more members than there are participants, learning
        needs more memory than there is, or there are no environments.
      StsError: the agent failed, or returned what is no choice; names the step.
    """
    check_whole(seed=seed, rehearsals=rehearsals, threads=threads)
    worlds = taken(environments)
    members = team_for(agent, worlds.settings)
    check(rehearsals, threads)
    seen = _Eye(worlds) if observe else None
    played = episodes(
        members,
        worlds,
        seed=seed,
        rehearsals=rehearsals,
        threads=threads,
        watch=seen.watch if seen else None,
    )
    return Rollout(
        moves=played.moves,
        says=played.says,
        rewards=played.rewards * np.float32(LambdaStar.reward_unit),
        cells=played.scene[:, :, 2:],
        good=played.scene[:, :, 0],
        evil=played.scene[:, :, 1],
        log_probs=played.log_probs,
        around=seen.around if seen else None,
    )


class _Eye:
    """Keeps what every participant sees, step by step."""

    def __init__(self, environments: Environments) -> None:
        settings = environments.settings
        cells = (2 * settings.radius + 1) ** 2
        shape = (len(environments.index), settings.horizon, settings.participants, cells)
        self.around = np.empty(shape, np.float32)
        self._everyone = range(settings.participants)
        self.watch(-1, Batch.of(environments.fresh(), settings.radius))

    def watch(self, t: int, worlds: Worlds) -> None:
        """Looks before step t + 1, which is after step t."""
        if t + 1 < self.around.shape[1]:
            seen = worlds.observe(self._everyone, team=self._everyone, world=False)
            self.around[:, t + 1] = seen.reward * np.float32(LambdaStar.reward_unit)


def taken(environments: Worldly) -> Environments:
    """Return environments, whichever way they were given, as `rollout` takes them."""
    if isinstance(environments, Environments):
        return environments
    if whole(environments):
        return generate(environments)
    given = list(environments) if isinstance(environments, Sequence) else []
    states = [state for state in given if isinstance(state, bytes)]
    if not states or len(states) < len(given):
        raise ArgumentError(
            "expected environments from generate, their number or a sequence of serialised "
            f"states, found {type(environments).__name__}"
        )
    return environments_.of_states(states)
