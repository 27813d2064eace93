"""Reader agent and its ablations, each of which removes one ability."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Agent, Draws, Instructions, Memory, PolicyOutput
from sts_lambda_star.agents.instructions import WORDINGS
from sts_lambda_star.agents.move_sets import to_weights
from sts_lambda_star.agents.readers import memory as memories
from sts_lambda_star.agents.readers.action_selection import choose_moves, forecast_things
from sts_lambda_star.agents.readers.answers import answer_weights, guess_weights
from sts_lambda_star.agents.readers.forecasts import Forecast
from sts_lambda_star.agents.readers.grammar import QUESTIONS, Question
from sts_lambda_star.agents.readers.intents import Intents, parse_instructions
from sts_lambda_star.agents.readers.sightings import find_things, hide_evil, narrow_view
from sts_lambda_star.agents.readers.vocabulary import QUALIFIERS
from sts_lambda_star.domain import Observation
from sts_lambda_star.state import MOVES, TOKENS


class Reader(Agent):
    """Agent that follows instructions and answers questions by a small grammar over words.

    It remembers where it saw Good, Evil and another player in the last 32 steps, and infers
    those just out of sight from rewards at the edge of its sight. It forecasts their moves by the
    shortest period that fits all of them, seen for two rounds, or else the last two rounds, and
    plans four steps ahead; without a period it uses the frequencies of their moves so far. It looks
    for a lost thing where it should be by now, and then by sweeping the torus. It cannot
    distinguish other players, and follows the one it saw last.

    It answers a question with one word, a guess if need be, then stays silent, and stands still
    meanwhile. Without an instruction it seeks reward; on a text that it does not understand it
    stands still and says nothing.

    A baseline of this project's own.
    """

    name = "reader"
    version = "1"
    domain = "lambda-star"
    wordings = WORDINGS
    remembers: ClassVar[bool] = True
    near: ClassVar[bool] = False
    sees_evil: ClassVar[bool] = True
    ignored: ClassVar[frozenset[str]] = frozenset()
    answered: ClassVar[tuple[Question, ...]] = QUESTIONS
    noise: ClassVar[float] = 0.0

    def initial_state(self, batch: int, players: int) -> Memory:
        """Return the memory before the first step; see `memory.initial_memory`."""
        return memories.initial_memory(batch, players)

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the moves and answers that the current instruction asks for."""
        seen = narrow_view(observation) if self.near else observation
        seen = seen if self.sees_evil else hide_evil(seen)
        text, sighting = parse_instructions(instructions, self.ignored), find_things(seen)
        before = memory if self.remembers else memories.forget_sightings(memory)
        new_memory = memories.update_memory(before, seen, sighting, text)
        forecast = forecast_things(seen, new_memory)
        sets, lost = choose_moves(
            self._movement_intents(text), seen, sighting, new_memory, forecast
        )
        new_memory["searched"] = np.where(lost, new_memory["searched"] + 1, 0)
        owed = (text.is_act(*self.answered) & ~new_memory["spoke"])[..., None]
        reply = silence = np.eye(1, len(TOKENS))[0]
        if owed.any():
            reply = self._add_noise(
                self._reply(text, seen, new_memory, forecast), guess_weights(text)
            )
        move = self._add_noise(to_weights(sets), np.ones((1, 1, len(MOVES))))
        return PolicyOutput(move, np.where(owed, reply, silence)), new_memory

    def _movement_intents(self, text: Intents) -> Intents:
        """Return the instructions by which the agent moves."""
        return text

    def _reply(
        self, text: Intents, seen: Observation, memory: Memory, known: Forecast
    ) -> NDArray[np.float64]:
        """Return float64[B, R or 1, 22], weights of the answers to the question."""
        return answer_weights(text, seen, memory, known)

    def _add_noise(
        self, weights: NDArray[np.float64], allowed: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Mix the chosen weights with those over all allowed actions, by the share of noise."""
        total = np.maximum(weights.sum(-1, keepdims=True), 1e-300)
        even = allowed / np.maximum(allowed.sum(-1, keepdims=True), 1.0)
        out: NDArray[np.float64] = (1.0 - self.noise) * weights / total + self.noise * even
        return out


class ReaderWithoutMemory(Reader):
    """Reader that knows only what it sees now and what it did itself."""

    name = "reader-without-memory"
    remembers = False


class NearReader(Reader):
    """Reader that sees only its own cell and the four adjacent ones, with their rewards.

    With a larger radius k it sees the cells within k steps along rows and columns.
    """

    name = "reader-near"
    near = True


class HalfReader(Reader):
    """Reader that ignores qualifying words: directions, numbers, "not", "until"."""

    name = "reader-half"
    ignored = QUALIFIERS


class ReaderWithoutEvil(Reader):
    """Reader that does not see Evil."""

    name = "reader-without-evil"
    sees_evil = False


class ReaderWithoutCounting(Reader):
    """Reader that ignores numbers in instructions and answers no question about a number."""

    name = "reader-without-counting"
    ignored = frozenset({"number"})
    answered = tuple(question for question in QUESTIONS if question not in ("count", "when"))


class ReaderWithoutAnswers(Reader):
    """Reader that answers no question."""

    name = "reader-without-answers"
    answered = ()


class ReaderWithoutNot(Reader):
    """Reader that ignores "not", "never", "no" and "without" in instructions."""

    name = "reader-without-not"
    ignored = frozenset({"not"})


class NoisyReader30(Reader):
    """Reader with 30% random moves and 30% guessed answers."""

    name = "reader-noisy-30"
    noise = 0.3


class NoisyReader60(Reader):
    """Reader with 60% random moves and 60% guessed answers."""

    name = "reader-noisy-60"
    noise = 0.6
