"""Guessing baseline: an agent that reads the instruction and ignores what it sees."""

import numpy as np

from sts.plugin import Agent, Draws, Instructions, Memory, PolicyOutput
from sts_lambda_star.agents import instruction_state
from sts_lambda_star.agents.instructions import Task, parse_instructions
from sts_lambda_star.domain import Observation
from sts_lambda_star.state import MOVES, TOKENS
from sts_lambda_star.torus import STAY

_GUESSES: tuple[tuple[Task, list[int]], ...] = (
    ("where-is-good", [TOKENS.index(move) for move in MOVES]),
    ("evil-in-sight", [TOKENS.index("yes"), TOKENS.index("no")]),
)


class Blind(Agent):
    """Agent that walks, stands still, guesses answers, or else moves at random, without seeing.

    Of an observation it uses only its own last move and token. Its guesses are uniform: Good is in
    each of the nine cells around it with equal probability, and Evil is in sight or not with equal
    probability. It says one word and then stays silent, and stands still on questions.

    Its pass rate shows how much of a scenario can be solved without observations. Its rules are
    this project's own.

    Source: the "no vision" baseline of Abramson et al. 2022, figure 3 and appendix A.1.
    """

    name = "blind"
    version = "1"
    domain = "lambda-star"

    def initial_state(self, batch: int, players: int) -> Memory:
        """Return the memory before the first step; see `instruction_state.initial_memory`."""
        return instruction_state.initial_memory(batch, players)

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the instructed move or equal weights, and a guess if a question is open."""
        tasks = parse_instructions(instructions)
        step, memory = instruction_state.continue_walk(tasks, observation, memory)
        must_answer, memory = instruction_state.find_open_questions(tasks, observation, memory)
        stands_still = tasks.is_task("stand-still", "where-is-good", "evil-in-sight")
        has_move = np.broadcast_to(tasks.is_task("walk") | stands_still, must_answer.shape)
        actions = np.ones((*must_answer.shape, len(MOVES)))
        actions[has_move] = np.eye(len(MOVES))[np.where(stands_still, STAY, step)[has_move]]
        utterances = np.zeros((*must_answer.shape, len(TOKENS)))
        for task, tokens in _GUESSES:
            utterances[..., tokens] += (must_answer & tasks.is_task(task))[..., None]
        utterances[..., 0] = ~must_answer
        return PolicyOutput(actions, utterances), memory
