"""Scripts that were recorded for the packaged suites, in addition to the installed agents.

An agent that seeks reward and never errs is next to Good most of the time and rarely loses it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Draws, Instructions, Memory, PolicyOutput
from sts.domains import load_domain
from sts.domains.adapter import Observation as PlayerObservation
from sts_lambda_star import torus
from sts_lambda_star.agents.readers.reader import Reader
from sts_lambda_star.domain import Observation
from sts_lambda_star.state import MOVES

BABYAI_RANDOM = "tests.reproduction.suites.recorders:BabyAIRandom"

_HIDDEN = -1
_HESITATES, _TURNS, _MINDS_EVIL = 0.2, 0.2, 0.6
_INTEREST, _BOREDOM = (6, 20), (3, 9)
"""The fewest steps of each, and one more than the most."""
ERRANDS = (
    "Find Good again: be on it or next to it.",
    "Keep beside Good until the end: never on its cell, and never more than two cells away.",
    "Get onto Good's cell without ever being on Evil or next to it.",
    "Lie in wait for Good: have stood still for at least 3 steps when it comes onto your cell.",
    "Evade Evil until the end: never let it be on your cell or next to you.",
    "Shadow Evil: be on it or next to it for 4 steps in a row.",
    "Go to the cell on which Good was when you first saw it.",
    "Follow your team-mate: be on the same cell or next to it for 5 steps in a row.",
    "Be within two cells of Good and on a cell that no other participant is on.",
    "Get at least four cells away from Good.",
    "Walk five cells up and to the right.",
    "Walk five cells down.",
)
_ERRAND = 12
"""Steps of an errand."""


class PersonLike(Agent):
    """A script with the weaknesses of a person; it was not learned from any.

    It hesitates and keeps its direction. What it sees it acts on a step later, so that it goes too
    far where something turns. It goes after Good, loses interest after a while and wanders off, and
    minds Evil more often than not.

    In teams of two on 10x10 it has lost Good two to five steps ago, and is more than two cells away
    from it, at .067 of all steps; a random agent is so at .087, local search at .005.
    """

    name = "person-like-script"
    version = "1"
    domain = "lambda-star"
    draws = 4

    def initial_state(self, batch: int, players: int) -> Memory:
        shape = (batch, players)
        return {
            "good": np.full(shape, _HIDDEN, np.int64),
            "evil": np.full(shape, _HIDDEN, np.int64),
            "way": np.full(shape, torus.STAY, np.int64),
            "mood": np.zeros(shape, np.int64),
        }

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        size = observation.height[:, None], observation.width[:, None]
        hesitating, turning, minding, taste = np.moveaxis(draws, -1, 0)
        good, evil = memory["good"], memory["evil"]
        mood = _mood(memory["mood"], good != _HIDDEN, taste)
        lost = np.minimum((taste * len(MOVES)).astype(np.int64), len(MOVES) - 1)
        way = np.where(turning < _TURNS, lost, memory["way"])
        to_good = torus.first_move(observation.cell, np.maximum(good, 0), *size)
        from_evil = len(MOVES) - 1 - torus.first_move(observation.cell, np.maximum(evil, 0), *size)
        way = np.where((good != _HIDDEN) & (mood > 0), to_good, way)
        way = np.where((evil != _HIDDEN) & (minding < _MINDS_EVIL), from_evil, way)
        move = np.where(hesitating < _HESITATES, torus.STAY, way)
        cells = observation.surroundings
        return PolicyOutput(np.eye(len(MOVES))[move]), {
            "good": np.where(observation.good, cells, _HIDDEN).max(-1),
            "evil": np.where(observation.evil, cells, _HIDDEN).max(-1),
            "way": way,
            "mood": mood,
        }


def _mood(mood: NDArray[np.int64], sees: NDArray[np.bool_], taste: NDArray[np.float64]) -> Any:
    """Return for how many steps more it is interested, above 0, or bored, below.

    At 0 it is neither, until it sees Good.
    """
    length = [low + (taste * (high - low)).astype(np.int64) for low, high in (_INTEREST, _BOREDOM)]
    fresh = np.where((mood == 0) & sees, length[0], mood)
    return np.select([fresh == 1, fresh > 1, fresh < 0], [-length[1], fresh - 1, fresh + 1], fresh)


class Instructed(Reader):
    """The reader, sent on one of `ERRANDS` after the other, so that it does not seek reward."""

    name = "instructed-reader"
    draws = 1

    def initial_state(self, batch: int, players: int) -> Memory:
        return {**super().initial_state(batch, players), "errand": np.zeros(batch, np.int32)}

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        new = 1 + (draws[:, 0, 0] * len(ERRANDS)).astype(np.int32)
        errand = np.where(observation.step % _ERRAND == 0, new, memory["errand"])
        sent = Instructions(("", *ERRANDS), errand)
        choice, kept = super().act(observation, sent, memory, draws)
        return choice, {**kept, "errand": errand}


class BabyAIRandom(Agent):
    """Makes every move of BabyAI equally often, with the draws of its name.

    It recorded worlds of `babyai@2` under this name, from which its draws follow.
    """

    name, domain = "babyai-random", "babyai"

    def act(
        self,
        observation: PlayerObservation,
        instructions: Instructions,
        memory: Memory,
        draws: Draws,
    ) -> tuple[PolicyOutput, Memory]:
        shape = observation.last_move.shape
        return PolicyOutput(np.ones((*shape, len(load_domain(self.domain).action_names)))), memory
