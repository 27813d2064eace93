"""Rollouts: environments and episodes as arrays, for training and studying agents.

    import sts_lambda_star as lambda_star

    environments = lambda_star.generate(100, seed=1, team=3)
    episodes = lambda_star.rollout("local-search", environments)
    episodes.rewards.mean()

Axes: E environments, T steps, P players, M = (2k+1)^2 cells in sight, row by row.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sts.plugin import ArgumentError, Worlds
from sts_lambda_star.domain import Batch, LambdaStar
from sts_lambda_star.generation import environments as environments_
from sts_lambda_star.generation.environments import Environments
from sts_lambda_star.generation.patterns import (
    Settings,
    check_integers,
    is_integer,
    unpack_size,
)
from sts_lambda_star.play.teams import load_team_for, play_episodes

MAX_ENVIRONMENTS = 10_000_000
EnvironmentsLike: TypeAlias = Environments | int | Sequence[bytes]


class Rollout(NamedTuple):
    """Arrays of E episodes."""

    # int8[E, T, P], 0 to 8: up-left, up, up-right, left, stay, right, down-left, down, down-right
    actions: NDArray[np.int8]
    utterances: NDArray[np.int8]  # int8[E, T, P], tokens; 0 is silence
    rewards: NDArray[np.float32]  # float32[E, T, P], -1 to 1, after the step's move
    cells: NDArray[np.uint16]  # uint16[E, T + 1, P], row * width + column; entry t is before step t
    good: NDArray[np.uint16]  # uint16[E, T + 1], Good's cells, with the same axis
    evil: NDArray[np.uint16]  # uint16[E, T + 1], Evil's cells, with the same axis
    # float32[E, T, P], of the actions under the agent's weights mixed with 1% of the uniform
    # distribution; NaN if the agent returns actions instead of weights, and for built-in learners
    # that practise
    log_probs: NDArray[np.float32]
    # float32[E, T, P, M], the rewards that each player saw before each step; None unless
    # requested
    observed_rewards: NDArray[np.float32] | None = None

    def __repr__(self) -> str:
        """Summarise the episodes in one line."""
        episodes, steps, team = self.actions.shape
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
    needs: int = 1,
    start: int = 0,
) -> Environments:
    """Generate `count` environments, the same as in the intelligence test with this seed.

    Args:
      count: E, at least 1.
      seed: selects the environments, together with the other arguments.
      size: rows and columns.
      team: P, the number of players.
      steps: T, the length of an episode.
      patterns: "paper" or "lambdastar-2016".
      complexity: the range that K is drawn from; None for as much of 2 to 23 as is possible.
      radius: k, how far players see, in cells.
      needs: players within 1 cell without whom Good, or Evil, has no effect.
      start: index of the first environment; `start=1000` skips the first thousand.

    Raises:
      ArgumentError: an argument is out of range; the message states the range.
    """
    if not is_integer(count) or not 1 <= count <= MAX_ENVIRONMENTS:
        raise ArgumentError(f"expected 1 to {MAX_ENVIRONMENTS} environments, found {count!r}")
    check_integers(seed=seed, start=start)
    if start < 0:
        raise ArgumentError(f"expected a start of 0 or more, found start {start}")
    settings = Settings(*unpack_size(size), team, steps, complexity, patterns, radius, needs)
    return environments_.generate_environments(settings, seed=seed, start=start, stop=start + count)


def rollout(
    agent: Any,
    environments: EnvironmentsLike,
    *,
    seed: int = 0,
    rehearsals: int = 100,
    observe: bool = False,
    threads: int = 1,
) -> Rollout:
    """Let `agent` play every player of `environments` and return the episodes.

    The same arguments give the same episodes, which are those of `sts lambda-star score` with this
    seed. Episodes are independent: any subset of the environments gives the same episodes, for an
    agent that follows the protocol.

        def upwards(observation):
            return np.full(observation.cell.shape, 1)

        rollout(upwards, 10).rewards.mean()

    Args:
      agent: a name ("local-search"), `module:Class`, several of them joined by commas or in a
        sequence (a mixed team, assigned to the players in turn), an agent or its class, or a
        function from an `Observation` of E episodes and P players to their moves, int[E, P],
        or weights over moves, float[E, P, 9].
      environments: from `generate`; or their number, for default settings; or serialised states.
      seed: selects the agents' random streams.
      rehearsals: practice passes of learning agents before the returned one.
      observe: whether to return the rewards that each player saw.
      threads: threads for compiled learning; the result does not depend on it.

    Raises:
      UnknownName: no agent of that name is installed.
      ArgumentError: the agent is invalid or has more members than there are players, learning
        needs more memory than is available, or there are no environments.
      StsError: the agent failed or returned an invalid choice; the message names the step.
    """
    check_integers(seed=seed, rehearsals=rehearsals, threads=threads)
    worlds = to_environments(environments)
    members = load_team_for(agent, worlds.settings)
    if rehearsals < 0 or threads < 1:
        raise ArgumentError(
            f"expected 0 rehearsals and 1 thread or more, found {rehearsals} and {threads}"
        )
    recorder = _RewardRecorder(worlds) if observe else None
    played = play_episodes(
        members,
        worlds,
        seed=seed,
        rehearsals=rehearsals,
        threads=threads,
        watch=recorder.watch if recorder else None,
    )
    return Rollout(
        actions=played.actions,
        utterances=played.utterances,
        rewards=played.rewards * np.float32(LambdaStar.reward_unit),
        cells=played.scene[:, :, 2:],
        good=played.scene[:, :, 0],
        evil=played.scene[:, :, 1],
        log_probs=played.log_probs,
        observed_rewards=recorder.around if recorder else None,
    )


class _RewardRecorder:
    """Recorder of the rewards that every player sees."""

    def __init__(self, environments: Environments) -> None:
        settings = environments.settings
        cells = (2 * settings.radius + 1) ** 2
        shape = (len(environments.index), settings.horizon, settings.n_players, cells)
        self.around = np.empty(shape, np.float32)
        self._everyone = range(settings.n_players)
        self.watch(-1, Batch(environments.copy_arrays(), settings.radius))

    def watch(self, t: int, worlds: Worlds) -> None:
        """Record the observations after step t, which are those before step t + 1."""
        if t + 1 < self.around.shape[1]:
            observation = worlds.observe(self._everyone, team=self._everyone, world=False)
            self.around[:, t + 1] = observation.reward * np.float32(LambdaStar.reward_unit)


def to_environments(environments: EnvironmentsLike) -> Environments:
    """Convert the `environments` argument of `rollout` to `Environments`."""
    if isinstance(environments, Environments):
        return environments
    if is_integer(environments):
        return generate(environments)
    items = list(environments) if isinstance(environments, Sequence) else []
    states = [item for item in items if isinstance(item, bytes)]
    if not states or len(states) < len(items):
        raise ArgumentError(
            "expected environments from generate, their number or a sequence of serialised "
            f"states, found {type(environments).__name__}"
        )
    return environments_.environments_from_states(states)
