"""Repeated runs of the same worlds and actions, in this process and in a fresh one."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.domains.actions import TEXT, action_space
from sts.domains.protocol import Domain, Worlds
from sts.domains.registry import load_domain
from sts.errors import StsError
from sts.jobs.pool import Pool, WorkerDied
from sts.numerics.streams import stream


class ClaimViolated(StsError):
    """A claim that does not hold; the message has the seed, the step and the difference."""


class ActionSequence(NamedTuple):
    """The actions, [T, P, ...], and utterances, [T, P], in one world."""

    actions: NDArray[Any]
    utterances: NDArray[Any]

    def from_step(self, step: int) -> ActionSequence:
        """Return the actions from `step` on."""
        return ActionSequence(self.actions[step:], self.utterances[step:])


class Outcome(NamedTuple):
    """The outcome of a run: the scene and rewards after each step, and the final state."""

    scene: NDArray[np.uint16]
    rewards: NDArray[Any]
    end: bytes

    def from_step(self, step: int) -> Outcome:
        """Return the outcome from `step` on."""
        return Outcome(self.scene[step:], self.rewards[step:], self.end)


class FreshResults(NamedTuple):
    """The outcomes of all points and the states of all seeds in a fresh process, or errors."""

    played: list[Outcome | str]
    starts: list[bytes | str]


_TEXTS = ("", "yes", "Wait for me, I come.")
BeforeStep = Callable[[int, Worlds], None]


def play(
    domain: Domain,
    state: bytes,
    sequence: ActionSequence,
    *,
    first: int = 0,
    between: BeforeStep | None = None,
    luck: int = 0,
) -> Outcome:
    """Take the actions `sequence` in the world `state`, and return the outcome.

    The scene and rewards are read once after each step, and the state only at the end, so that all
    runs make the same calls. `between` is called before each step with its index, from 0 on, and
    the worlds. The global random generators are seeded with `luck` plus the number of the step, of
    which the first is `first`.
    """
    with fixed_global_seed(luck):
        worlds = domain.restore([state])
        scene, rewards = [], []
        for t, (actions, utterances) in enumerate(zip(*sequence, strict=True)):
            if between is not None:
                between(t, worlds)
            seed_global_generators(luck + first + t)
            worlds.step(actions[None], utterances[None])
            scene.append(worlds.scene[0].copy())
            rewards.append(worlds.rewards[0].copy())
        return Outcome(np.array(scene), np.array(rewards), worlds.states()[0])


def compare(seed: int, first_step: int, expected: Outcome, actual: Outcome, when: str) -> None:
    """Raise ClaimViolated if two runs that start before step `first_step` differ."""
    for t in range(len(expected.scene)):
        for noun, a, b in (
            ("scene", expected.scene[t], actual.scene[t]),
            ("rewards", expected.rewards[t], actual.rewards[t]),
        ):
            if not np.array_equal(a, b):
                raise ClaimViolated(
                    f"seed {seed}, step {first_step + t}: {when} the {noun} differs: expected "
                    f"{a.tolist()}, found {b.tolist()}"
                )
    if expected.end != actual.end:
        last = first_step + len(expected.scene)
        raise ClaimViolated(f"seed {seed}, step {last}: {when} the final state differs")


@contextlib.contextmanager
def fixed_global_seed(luck: int = 0) -> Iterator[None]:
    """Seed the global random generators within the context, and restore them afterwards."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    seed_global_generators(luck)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002


class Point(NamedTuple):
    """A state in the course of a run, with the actions and the outcome from `step` on."""

    seed: int
    step: int
    state: bytes
    sequence: ActionSequence
    played: Outcome


def seed_global_generators(luck: int) -> None:
    """Seed the global random generators."""
    random.seed(luck)
    np.random.seed(luck)  # noqa: NPY002


def global_generator_state() -> tuple[object, ...]:
    """Return the states of the global random generators."""
    numpy = np.random.get_state(legacy=False)["state"]  # noqa: NPY002
    return random.getstate(), numpy["key"].tobytes(), numpy["pos"]


