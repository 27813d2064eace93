"""Rollouts: B episodes played in lockstep for a fixed number of steps."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Memory
from sts.domains import Domain, Worlds, action_space, silent_utterances
from sts.engine import session
from sts.engine.session import Actions, Team
from sts.episodes import Instruction


class Script(NamedTuple):
    """Scripted actions, which override those of agents."""

    actions: NDArray[Any]  # [B, T, P, ...]
    utterances: NDArray[Any]  # [B, T, P], tokens or texts
    forced: NDArray[np.bool_]  # bool[T, P], True for the steps and players that are scripted

    def actions_at(self, step: int) -> tuple[Actions, NDArray[np.bool_]]:
        """Return the actions of a step, and bool[P] of scripted players; see `Session.step`."""
        return Actions(self.actions[:, step], self.utterances[:, step]), self.forced[step]


class Rollouts(NamedTuple):
    """Rollouts of B episodes of T steps."""

    actions: NDArray[Any]  # [B, T, P, ...], of the domain's actions
    utterances: NDArray[Any]  # [B, T, P], tokens or texts
    rewards: NDArray[Any]  # [B, T, P], int8 in the domain's unit or float64
    scene: NDArray[np.uint16]  # uint16[B, T + 1, K], row t is the scene before step t
    log_probs: NDArray[np.float32]  # float32[B, T, P]; see `session.StepResult`
    memories: tuple[Memory, ...] = ()  # the state of each team after the last step


def play_episodes(
    domain: Domain,
    worlds: Worlds,
    teams: Sequence[Team],
    *,
    steps: int,
    script: Script | None = None,
    told: Sequence[Sequence[Instruction]] | None = None,
    watch: Callable[[int, Worlds], None] | None = None,
) -> Rollouts:
    """Play T = `steps` steps of B worlds, in place, and return the rollouts.

    `script` overrides the actions of agents, which still observe every step. `watch` is called
    after each step with its number and the worlds; it may raise to stop. See `session.open_session`
    on the other arguments and errors.
    """
    game = session.open_session(domain, worlds, teams, told=told)
    if script is not None:
        session.check_actions(domain, Actions(script.actions, script.utterances))
    scene = worlds.scene
    batch, n_players = worlds.rewards.shape
    size = (batch, steps, n_players)
    out = Rollouts(
        actions=action_space(domain).fill(size, domain.noop),
        utterances=silent_utterances(domain, size),
        rewards=np.empty(size, worlds.rewards.dtype),
        scene=np.empty((batch, steps + 1, scene.shape[1]), np.uint16),
        log_probs=np.empty(size, np.float32),
    )
    out.scene[:, 0] = scene
    for t in range(steps):
        done = game.step(*script.actions_at(t)) if script is not None else game.step()
        out.actions[:, t], out.utterances[:, t], out.log_probs[:, t] = done
        out.rewards[:, t] = worlds.rewards
        out.scene[:, t + 1] = worlds.scene
        if watch is not None:
            watch(t, worlds)
    return out._replace(memories=tuple(game.memories))
