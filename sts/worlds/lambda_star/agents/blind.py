"""The blind agent: it knows the instruction and sees nothing; any sight must beat it."""

from __future__ import annotations

import numpy as np

from sts.agents.protocol import Agent, Choice, Draws, Instructions, Memory
from sts.worlds.lambda_star.agents import following
from sts.worlds.lambda_star.agents.instructions import Task, readings
from sts.worlds.lambda_star.domain import Observation
from sts.worlds.lambda_star.state import MOVES, TOKENS
from sts.worlds.lambda_star.torus import STAY

_GUESSES: tuple[tuple[Task, list[int]], ...] = (
    ("where-is-good", [TOKENS.index(move) for move in MOVES]),
    ("evil-in-sight", [TOKENS.index("yes"), TOKENS.index("no")]),
)


class Blind(Agent):
    """Does what needs no eyes: walks, stands still, guesses answers, else moves at random.

    Of an observation it uses its own last move and word alone. Its guesses are spread evenly, as if
    Good were as likely in each of the nine cells around it, and Evil as likely in sight as not. It
    says one word and then keeps silent, and stands still while it owes an answer.

    What it achieves, a scenario gives away without being looked at. Its rules are this project's
    own.

    Source: the "no vision" baseline of Abramson et al. 2022, figure 3 and appendix A.1.
    """

    name = "blind"
    version = "1"
    domain = "lambda-star"

    def begin(self, batch: int, roles: int) -> Memory:
        """Return the memory of nothing asked and nothing done."""
        return following.begin(batch, roles)

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Return the told move or equal weights, and a guess where one is owed."""
        told = readings(instructions)
        step, memory = following.walk(told, observation, memory)
        owed, memory = following.unanswered(told, observation, memory)
        still = told.asks("stand-still", "where-is-good", "evil-in-sight")
        sure = np.broadcast_to(told.asks("walk") | still, owed.shape)
        moves = np.ones((*owed.shape, len(MOVES)))
        moves[sure] = np.eye(len(MOVES))[np.where(still, STAY, step)[sure]]
        says = np.zeros((*owed.shape, len(TOKENS)))
        for task, tokens in _GUESSES:
            says[..., tokens] += (owed & told.asks(task))[..., None]
        says[..., 0] = ~owed
        return Choice(moves, says), memory
