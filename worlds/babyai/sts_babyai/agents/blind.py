"""Agent that reads the mission but ignores its observations."""

from typing import Any, ClassVar

import numpy as np

from sts.plugin import Agent, Draws, Instructions, Memory, PolicyOutput
from sts_babyai.agents import missions
from sts_babyai.environment import MOVES

_WANDER = {"left": 1.0, "right": 1.0, "forward": 3.0}
_USEFUL = {"go-to": (), "open": ("toggle",), "pick-up": ("pickup",), "put-next": ("pickup", "drop")}


class Blind(Agent):
    """Agent that wanders about and tries the actions that the mission's verbs need."""

    name = "babyai-blind"
    version = "1"
    domain: ClassVar[str] = "babyai"

    def act(
        self, observation: Any, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return action probabilities that depend on the mission alone."""
        of_text = np.array([_move_weights(text) for text in instructions.texts])
        return PolicyOutput(of_text[instructions.ids][:, None]), memory


def _move_weights(mission: str) -> list[float]:
    """Return a weight for each action; useful ones share the weight of one forward move."""
    useful = {move for clause in missions.parse_clauses(mission) for move in _USEFUL[clause.kind]}
    return [_WANDER.get(move, 3.0 / len(useful) if move in useful else 0.0) for move in MOVES]
