"""The readers: one agent and its switches, each of which takes one thing away."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Draws, Instructions, Memory
from sts.worlds.lambda_star.agents.readers import memory as memories
from sts.worlds.lambda_star.agents.readers.acting import expected, moves
from sts.worlds.lambda_star.agents.readers.answers import answers, guesses
from sts.worlds.lambda_star.agents.readers.foresight import Forecast
from sts.worlds.lambda_star.agents.readers.grammar import QUESTIONS
from sts.worlds.lambda_star.agents.readers.sight import look, narrowed
from sts.worlds.lambda_star.agents.readers.told import Told, told
from sts.worlds.lambda_star.agents.sets import weights
from sts.worlds.lambda_star.domain import Observation
from sts.worlds.lambda_star.state import MOVES, TOKENS


class Reader(Agent):
    """Does what it is told and answers what it is asked, by a small grammar over words.

    It remembers where it saw Good, Evil and another participant in the last 32 steps, and where a
    reward at the edge of its sight says that one stands just outside. It expects their moves to
    repeat with the shortest period that all of them agree with, seen for two rounds, or else that
    the last two rounds agree with, and plans four steps ahead; where it knows no period it reckons
    with what they did so far, as often as they did it. What it has lost it seeks where it should be
    by now, and then by sweeping the torus. It cannot tell other participants apart, and follows the
    one it saw last.

    To a question it says one word and then keeps silent, standing still meanwhile; where it does
    not know, it guesses. Without an instruction it seeks reward; on a text that it does not
    understand it stands still and says nothing.

    A baseline of this project's own.
    """

    name = "reader"
    version = "1"
    domain = "lambda-star"
    remembers: ClassVar[bool] = True
    near: ClassVar[bool] = False
    qualified: ClassVar[bool] = True
    noise: ClassVar[float] = 0.0

    def begin(self, batch: int, roles: int) -> Memory:
        """Return the memory of nothing seen, nothing told and nothing done."""
        return memories.begin(batch, roles)

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Return what the text asks for now."""
        seen = narrowed(observation) if self.near else observation
        text, shown = self._told(instructions), look(seen)
        before = memory if self.remembers else memories.forgotten(memory)
        kept = memories.remembered(before, seen, shown, text)
        known = expected(seen, kept)
        sets, lost = moves(self._heeded(text), seen, shown, kept, known)
        kept["searched"] = np.where(lost, kept["searched"] + 1, 0)
        owed = (text.asks(*QUESTIONS) & ~kept["spoke"])[..., None]
        reply = silence = np.eye(1, len(TOKENS))[0]
        if owed.any():
            reply = self._noisy(self._reply(text, seen, kept, known), guesses(text))
        move = self._noisy(weights(sets), np.ones((1, 1, len(MOVES))))
        return Choice(move, np.where(owed, reply, silence)), kept

    def _told(self, instructions: Instructions) -> Told:
        """Return what it makes of what it was told."""
        return told(instructions, self.qualified)

    def _heeded(self, text: Told) -> Told:
        """Return what it moves by, of what it was told."""
        return text

    def _reply(
        self, text: Told, seen: Observation, memory: Memory, known: Forecast
    ) -> NDArray[np.float64]:
        """Return weights float64[B, R or 1, 22] of what it says to the question."""
        return answers(text, seen, memory, known)

    def _noisy(
        self, chosen: NDArray[np.float64], every: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return weights that are, by the share of noise, those of `every`."""
        total = np.maximum(chosen.sum(-1, keepdims=True), 1e-300)
        even = every / np.maximum(every.sum(-1, keepdims=True), 1.0)
        out: NDArray[np.float64] = (1.0 - self.noise) * chosen / total + self.noise * even
        return out


class ReaderWithoutMemory(Reader):
    """Remembers nothing that it saw, and knows only what it sees now and what it did itself."""

    name = "reader-without-memory"
    remembers = False


class NearReader(Reader):
    """Sees its own cell and the four beside it, and no reward elsewhere.

    Of a wider sight of radius k it keeps what k steps along rows and columns reach.
    """

    name = "reader-near"
    near = True


class HalfReader(Reader):
    """Passes over words that say how, when or how often: directions, numbers, "not", "until"."""

    name = "reader-half"
    qualified = False


class NoisyReader30(Reader):
    """Three moves in ten are random ones, and three answers in ten are guesses."""

    name = "reader-noisy-30"
    noise = 0.3


class NoisyReader60(Reader):
    """Six moves in ten are random ones, and six answers in ten are guesses."""

    name = "reader-noisy-60"
    noise = 0.6
