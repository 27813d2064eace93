"""Playing worlds the same way more than once, here and in a process that has never seen them."""

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
from sts.domains.registry import domain as find_domain
from sts.errors import StsError
from sts.jobs.pool import Died, Pool
from sts.numerics.streams import stream


class Broken(StsError):
    """A claim that does not hold, and where: the seed, the step, and how."""


class Moves(NamedTuple):
    """What is done and said in one world: [T, P, ...], of the domain's actions, and [T, P]."""

    moves: NDArray[Any]
    says: NDArray[Any]

    def after(self, step: int) -> Moves:
        """Return what is done from `step` on."""
        return Moves(self.moves[step:], self.says[step:])


class Played(NamedTuple):
    """What came of it: the scene and the rewards after each step, and the state at the end."""

    scene: NDArray[np.uint16]
    rewards: NDArray[Any]
    end: bytes

    def after(self, step: int) -> Played:
        """Return what came of it from `step` on."""
        return Played(self.scene[step:], self.rewards[step:], self.end)


class Elsewhere(NamedTuple):
    """What another process found of each point and each seed, or the line of its error."""

    played: list[Played | str]
    starts: list[bytes | str]


_TEXTS = ("", "yes", "Wait for me, I come.")
Between = Callable[[int, Worlds], None]


def play(
    domain: Domain,
    state: bytes,
    made: Moves,
    *,
    first: int = 0,
    between: Between | None = None,
    luck: int = 0,
) -> Played:
    """Return what comes of `made` in the world of `state`, which begins at step `first`.

    The scene is asked for once after each step, and nothing else before the end, so that two runs
    ask alike. `between` is called before each step with its number, from 0 on, and the world. The
    global random generators are set by `luck` plus the number of the step.
    """
    with settled(luck):
        worlds = domain.restore([state])
        scene, rewards = [], []
        for t, (moves, says) in enumerate(zip(*made, strict=True)):
            if between is not None:
                between(t, worlds)
            settle(luck + first + t)
            worlds.step(moves[None], says[None])
            scene.append(worlds.scene[0].copy())
            rewards.append(worlds.rewards[0].copy())
        return Played(np.array(scene), np.array(rewards), worlds.states()[0])


def compare(seed: int, first: int, wanted: Played, found: Played, when: str) -> None:
    """Raise Broken where two runs, which both begin before step `first`, differ."""
    for t in range(len(wanted.scene)):
        for what, a, b in (
            ("scene", wanted.scene[t], found.scene[t]),
            ("rewards", wanted.rewards[t], found.rewards[t]),
        ):
            if not np.array_equal(a, b):
                raise Broken(
                    f"seed {seed}, step {first + t}: {when} the {what} after it is "
                    f"{b.tolist()}, and was {a.tolist()}"
                )
    if wanted.end != found.end:
        last = first + len(wanted.scene)
        raise Broken(f"seed {seed}, step {last}: {when} the state at the end is another")


