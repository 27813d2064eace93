"""Skill acquisition: learners are trained in curricula, and tested where they were not trained.

The source's terms rest on algorithmic complexity, which cannot be computed; `PROXIES` lists what is
computed instead. It says that generalisation difficulty is what training explains of the solution,
but its formula is what training leaves unexplained; the formula is followed.

Source: Chollet 2019, section II.2.1.
"""

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sts import agents, registry
from sts.domains.random import Random
from sts.engine import lockstep
from sts.engine.session import Session, Team, open_session
from sts.errors import ArgumentError, StsError
from sts.numerics.streams import stream, streams
from sts_analysis.measures.classes import LearningClass, load_class
from sts_analysis.measures.spans import Span

TESTS = 256  # environments of a test
RANDOM_PLAYS = 8  # of the random agent in each of them
EXPERIENCE = 2048  # episodes whose interactions are an experience of 1
DIFFICULTY_TESTS = 16  # environments of the test whose solutions are compared with training
PROXIES = (
    ("skill", "mean result", "mean reward in held-out environments; 0: random agent, 1: expert"),
    ("P_C", "probability of a curriculum", "share that reaches theta at a mark and the next"),
    ("E", "novel, relevant bits", f"interactions until theta / those of {EXPERIENCE} episodes"),
    ("P", "share of the solution known before", "skill before training / theta, from 0 to 1"),
    ("GD", "share that training leaves unexplained", "the same of Lempel-Ziv components (LZ76)"),
    ("aware GD", "the same, given the agent before", "GD * (1 - P)"),
    ("efficiency", "intelligence", "theta * mean of aware GD / (P + E), 0 below theta"),
)
"""Each term, its meaning in the source, and what is computed instead."""


class Curriculum:
    """Training environments in a fixed order, and a count of the interactions with them.

    Attributes:
      steps: the length of an episode.
      seed: for the random draws of a learner.
      environments: the number that was started.
    """

    def __init__(self, classes: LearningClass, key: Sequence[int]) -> None:
        self.steps, self.environments = classes.steps, 0
        self.seed = int(stream("curriculum", *key) >> np.uint64(32))
        self._domain, self._states = classes.domain, classes.draw_environments("train", key)
        self._sessions: list[tuple[Session, int]] = []

    @property
    def interactions(self) -> int:
        """The steps of all episodes so far."""
        return sum(session.steps * count for session, count in self._sessions)

    def start(self, count: int = 1) -> Session:
        """Start an episode in each of the next environments; the caller holds player 0."""
        if count < 1:
            raise ArgumentError(f"expected to start 1 episode or more, found {count}")
        states = list(itertools.islice(self._states, count))
        session = open_session(self._domain, self._domain.restore(states))
        self._sessions.append((session, count))
        self.environments += count
        return session


class Curve(NamedTuple):
    """The course of an agent in one curriculum, at the marks of `list_marks`."""

    skill: list[float]
    experience: list[float]
    environments: list[int]
    trained_on: str  # what its author declares


class Parts(NamedTuple):
    """The parts of an agent's efficiency; NaN if no curriculum reaches sufficient skill."""

    terms: list[float]  # of the curricula, whose mean is the efficiency
    share: float  # of the curricula that reach it
    environments: float  # until then, the median
    experience: float
    priors: float
    difficulty: float
    aware_difficulty: float


def load_learning_class(name: str) -> LearningClass:
    """Load a class by name; raise ArgumentError if agents cannot learn in it."""
    classes = load_class(name)
    if not isinstance(classes, LearningClass):
        raise ArgumentError(f"class {name} has no environments for training: choose another")
    return classes


def list_marks(episodes: int) -> list[int]:
    """Return the episodes of training after which an agent is tested: 0, 1, 2, 4, ..."""
    return sorted({0, episodes, *(2**k for k in range(episodes.bit_length()))})