@dataclass
class ConformanceRun:
    """The worlds on which a domain is tested, and the outcome of random actions in each."""

    domain: Domain  # under test
    name: str  # with which another process loads it
    seeds: int  # E, the number of worlds
    steps: int  # T
    settings: dict[str, Any]  # passed to `generate`
    starts: list[bytes] = field(default_factory=list)  # the initial state of each world
    sequences: list[ActionSequence] = field(default_factory=list)  # the actions in each
    played: list[Outcome] = field(default_factory=list)  # their outcomes
    halfway: list[bytes] = field(default_factory=list)  # the state of each world at step `middle`
    fresh_results: FreshResults | None = None  # the results of a fresh process, once computed

    @property
    def middle(self) -> int:
        """The step halfway."""
        return self.steps // 2

    def generate_world(self, seed: int, *, luck: int = 0) -> bytes:
        """Generate a world; `luck` seeds the global random generators."""
        with fixed_global_seed(luck):
            (state,) = self.domain.generate(1, seed=seed, **self.settings)
        return state

    def play_all(self) -> None:
        """Generate the worlds, unless done; play each to the end, and again up to halfway."""
        if len(self.halfway) == self.seeds:
            return
        for results in (self.starts, self.sequences, self.played, self.halfway):
            results.clear()
        for seed in range(self.seeds):
            with name_seed_in_errors(seed):
                state = self.generate_world(seed)
                n_players = self.domain.restore([state]).rewards.shape[1]
                sequence = random_actions(self.domain, seed, self.steps, n_players)
                self.starts.append(state)
                self.sequences.append(sequence)
                self.played.append(play(self.domain, state, sequence))
                before = ActionSequence(
                    sequence.actions[: self.middle], sequence.utterances[: self.middle]
                )
                self.halfway.append(play(self.domain, state, before).end)

    def iterate_worlds(self) -> Iterator[tuple[int, bytes, ActionSequence, Outcome]]:
        """Yield (seed, initial state, actions, outcome) of each world."""
        yield from zip(range(self.seeds), self.starts, self.sequences, self.played, strict=True)

    def iterate_points(self) -> Iterator[Point]:
        """Yield the start and the middle of each world."""
        half = self.middle
        for seed, start, sequence, played in self.iterate_worlds():
            yield Point(seed, 0, start, sequence, played)
            later = sequence.from_step(half), played.from_step(half)
            yield Point(seed, half, self.halfway[seed], *later)


def random_actions(domain: Domain, seed: int, steps: int, n_players: int) -> ActionSequence:
    """Return random actions and utterances, in which each player takes every named move early."""
    size = (steps, n_players)
    generator = np.random.default_rng(int(stream("conformance", seed)))
    actions = action_space(domain).sample(generator, size)
    utterances = generator.integers(len(domain.tokens) or len(_TEXTS), size=size, dtype=np.int8)
    if not domain.tokens:
        utterances = np.array(_TEXTS, TEXT)[utterances]
    for p in range(n_players if domain.action_names else 0):
        order = generator.permutation(len(domain.action_names))[:steps]
        actions[: order.size, p] = order
    return ActionSequence(actions, utterances)


def run_in_fresh_process(trial: ConformanceRun) -> FreshResults:
    """Run the trial's points and seeds in a fresh process, with other hashes of text; cached."""
    if trial.fresh_results is None:
        arguments = trial.name, trial.seeds, trial.steps, trial.settings
        jobs = [(point.step, point.state, point.sequence) for point in trial.iterate_points()]
        os.environ["PYTHONHASHSEED"] = "random"
        try:
            with Pool(1, limited=True, method="spawn") as pool:
                trial.fresh_results = FreshResults(*pool.run_task(_play_points, arguments, jobs))
        except WorkerDied as error:
            raise ClaimViolated(f"in a fresh process {error}") from None
    return trial.fresh_results


def _play_points(
    arguments: tuple[str, int, int, dict[str, Any]], jobs: list[tuple[int, bytes, ActionSequence]]
) -> FreshResults:
    trial = ConformanceRun(load_domain(arguments[0]), *arguments)
    return FreshResults(
        [
            _result_or_error(play, trial.domain, state, sequence, first=first)
            for first, state, sequence in jobs
        ],
        [_result_or_error(trial.generate_world, seed) for seed in range(trial.seeds)],
    )


def _result_or_error(make: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Return the result of a call, or the message of its StsError."""
    try:
        return make(*args, **named)
    except StsError as error:
        return str(error)


ClaimTest = Callable[[ConformanceRun], str | None]
"""The test of a claim, which returns None, or the reason if it was not tested."""
Claim = tuple[str, ClaimTest]
"""The text of a claim, and its test."""


def register_claim(
    claims: dict[str, Claim], name: str, text: str
) -> Callable[[ClaimTest], ClaimTest]:
    """Return a decorator that adds a test to `claims`."""

    def add(test: ClaimTest) -> ClaimTest:
        claims[name] = text, test
        return test

    return add


@contextlib.contextmanager
def name_seed_in_errors(seed: int, when: str = "") -> Iterator[None]:
    """Wrap errors in a block as ClaimViolated errors that name the seed."""
    try:
        yield
    except Exception as error:  # also of third-party code
        kind = "" if isinstance(error, StsError) else f"{type(error).__name__}: "
        raise ClaimViolated(f"seed {seed}: {when}{kind}{error}") from error


def evenly_spaced(count: int, most: int) -> Sequence[int]:
    """Return up to `most` evenly spaced integers from 0 to `count` - 1, including both."""
    return sorted({round(i * (count - 1) / max(1, most - 1)) for i in range(most)})
