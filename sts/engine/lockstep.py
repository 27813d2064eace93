"""Rollouts: B episodes played in lockstep for a fixed number of steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.domains import Domain, Worlds, action_space, silence
from sts.engine import session
from sts.engine.session import Actions, Memory, Team
from sts.episodes import Instruction


class Script(NamedTuple):
    """Scripted actions, which override those of agents.

    Attributes:
      moves: [B, T, P, ...].
      says: [B, T, P], tokens or texts.
      forced: bool[T, P], True for the steps and players that are scripted.
    """

    moves: NDArray[Any]
    says: NDArray[Any]
    forced: NDArray[np.bool_]

    def at(self, step: int) -> tuple[Actions, NDArray[np.bool_]]:
        """Return the actions of a step, and bool[P] of scripted players; see `Session.step`."""
        return Actions(self.moves[:, step], self.says[:, step]), self.forced[step]


class Played(NamedTuple):
    """Rollouts of B episodes of T steps.

    Attributes:
      moves: [B, T, P, ...], of the domain's actions.
      says: [B, T, P], tokens or texts.
      rewards: [B, T, P], int8 in the domain's unit or float64.
      scene: uint16[B, T + 1, K], row t is the scene before step t.
      log_probs: float32[B, T, P]; see `session.Step`.
      memories: the state of each team after the last step.
    """

    moves: NDArray[Any]
    says: NDArray[Any]
    rewards: NDArray[Any]
    scene: NDArray[np.uint16]
    log_probs: NDArray[np.float32]
    memories: tuple[Memory, ...] = ()


def play(
    domain: Domain,
    worlds: Worlds,
    teams: Sequence[Team],
    *,
    steps: int,
    script: Script | None = None,
    told: Sequence[Sequence[Instruction]] | None = None,
    watch: Callable[[int, Worlds], None] | None = None,
) -> Played:
    """Play `steps` steps of `worlds`, in place, and return the rollouts.

    Args:
      domain: of the worlds.
      worlds: B worlds.
      teams: see `session.open`, also for errors.
      steps: T.
      script: actions that override those of agents, which still observe every step.
      told: instructions; see `session.open`.
      watch: called after each step with its number and the worlds; may raise to stop.
    """
    game = session.open(domain, worlds, teams, told=told)
    if script is not None:
        session.check_actions(domain, Actions(script.moves, script.says))
    scene = worlds.scene
    batch, participants = worlds.rewards.shape
    size = (batch, steps, participants)
    out = Played(
        moves=action_space(domain).full(size, domain.noop),
        says=silence(domain, size),
        rewards=np.empty(size, worlds.rewards.dtype),
        scene=np.empty((batch, steps + 1, scene.shape[1]), np.uint16),
        log_probs=np.empty(size, np.float32),
    )
    out.scene[:, 0] = scene
    for t in range(steps):
        done = game.step(*script.at(t)) if script is not None else game.step()
        out.moves[:, t], out.says[:, t], out.log_probs[:, t] = done
        out.rewards[:, t] = worlds.rewards
        out.scene[:, t + 1] = worlds.scene
        if watch is not None:
            watch(t, worlds)
    return out._replace(memories=tuple(game.memories))