def train(class_name: str, episodes: int, seed: int, span: Span) -> dict[str, Any]:
    """Train an agent in the curriculum of a span; return its `Curve` as lists of one entry.

    Raises:
      ArgumentError: the agent is not the one of this fingerprint, or does not fit the class.
      StsError: the agent failed, or played the same test differently.
    """
    agent = agents.load_planned(span.agent, span.fingerprint)
    classes, (low, high) = load_learning_class(class_name), _baselines(class_name, seed)
    curriculum = Curriculum(classes, (seed, span.first))
    learn: Callable[[Curriculum, int], Any] | None = getattr(agent, "train", None)
    reward = _test(agent, classes, seed, span.first)
    if _test(agent, classes, seed, span.first) != reward:
        raise StsError(
            f"agent {agent.name!r} plays a test differently again: is it learning there?"
        )
    curve = Curve([], [], [], str(getattr(agent, "trained_on", "")))
    for mark in list_marks(episodes):
        missing = mark * classes.steps - curriculum.interactions
        if learn and missing > 0:
            with registry.translate_errors(f"agent {agent.name!r} failed in training"):
                learn(curriculum, missing)
            reward = _test(agent, classes, seed, span.first)
        curve.skill.append((reward - low) / (high - low))
        curve.experience.append(curriculum.interactions / (EXPERIENCE * classes.steps))
        curve.environments.append(curriculum.environments)
    return {name: [value] for name, value in curve._asdict().items()}


def _test(
    agent: agents.Agent, classes: LearningClass, seed: int, run: int, plays: int = 1
) -> float:
    """Return the mean reward of an agent in the held-out environments."""
    states = [*itertools.islice(classes.draw_environments("test", (seed,)), TESTS)] * plays
    keys = [(run, index) for index in range(len(states))]
    team = Team(agent, (0,), streams(("skill", agent.name, seed), keys))
    domain, worlds = classes.domain, classes.domain.restore(states)
    rewards = lockstep.play_episodes(domain, worlds, [team], steps=classes.steps).rewards
    return float(rewards.mean()) * (1.0 if domain.reward_unit is None else domain.reward_unit)


@functools.lru_cache
def _baselines(class_name: str, seed: int) -> tuple[float, float]:
    """Return the mean rewards of the random agent and of the expert."""
    classes = load_learning_class(class_name)
    expert = _test(agents.load(classes.expert), classes, seed, 0)
    return _test(Random(), classes, seed, 0, RANDOM_PLAYS), expert


def measure_difficulty(class_name: str, seed: int, run: int, environments: int) -> float:
    """Return the generalisation difficulty after the first environments of a curriculum."""
    classes = load_learning_class(class_name)
    training = itertools.islice(classes.draw_environments("train", (seed, run)), environments)
    tests = itertools.islice(classes.draw_environments("test", (seed,)), DIFFICULTY_TESTS)
    return classes.difficulty([*training], [*tests]) if environments else 1.0


def find_sufficient(skill: Sequence[float], theta: float) -> int | None:
    """Return the first mark with sufficient skill, there and at the next mark if there is one."""
    enough = [value >= theta for value in skill]
    return next((m for m in range(len(skill)) if all(enough[m : m + 2])), None)


def assess(
    name: str, curves: Sequence[Curve], theta: float, difficulty: Callable[[int, int], float]
) -> Parts:
    """Return the parts of an agent's efficiency, by the `difficulty` after so many environments.

    Raises:
      ArgumentError: skill is sufficient in training without experience.
    """
    priors = float(np.clip(np.mean([curve.skill[0] for curve in curves]) / theta, 0, 1))
    terms, reached = [0.0] * len(curves), []
    for run, curve in enumerate(curves):
        if (m := find_sufficient(curve.skill, theta)) is not None:
            if m and not curve.experience[m]:
                raise ArgumentError(
                    f"agent {name!r} is skilled in training without an interaction (E = 0), so its "
                    "efficiency is undefined: train in episodes of the curriculum only"
                )
            unexplained = difficulty(run, curve.environments[m])
            if m:  # skill before training is not acquired
                terms[run] = theta * unexplained * (1 - priors) / (priors + curve.experience[m])
            reached.append((curve.environments[m], curve.experience[m], unexplained))
    columns = np.transpose(reached) if reached else np.full((3, 1), np.nan)
    experience, mean = columns[1:].mean(1).tolist()
    environments, share = float(np.median(columns[0])), len(reached) / len(curves)
    return Parts(terms, share, environments, experience, priors, mean, mean * (1 - priors))
