"""Agent-steps a second of the reactive behaviours."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sts import agents
from sts.agents import Agent, Choice
from sts.engine.lockstep import play
from sts.engine.session import Team
from sts.numerics.streams import stream
from sts.worlds.lambda_star.domain import Batch, LambdaStar
from sts.worlds.lambda_star.generation import environments, patterns
from sts.worlds.lambda_star.generation.environments import Environments
from sts.worlds.lambda_star.intelligence.score import PUBLISHED
from sts.worlds.lambda_star.play.practice import LEARNERS
from sts.worlds.lambda_star.state import State, scatter
from tests.benchmarks import rivals
from tests.benchmarks.measure import Sizes, Table, seconds

PEOPLE = (1, 5)
AIM = 3.0
REACTIVE = tuple(name for name in PUBLISHED if name not in LEARNERS)


Rates = dict[tuple[str, int], float]
Policies = dict[str, tuple[float, ...]]


class Greedy(Agent):
    """Local search as anybody would write it, in plain NumPy."""

    name: ClassVar[str] = "greedy"

    def act(
        self, observation: Any, instructions: Any, memory: Any, draws: Any
    ) -> tuple[Choice, dict[str, NDArray[Any]]]:
        best = observation.reward == observation.reward.max(-1, keepdims=True)
        return Choice(best.astype(np.float64)), memory


class Still(Agent):
    """Does nothing, so that a step costs what the engine and the world cost."""

    name: ClassVar[str] = "still"

    def act(
        self, observation: Any, instructions: Any, memory: Any, draws: Any
    ) -> tuple[Choice, dict[str, NDArray[Any]]]:
        return Choice(np.full(observation.cell.shape, rivals.STAY)), memory


@functools.cache
def made(people: int, count: int, sizes: Sizes) -> Environments:
    """Return the worlds that everything is measured on."""
    return environments.generate(settings(people, sizes), seed=1, start=0, stop=count)


def settings(people: int, sizes: Sizes) -> patterns.Settings:
    return patterns.Settings(participants=people, horizon=sizes.steps)


def states(people: int, count: int, sizes: Sizes) -> list[State]:
    """Return the same worlds one by one."""
    return scatter(made(people, count, sizes).arrays, settings(people, sizes).radius)


def streams(count: int) -> NDArray[np.uint64]:
    return np.array([stream("bench", i) for i in range(count)], np.uint64)


def stepwise(agent: Agent, worlds: Environments) -> Callable[[Batch], NDArray[np.int64]]:
    """Return a function that plays an agent by the general path, and return int64[B, P]."""
    people = tuple(range(worlds.settings.participants))
    team = Team(agent, people, streams(worlds.index.size))

    def played(batch: Batch) -> NDArray[np.int64]:
        played = play(LambdaStar(), batch, [team], steps=worlds.settings.horizon)
        return played.rewards.sum(1, np.int64)

    return played


def batch(worlds: Environments) -> Batch:
    return Batch.from_arrays(worlds.copy_arrays(), worlds.settings.radius)


def measured(sizes: Sizes) -> Rates:
    """Return the rates of every reactive behaviour, by its name and the team's size."""
    found = {}
    for people in PEOPLE:
        worlds = made(people, sizes.episodes, sizes)
        total = sizes.episodes * sizes.steps * people / 1e6
        for name in REACTIVE:
            work = stepwise(agents.load(name), worlds)
            took = seconds(work, partial(batch, worlds), runs=sizes.slow)
            found[name, people] = total / took
    return found


def reactive(rates: Rates, sizes: Sizes) -> Table:
    """Every reactive behaviour."""
    return Table(
        "Reactive behaviours",
        f"Millions of agent-steps a second on one core: {sizes.episodes} episodes of {sizes.steps} "
        "steps on a 10x10 grid, one agent in all of a world's 1 or 5 roles. They go step by step "
        "through the protocol, as every agent does, a user's too. A step of a world costs the same "
        "whoever is in it, so a larger team is quicker by the agent.",
        ("agent", "1 a world", "5 a world"),
        [(name, *(rates[name, people] for people in PEOPLE)) for name in REACTIVE],
    )


def numpy_policy(sizes: Sizes) -> Policies:
    """Return the general path's millions of agent-steps a second with policies in NumPy."""
    found = {}
    for policy in (Greedy(), Still()):
        row = []
        for people in PEOPLE:
            worlds = made(people, sizes.episodes, sizes)
            took = seconds(stepwise(policy, worlds), partial(batch, worlds), runs=sizes.runs)
            row.append(sizes.episodes * sizes.steps * people / 1e6 / took)
        found[policy.name] = tuple(row)
    return found


def general(found: Policies) -> Table:
    """The general path with a policy in plain NumPy."""
    return Table(
        "A policy in NumPy",
        "Millions of agent-steps a second on one core on the general path. The first policy is two "
        "lines of NumPy: equal weights on the best cells in sight. The second stays where it is, "
        "so what it costs is the path itself: showing what is seen, checking and recording what "
        "is answered, moving the world.",
        ("policy", "aim", "1 a world", "5 a world"),
        [
            ("weights on the best cells", AIM, *found["greedy"]),
            ("stay, as integers", None, *found["still"]),
        ],
    )


def compared(rates: Rates, sizes: Sizes) -> Table:
    """Ours against a plain NumPy batch and pure Python."""
    rows = []
    for name in rivals.NAMES:
        for people in PEOPLE:
            ours = rates[name, people]
            arrays, plain = _rivals(name, people, sizes)
            rows.append((f"{name}, {people}", ours, arrays, plain, ours / arrays, ours / plain))
    return Table(
        "Against plain NumPy and pure Python",
        "Millions of agent-steps a second on one core. The last two were written for this "
        "comparison, world and agent together, each as plainly as its language has it: NumPy plays "
        f"all {sizes.episodes} episodes at once, Python {sizes.few} of them one by one. They draw "
        "the same numbers and give the same rewards, which is checked first. One behaviour of each "
        "family: none, one that looks around, one that talks.",
        rivals.HEADER,
        rows,
    )


def _rivals(name: str, people: int, sizes: Sizes) -> tuple[float, float]:
    """Return millions of agent-steps a second of NumPy and of pure Python."""
    own, given = streams(sizes.episodes), states(people, sizes.episodes, sizes)
    worlds = made(people, sizes.episodes, sizes)
    expected = stepwise(agents.load(name), worlds)(batch(worlds))
    few = list(zip(given[: sizes.few], own[: sizes.few].tolist(), strict=True))

    def stacked(worlds: rivals.Stacked) -> NDArray[np.int64]:
        return rivals.with_numpy(name, worlds, own, sizes.steps)

    def plain(_: None) -> list[list[int]]:
        return [rivals.in_python(name, s, key, sizes.steps) for s, key in few]

    np.testing.assert_array_equal(stacked(rivals.Stacked(given)), expected)
    np.testing.assert_array_equal(plain(None), expected[: sizes.few])
    one = sizes.steps * people / 1e6
    return (
        one * sizes.episodes / seconds(stacked, lambda: rivals.Stacked(given), runs=sizes.slow),
        one * len(few) / seconds(plain, runs=sizes.slow),
    )