@contextlib.contextmanager
def settled(luck: int = 0) -> Iterator[None]:
    """Set the global random generators by `luck` inside, and puts them back."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    settle(luck)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002


class Point(NamedTuple):
    """A moment of a world, what is done from `step` on, and what came of it without a stop."""

    seed: int
    step: int
    state: bytes
    made: Moves
    played: Played


def settle(luck: int) -> None:
    """Set the global random generators."""
    random.seed(luck)
    np.random.seed(luck)  # noqa: NPY002


def generators() -> tuple[object, ...]:
    """Return where the global random generators stand; equal ones go on alike."""
    numpy = np.random.get_state(legacy=False)["state"]  # noqa: NPY002
    return random.getstate(), numpy["key"].tobytes(), numpy["pos"]


@dataclass
class Trial:
    """The worlds that a domain is tried on, and what came of one course of moves in each.

    Attributes:
      domain: what is tried.
      name: by which another process finds it.
      seeds: E, how many worlds.
      steps: T.
      settings: of its worlds.
      starts: the state that each world begins in.
      made: what is done in each.
      played: what came of it.
      middle: the step halfway.
      halfway: the state before it, of each world.
      fresh: what a fresh process found, once it was asked.
    """

    domain: Domain
    name: str
    seeds: int
    steps: int
    settings: dict[str, Any]
    starts: list[bytes] = field(default_factory=list)
    made: list[Moves] = field(default_factory=list)
    played: list[Played] = field(default_factory=list)
    halfway: list[bytes] = field(default_factory=list)
    fresh: Elsewhere | None = None

    @classmethod
    def of(cls, name: str, seeds: int, steps: int, settings: dict[str, Any]) -> Trial:
        """Return a trial of the domain called `name`."""
        return cls(find_domain(name), name, seeds, steps, settings)

    @property
    def middle(self) -> int:
        """The step at which states are taken on the way."""
        return self.steps // 2

    def start(self, seed: int, *, luck: int = 0) -> bytes:
        """Return a new world; `luck` sets the global random generators."""
        with settled(luck):
            (state,) = self.domain.generate(1, seed=seed, **self.settings)
        return state

    def play(self) -> None:
        """Make the worlds, once; play each of them without a look, and once more up to halfway."""
        if len(self.halfway) == self.seeds:
            return
        for kept in (self.starts, self.made, self.played, self.halfway):
            kept.clear()
        for seed in range(self.seeds):
            with at_seed(seed):
                state = self.start(seed)
                participants = self.domain.restore([state]).rewards.shape[1]
                made = course(self.domain, seed, self.steps, participants)
                self.starts.append(state)
                self.made.append(made)
                self.played.append(play(self.domain, state, made))
                before = Moves(made.moves[: self.middle], made.says[: self.middle])
                self.halfway.append(play(self.domain, state, before).end)

    def each(self) -> Iterator[tuple[int, bytes, Moves, Played]]:
        """Yield (seed, start, what is done, what came of it)."""
        yield from zip(range(self.seeds), self.starts, self.made, self.played, strict=True)

    def points(self) -> Iterator[Point]:
        """Yield the start and the middle of each world."""
        for seed, start, made, played in self.each():
            yield Point(seed, 0, start, made, played)
            half = self.middle
            yield Point(seed, half, self.halfway[seed], made.after(half), played.after(half))


def course(domain: Domain, seed: int, steps: int, participants: int) -> Moves:
    """Return moves and words at random, in which every move comes up early."""
    size = (steps, participants)
    generator = np.random.default_rng(int(stream("conformance", seed)))
    moves = action_space(domain).drawn(generator, size)
    says = generator.integers(len(domain.tokens) or len(_TEXTS), size=size, dtype=np.int8)
    if not domain.tokens:
        says = np.array(_TEXTS, TEXT)[says]
    for p in range(participants if domain.moves else 0):
        every = generator.permutation(len(domain.moves))[:steps]
        moves[: every.size, p] = every
    return Moves(moves, says)


def elsewhere(trial: Trial) -> Elsewhere:
    """Return what a fresh process makes of the trial's points and seeds; it is asked once.

    It hashes text otherwise than this one, even where PYTHONHASHSEED is set.
    """
    if trial.fresh is None:
        asked = trial.name, trial.seeds, trial.steps, trial.settings
        jobs = [(point.step, point.state, point.made) for point in trial.points()]
        os.environ["PYTHONHASHSEED"] = "random"
        try:
            with Pool(1, limited=True, method="spawn") as there:
                trial.fresh = Elsewhere(*there.ask(_work, asked, jobs))
        except Died as error:
            raise Broken(f"in a fresh process {error}") from None
    return trial.fresh


def _work(
    asked: tuple[str, int, int, dict[str, Any]], jobs: list[tuple[int, bytes, Moves]]
) -> Elsewhere:
    trial = Trial.of(*asked)
    return Elsewhere(
        [_tried(play, trial.domain, state, made, first=first) for first, state, made in jobs],
        [_tried(trial.start, seed) for seed in range(trial.seeds)],
    )


def _tried(make: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """Return what is made, or the line of an error."""
    try:
        return make(*given, **named)
    except StsError as error:
        return str(error)


Claim = tuple[str, Callable[[Trial], str | None]]
"""What is claimed, and what tries it: it returns None, or why it could not be tried."""


def claim(
    claims: dict[str, Claim], text: str
) -> Callable[[Callable[[Trial], str | None]], Callable[[Trial], str | None]]:
    """Return a decorator that adds a function to claims, under its own name."""

    def add(tried: Callable[[Trial], str | None]) -> Callable[[Trial], str | None]:
        claims[tried.__name__.strip("_").replace("_", "-")] = text, tried
        return tried

    return add


@contextlib.contextmanager
def at_seed(seed: int, when: str = "") -> Iterator[None]:
    """Have every error in a block name the seed, as one of a claim that does not hold."""
    try:
        yield
    except StsError as error:
        raise Broken(f"seed {seed}: {when}{error}") from error
    except Exception as error:  # a domain may be anybody's
        raise Broken(f"seed {seed}: {when}{type(error).__name__}: {error}") from error


def spread(count: int, most: int) -> Sequence[int]:
    """Return up to `most` numbers under `count`, evenly, the first and the last among them."""
    return sorted({round(i * (count - 1) / max(1, most - 1)) for i in range(most)})
