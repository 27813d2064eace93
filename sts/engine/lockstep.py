"""Rollouts: B episodes played in lockstep, each for its number of steps."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Memory
from sts.domains import Domain, Worlds, action_space, silent_utterances
from sts.engine import session
from sts.engine.session import Actions, Team
from sts.episodes import Instruction
from sts.errors import ArgumentError


class Script(NamedTuple):
    """Scripted actions, which override those of agents."""

    actions: NDArray[Any]  # [B, T, P, ...]
    utterances: NDArray[Any]  # [B, T, P], tokens or texts
    forced: NDArray[np.bool_]  # bool[T, P] or [B, T, P], True for what is scripted

    def actions_at(self, step: int, count: int) -> tuple[Actions, NDArray[np.bool_]]:
        """Return a step of the first `count` episodes, and the scripted players."""
        forced = self.forced[:count, step] if self.forced.ndim == 3 else self.forced[step]
        return Actions(self.actions[:count, step], self.utterances[:count, step]), forced


class Rollouts(NamedTuple):
    """Rollouts of B episodes of at most T steps; after its end, an episode has no-ops and zeros."""

    actions: NDArray[Any]  # [B, T, P, ...], of the domain's actions
    utterances: NDArray[Any]  # [B, T, P], tokens or texts
    rewards: NDArray[Any]  # [B, T, P], int8 in the domain's unit or float64
    scene: NDArray[np.uint16]  # uint16[B, T + 1, K], row t is the scene before step t
    log_probs: NDArray[np.float32]  # float32[B, T, P]; see `session.StepResult`
    # the state of each team after the last step, in the episodes that have T
    memories: tuple[Memory, ...] = ()


def play_episodes(
    domain: Domain,
    worlds: Worlds,
    teams: Sequence[Team],
    *,
    steps: int | NDArray[np.int64],
    script: Script | None = None,
    instructions: Sequence[Sequence[Instruction]] | None = None,
    watch: Callable[[int, Worlds], None] | None = None,
) -> Rollouts:
    """Play `steps` steps of B worlds, and return the rollouts.

    `steps` is a number, and the worlds are then stepped in place; or int64[B] in descending order,
    and each world is played for its own. `script` overrides the actions of agents, which still
    observe every step. `watch` is called after each step with its number and the worlds that were
    stepped; it may raise to stop. See `session.open_session` on the other arguments and errors.

    Raises:
      ArgumentError: `steps` do not descend.
    """
    game = session.open_session(domain, worlds, teams, instructions=instructions)
    if script is not None:
        session.check_actions(domain, Actions(script.actions, script.utterances))
    scene = worlds.scene
    batch, n_players = worlds.rewards.shape
    ends = np.broadcast_to(steps, batch)
    if (ends[1:] > ends[:-1]).any():
        raise ArgumentError("expected the numbers of steps in descending order")
    total = int(ends[0])
    size = (total, batch, n_players)  # steps first, which are written one after the other
    out = Rollouts(
        actions=action_space(domain).fill(size, domain.noop),
        utterances=silent_utterances(domain, size),
        rewards=np.zeros(size, worlds.rewards.dtype),
        scene=np.zeros((total + 1, batch, scene.shape[1]), np.uint16),
        log_probs=np.zeros(size, np.float32),
    )
    out.scene[0] = scene
    count = batch
    for t in range(total):
        if ends[count - 1] <= t:
            count = int((ends > t).sum())
            game.keep(count)
        done = game.step(*script.actions_at(t, count)) if script is not None else game.step()
        out.actions[t, :count], out.utterances[t, :count], out.log_probs[t, :count] = done
        out.rewards[t, :count] = game.worlds.rewards
        out.scene[t + 1, :count] = game.worlds.scene
        if watch is not None:
            watch(t, game.worlds)
    arrays = [np.ascontiguousarray(array.swapaxes(0, 1)) for array in out[:-1]]
    return Rollouts._make([*arrays, tuple(game.memories)])
