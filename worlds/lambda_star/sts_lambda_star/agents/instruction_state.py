"""Agent memory for walking a given distance and for answering a question once.

Until the takeover an agent's actions are replaced by the recording, and it is not notified when
that stops. It detects it: while its last executed move differs from the intended one, its walk
restarts; and a question is open until the agent observes its own utterance.
"""

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Memory
from sts_lambda_star.agents.instructions import ParsedInstructions
from sts_lambda_star.domain import Observation
from sts_lambda_star.torus import STAY

_NO_MOVE = -2


def initial_memory(batch: int, players: int) -> Memory:
    """Return the initial memory of `continue_walk` and `find_open_questions`: [B, R] arrays.

    `meant` is the last intended move of a walk and `walked` the number of consecutive intended
    moves that were executed; `asked` and `answered` are True once a question was put and once the
    role has spoken since.
    """
    return {
        "meant": np.full((batch, players), _NO_MOVE, np.int64),
        "walked": np.zeros((batch, players), np.int64),
        "asked": np.zeros((batch, players), np.bool_),
        "answered": np.zeros((batch, players), np.bool_),
    }


def continue_walk(
    tasks: ParsedInstructions, seen: Observation, memory: Memory
) -> tuple[NDArray[np.int64], Memory]:
    """Return the next move of the instructed walk and the updated memory."""
    # last_move never equals _NO_MOVE, not even before the first step.
    led = memory["meant"] != seen.last_move
    walked = np.where(led, 0, memory["walked"] + 1)
    arrived = walked >= tasks.number[:, None]
    move = np.where(arrived, STAY, tasks.move[:, None])
    meant = np.where(tasks.is_task("walk"), move, _NO_MOVE)
    return move, memory | {"walked": walked, "meant": meant}


def find_open_questions(
    tasks: ParsedInstructions, seen: Observation, memory: Memory
) -> tuple[NDArray[np.bool_], Memory]:
    """Return bool[B, R], True for roles with an open question, and the updated memory."""
    asked = np.broadcast_to(
        tasks.is_task("where-is-good", "evil-in-sight"), memory["asked"].shape
    ).copy()
    spoke = memory["asked"] & (seen.last_said > 0)
    answered = asked & (memory["answered"] | spoke)
    return asked & ~answered, memory | {"asked": asked, "answered": answered}
