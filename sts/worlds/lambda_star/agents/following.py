"""What an agent must remember to walk as far as it was told and to answer once.

An agent is made to repeat the recording until takeover and is not told when that is. It notices:
while what it last did is not what it meant to do, it is being led, and its walk begins anew; and
until it has heard itself speak, its answer is still to be given.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Memory
from sts.worlds.lambda_star.agents.instructions import Readings
from sts.worlds.lambda_star.domain import Observation
from sts.worlds.lambda_star.torus import STAY

_NONE = -2


def begin(batch: int, roles: int) -> Memory:
    """Return the memory that `walk` and `unanswered` keep: [B, R] arrays.

    `meant` is the move meant last on a walk and `walked` how many in a row were then executed;
    `asked` and `answered` are whether a question was put and whether the role has spoken since.
    """
    return {
        "meant": np.full((batch, roles), _NONE, np.int64),
        "walked": np.zeros((batch, roles), np.int64),
        "asked": np.zeros((batch, roles), np.bool_),
        "answered": np.zeros((batch, roles), np.bool_),
    }


def walk(told: Readings, seen: Observation, memory: Memory) -> tuple[NDArray[np.int64], Memory]:
    """Return the next move of a walk, for where one is asked for, and the memory after it."""
    # _NONE is no value of last_move, not even of the one before the first step.
    led = memory["meant"] != seen.last_move
    walked = np.where(led, 0, memory["walked"] + 1)
    there = walked >= told.number[:, None]
    move = np.where(there, STAY, told.move[:, None])
    meant = np.where(told.asks("walk"), move, _NONE)
    return move, memory | {"walked": walked, "meant": meant}


def unanswered(
    told: Readings, seen: Observation, memory: Memory
) -> tuple[NDArray[np.bool_], Memory]:
    """Return bool[B, R], which roles owe an answer, and the memory after it."""
    asked = np.broadcast_to(
        told.asks("where-is-good", "evil-in-sight"), memory["asked"].shape
    ).copy()
    spoke = memory["asked"] & (seen.last_said > 0)
    answered = asked & (memory["answered"] | spoke)
    return asked & ~answered, memory | {"asked": asked, "answered": answered}
