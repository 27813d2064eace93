"""Playing B episodes in lock-step to their end: a session that is stepped, and what happened."""

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
    """What participants are made to do whatever their agents say.

    Attributes:
      moves: [B, T, P, ...].
      says: [B, T, P], tokens or texts.
      forced: bool[T, P], where the script holds.
    """

    moves: NDArray[Any]
    says: NDArray[Any]
    forced: NDArray[np.bool_]

    def at(self, step: int) -> tuple[Actions, NDArray[np.bool_]]:
        """Return what is done at a step, and bool[P] by whom; as `Session.step` takes them."""
        return Actions(self.moves[:, step], self.says[:, step]), self.forced[step]


class Played(NamedTuple):
    """What happened in B episodes of T steps.

    Attributes:
      moves: [B, T, P, ...], of the domain's actions.
      says: [B, T, P], tokens or texts.
      rewards: [B, T, P], int8 in the domain's unit or float64.
      scene: uint16[B, T + 1, K], row t is the scene before step t.
      log_probs: float32[B, T, P]; see `session.Step`.
      memories: what each team remembers after the last step.
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
    """Play `steps` steps and return what happened; `worlds` is then where the episodes ended.

    Teams and what they are told are as of `session.open`, whose errors and those of `Session.step`
    are raised. Forced participants' agents observe all the same. `watch` is called after each step
    with its number and the worlds, and may raise to stop.
    """
    begun = session.open(domain, worlds, teams, told=told)
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
        done = begun.step(*script.at(t)) if script is not None else begun.step()
        out.moves[:, t], out.says[:, t], out.log_probs[:, t] = done
        out.rewards[:, t] = worlds.rewards
        out.scene[:, t + 1] = worlds.scene
        if watch is not None:
            watch(t, worlds)
    return out._replace(memories=tuple(begun.memories))
