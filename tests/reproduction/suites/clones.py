"""Two small trained agents, cloned from demonstrations of the reader on training worlds.

They had no say in what `core@3` holds. Each is a multinomial logistic regression on products of
what the player sees and the words of its instruction, so that it learns what to do on which word,
and has no memory. They differ in the number of demonstrations. Training takes seconds, and the same
demonstrations give the same weights on one machine.
"""

from __future__ import annotations

import functools
import re
import tempfile
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Draws, Instructions, Memory, PolicyOutput
from sts.engine.replay import replay_worlds
from sts.storage.workspace import Workspace
from sts.trajectories import trajectory_store as trajectories
from sts_lambda_star.domain import Observation
from sts_lambda_star.state import MOVES, TOKENS
from tests.reproduction.suites.building import carry_out

TEAMS = (1, 2, 3)
SEED, EPOCHS, BATCH, RATE = 17, 6, 256, 0.01
_WORD = re.compile(r"[a-z]+")
Floats = NDArray[np.float32]


class Clone(Agent):
    """A policy that is linear in what it sees times the words of its instruction."""

    domain = "lambda-star"
    version = "1"
    deterministic = False
    demonstrations: ClassVar[int]

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the moves and tokens of the trained policy; stand still without an instruction."""
        vocabulary, weights = train(self.demonstrations)
        words = np.stack([encode_words(text, vocabulary) for text in instructions.texts])
        seen = encode_sight(observation)
        batch, roles, width = seen.shape
        given = np.repeat(words[instructions.ids][:, None], roles, 1)
        scores = multiply(seen.reshape(-1, width), given.reshape(batch * roles, -1)) @ weights
        scores = scores.reshape(batch, roles, -1).astype(np.float64)
        moves, tokens = (softmax(part) for part in np.split(scores, [len(MOVES)], 2))
        idle = ~given.any(-1)
        moves[idle], tokens[idle] = np.eye(len(MOVES))[MOVES.index("stay")], np.eye(len(TOKENS))[0]
        return PolicyOutput(moves, tokens), memory


class Clone1000(Clone):
    """Clone of a thousand demonstrations for each team size."""

    name = "clone-1000"
    demonstrations = 1000


class Clone100(Clone):
    """Clone of a hundred demonstrations for each team size."""

    name = "clone-100"
    demonstrations = 100


def encode_sight(seen: Observation) -> Floats:
    """Return float32[B, R, F]: what is on each cell, the last move and token, and a constant."""
    people = seen.team.astype(np.int64) + seen.others > 0
    last = np.eye(len(MOVES) + 1, dtype=np.float32)[seen.last_move]
    said = (seen.last_said > 0)[..., None]
    one = np.ones((*seen.cell.shape, 1))
    parts = (seen.good, seen.evil, people, seen.reward / 2, last, said, one)
    return np.concatenate([np.asarray(part, np.float32) for part in parts], -1)


def encode_words(text: str, vocabulary: dict[str, int]) -> Floats:
    """Return float32[V]: which words of the vocabulary a text has."""
    out = np.zeros(len(vocabulary), np.float32)
    out[[vocabulary[w] for w in _WORD.findall(text.lower()) if w in vocabulary]] = 1
    return out


def multiply(seen: Floats, words: Floats) -> Floats:
    """Return float32[N, F * V], the products of two rows of features."""
    return (seen[:, :, None] * words[:, None]).reshape(len(seen), -1)


def softmax(scores: NDArray[Any]) -> NDArray[Any]:
    """Return probabilities along the last axis."""
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    out: NDArray[Any] = powers / powers.sum(-1, keepdims=True)
    return out


@functools.cache
def train(count: int) -> tuple[dict[str, int], Floats]:
    """Return the vocabulary and the weights after `count` demonstrations of each team size."""
    seen, texts, moves, tokens = demonstrate(count)
    vocabulary = {w: n for n, w in enumerate(sorted({w for t in texts for w in _WORD.findall(t)}))}
    distinct = {text: encode_words(text, vocabulary) for text in {*texts}}
    words = np.stack([distinct[text] for text in texts])
    goals = (
        np.eye(len(MOVES), dtype=np.float32)[moves],
        np.eye(len(TOKENS), dtype=np.float32)[tokens],
    )
    weights = np.zeros((seen.shape[1] * words.shape[1], len(MOVES) + len(TOKENS)), np.float32)
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    rng, steps = np.random.default_rng(SEED), 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(texts))
        for rows in np.array_split(order, max(1, len(order) // BATCH)):
            x, steps = multiply(seen[rows], words[rows]), steps + 1
            parts = np.split(x @ weights, [len(MOVES)], 1)
            errors = [softmax(p) - goal[rows] for p, goal in zip(parts, goals, strict=True)]
            slope = x.T @ np.concatenate(errors, 1) / len(rows)
            mean = 0.9 * mean + 0.1 * slope
            square = 0.999 * square + 0.001 * slope**2
            step = mean / (1 - 0.9**steps) / (np.sqrt(square / (1 - 0.999**steps)) + 1e-8)
            weights -= np.float32(RATE) * step  # Adam
    return vocabulary, weights


def demonstrate(count: int) -> tuple[Floats, list[str], list[int], list[int]]:
    """Return what the reader saw, was told, did and said at each step after an instruction."""
    seen, texts, moves, tokens = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for team in TEAMS:
            line = f"demonstrate --teacher reader --team {team} --episodes {count} --noise 0.1"
            carry_out(folder, [f"{line} --seed {SEED + team}".split()])
        for trajectory in trajectories.load(Workspace.open(folder)):
            (told,) = trajectory.instructions
            player, episode = told.player or 0, trajectory.episode
            assert trajectory.intended is not None
            worlds = replay_worlds([episode], [trajectory.id])
            for step, world in zip(range(episode.steps), worlds, strict=False):
                if step >= told.given_at:
                    view = world.observe([player], team=[player], world=False)
                    seen.append(encode_sight(view)[0, 0])
                    texts.append(told.text.lower())
                    moves.append(int(trajectory.intended[step, player]))
                    tokens.append(int(episode.utterances[step, player]))
    return np.stack(seen), texts, moves, tokens
