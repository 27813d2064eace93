"""The speed of agents and environments of Λ*, compared with plain NumPy and pure Python."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from sts import agents
from sts.agents import Agent, PolicyOutput
from sts.engine import sampling
from sts.engine.lockstep import Rollouts, play_episodes
from sts.engine.session import Session, Team
from sts.numerics.compiled import jit
from sts.numerics.draws import random_uniform
from sts.numerics.streams import stream
from sts_lambda_star import gym, rollout
from sts_lambda_star.domain import Batch, LambdaStar
from sts_lambda_star.generation import environments, patterns
from sts_lambda_star.generation.environments import Environments
from sts_lambda_star.intelligence.score import PUBLISHED_AGENTS, score_agents
from sts_lambda_star.kernels import WorldArrays
from sts_lambda_star.play import episodes, practice
from sts_lambda_star.play.practice import LEARNERS
from sts_lambda_star.play.teams import play_after_practice
from sts_lambda_star.state import State, arrays_to_states
from tests.benchmarks import rivals, sizes
from tests.benchmarks.measure import STS, Rows, alternating, clocks, cost, seconds

PEOPLE = (1, 5)
TEAM = PEOPLE[-1]
LEARNER_AIM, POLICY_AIM = 20.0, 3.0
"""Millions of training updates and of agent-steps a second."""
REACTIVE = tuple(name for name in PUBLISHED_AGENTS if name not in LEARNERS)
RIVALLED = "q-learning"
SCORED = ("random", "local-search", "stigmergy", "bidding")
# Of the current state a value, the highest one and a mark are read and written; of the next one
# the last two are read; and the reward is.
UPDATE_BYTES = 8 * (2 * 3 + 2) + 1.0
UPDATE = "finding the state's row, the best moves again where the best one got worse"
ELSEWHERE = """
class Greedy:
    name = "greedy"

    def initial_state(self, batch, players):
        return {}

    def act(self, observation, instructions, memory, draws):
        best = observation.reward == observation.reward.max(-1, keepdims=True)
        return best.astype(float), memory
"""


class Greedy(Agent):
    """Local search as anyone would write it, in plain NumPy."""

    name = "greedy"

    def act(self, observation: Any, instructions: Any, memory: Any, draws: Any) -> Any:
        best = observation.reward == observation.reward.max(-1, keepdims=True)
        return PolicyOutput(best.astype(np.float64)), memory


class Still(Agent):
    """Does nothing, so that a step costs what the engine and the world cost."""

    name = "still"

    def act(self, observation: Any, instructions: Any, memory: Any, draws: Any) -> Any:
        return PolicyOutput(np.full(observation.cell.shape, rivals.STAY)), memory


def settings(people: int) -> patterns.Settings:
    return patterns.Settings(n_players=people, horizon=sizes.STEPS)


@cache
def worlds(people: int, count: int) -> Environments:
    """Return the worlds that everything is measured on."""
    return environments.generate_environments(settings(people), seed=1, start=0, stop=count)


def states(people: int, count: int) -> list[State]:
    """Return the same worlds one by one."""
    return arrays_to_states(worlds(people, count).arrays, settings(people).radius)


def batch(made: Environments) -> Batch:
    return Batch(made.copy_arrays(), made.settings.radius)


def streams(count: int) -> NDArray[np.uint64]:
    return np.array([stream("bench", i) for i in range(count)], np.uint64)


def stepwise(agent: Agent, made: Environments) -> Callable[[Batch], Rollouts]:
    """Return what plays an agent in all roles step by step, through the protocol."""
    team = Team(agent, tuple(range(made.settings.n_players)), streams(made.index.size))
    return lambda started: play_episodes(LambdaStar(), started, [team], steps=made.settings.horizon)


def totals(played: Rollouts) -> NDArray[np.int64]:
    return played.rewards.sum(1, np.int64)


def play_rate(agent: Agent, people: int, runs: int) -> float:
    made = worlds(people, sizes.EPISODES)
    taken = seconds(stepwise(agent, made), partial(batch, made), runs=runs)
    return sizes.EPISODES * sizes.STEPS * people / 1e6 / taken


@cache
def reactive_rate(name: str, people: int) -> float:
    return play_rate(agents.load(name), people, sizes.SLOW)


@cache
def policy_rates(policy: type[Agent]) -> list[float]:
    return [play_rate(policy(), people, sizes.RUNS) for people in PEOPLE]


def practise(name: str, own: NDArray[np.uint64], rehearsals: int, threads: int = 1) -> Any:
    """Return what rehearses episodes, given their arrays, and returns int8[B, T, P] rewards."""
    given: dict[str, Any] = {"steps": sizes.STEPS, "rehearsals": rehearsals, "threads": threads}
    return lambda arrays: practice.play_learner(name, arrays, own, **given).rewards


@cache
def learner_rate(name: str, people: int) -> float:
    made, own = worlds(people, sizes.LEARNERS), streams(sizes.LEARNERS)
    work = practise(name, own, sizes.REHEARSALS)
    updates = sizes.LEARNERS * people * sizes.REHEARSALS * sizes.STEPS / 1e6
    return updates / seconds(work, made.copy_arrays, runs=sizes.RUNS)


def aims() -> Rows:
    """The slowest learner, and a policy in NumPy."""
    name = min(LEARNERS, key=lambda name: min(learner_rate(name, people) for people in PEOPLE))
    speeds = [learner_rate(name, people) for people in PEOPLE]
    yield f"`{name}`, training updates", LEARNER_AIM, *speeds
    yield "general path, a policy in NumPy", POLICY_AIM, *policy_rates(Greedy)


def reactive() -> Rows:
    return [(name, *(reactive_rate(name, people) for people in PEOPLE)) for name in REACTIVE]


def policies() -> Rows:
    yield "weights on the best cells", POLICY_AIM, *policy_rates(Greedy)
    yield "stay, as integers", None, *policy_rates(Still)


def elsewhere() -> Rows:
    """Microseconds of a step, played in this process and by another interpreter."""
    here = Greedy()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("greedy_elsewhere.py").write_text(ELSEWHERE)
        there = agents.load(f"{sys.executable}:greedy_elsewhere:Greedy")
        for count in (1, 10 * sizes.FEW, sizes.EPISODES):
            made = worlds(1, count)
            ways = [(stepwise(one, made), partial(batch, made)) for one in (here, there)]
            one, other = (work(prepare()) for work, prepare in ways)
            for own, same in zip(one[:-1], other[:-1], strict=True):
                np.testing.assert_array_equal(own, same)
            inside, outside = (1e6 * t / sizes.STEPS for t in alternating(ways, runs=sizes.RUNS))
            more = max(0.0, outside - inside)
            yield count, inside, outside, more, more / count


def learning() -> Rows:
    for name in LEARNERS:
        yield name, LEARNER_AIM, *(learner_rate(name, people) for people in PEOPLE)


def compared() -> Rows:
    """The same episodes by us, with NumPy and in pure Python; they must give the same rewards."""
    steps, few = sizes.STEPS, sizes.FEW
    for name, people in itertools.product(rivals.NAMES, PEOPLE):
        made, own = worlds(people, sizes.EPISODES), streams(sizes.EPISODES)
        given = states(people, sizes.EPISODES)
        arrays = partial(rivals.with_numpy, name, streams=own, steps=steps)
        stacked = partial(rivals.Stacked, given)
        plain = partial(map, partial(rivals.in_python, name, steps=steps), given, own.tolist())
        expected = totals(stepwise(agents.load(name), made)(batch(made)))
        np.testing.assert_array_equal(arrays(stacked()), expected)
        np.testing.assert_array_equal(first(few, plain), expected[:few])
        ours, one = reactive_rate(name, people), steps * people / 1e6
        numpy = one * sizes.EPISODES / seconds(arrays, stacked, runs=sizes.SLOW)
        python = one * few / seconds(partial(first, few, plain), runs=sizes.SLOW)
        yield f"{name}, {people}", ours, numpy, python, ours / numpy, ours / python


def first(count: int, results: Callable[[], Iterable[Any]]) -> list[Any]:
    return list(itertools.islice(results(), count))


def published() -> Rows:
    """Millions of agent-steps or training updates a second in compiled episodes, by behaviour.

    `PUBLISHED` may name a driver of the published program's classes. It plays the same worlds: see
    docs/benchmarks.md. The two take turns; the ratio is the median of pairs.
    """
    made = worlds(TEAM, sizes.EPISODES)
    with tempfile.TemporaryDirectory() as folder:
        write_worlds(Path(folder, "few"), worlds(TEAM, sizes.FEW))
        write_worlds(Path(folder, "all"), made)
        for name in PUBLISHED_AGENTS:
            count = sizes.FEW if name in LEARNERS else sizes.EPISODES
            passes = sizes.REHEARSALS if name in LEARNERS else 0
            amount = count * sizes.STEPS * TEAM * max(1, passes) / 1e6
            own, file = streams(count), Path(folder, "few" if passes else "all")
            total = practise(name, own, passes) if passes else partial(play, name, own)
            pairs = []
            for run in range(sizes.PAIRS + 1):
                arrays = worlds(TEAM, count).copy_arrays()
                begun = time.process_time()
                total(arrays)
                taken = time.process_time() - begun
                theirs = drive(file, name, passes)
                if run:
                    pairs.append((amount / taken, amount / theirs if theirs else math.nan))
            ours, other = np.median(pairs, axis=0)
            ratio = float(np.median([one / two for one, two in pairs]))
            measured = not math.isnan(ratio)
            yield (
                name,
                float(ours),
                *((float(other), ratio) if measured else ("not measured", None)),
            )


def play(name: str, own: NDArray[np.uint64], arrays: WorldArrays) -> NDArray[np.int64]:
    return episodes.play_reactive(agents.load(name), arrays, own, radius=1, steps=sizes.STEPS)


def write_worlds(path: Path, made: Environments) -> None:
    """Write worlds as the driver reads them, int32: four sizes, start cells, two paths of each."""
    paths = rollout("random", made)
    head = [made.index.size, sizes.STEPS, TEAM, made.settings.height]
    parts = (head, made.arrays.cells, paths.good, paths.evil)
    path.write_bytes(b"".join(np.asarray(part, np.int32).tobytes() for part in parts))


def drive(worlds: Path, behaviour: str, passes: int) -> float | None:
    """Return the CPU seconds that the driver prints for a behaviour; None without a driver."""
    if not (program := os.environ.get("PUBLISHED")):
        return None
    command = [program, str(worlds), behaviour, str(passes)]
    return float(
        subprocess.run(command, text=True, check=True, capture_output=True).stdout.split()[0]
    )


def tests_of_intelligence() -> Rows:
    """CPU seconds of the whole command, from call to exit, for environments of the program."""
    words = f"lambda-star score --patterns lambdastar-2016 --team {TEAM} --steps {sizes.STEPS}"
    for name in SCORED[:2]:
        for count in (1, sizes.MANY):
            call = f"{words} --agent {name} --episodes {count}".split()
            cost(STS, *call)  # compiles for those that count
            yield name, count, statistics.median(cost(STS, *call).cpu for _ in range(sizes.SLOW))


def learning_compared() -> Rows:
    """The same rehearsals four ways, which must give the same rewards."""
    count, amount = sizes.ABREAST, (sizes.STEPS, sizes.REPEATS)
    for people in PEOPLE:
        made, own, given = worlds(people, count), streams(count), states(people, count)
        team = Team(agents.load(RIVALLED), tuple(range(people)), own)
        practised: dict[str, Any] = {"steps": amount[0], "rehearsals": amount[1]}
        ways: list[tuple[int, Callable[[], Any]]] = [
            (count, partial(play_after_practice, partial(batch, made), [team], **practised)),
            (count, partial(rivals.learn_with_numpy, rivals.Stacked(given), own, *amount)),
            (1, partial(rivals.learn_in_python, given[0], int(own[0]), *amount)),
        ]
        expected = practise(RIVALLED, own, sizes.REPEATS)(made.copy_arrays()).sum(1, np.int64)
        for many, way in ways:
            result = way()
            result = (
                totals(result) if isinstance(result, Rollouts) else np.reshape(result, (many, -1))
            )
            np.testing.assert_array_equal(result, expected[:many])
        ours, one = learner_rate(RIVALLED, people), people * amount[0] * amount[1] / 1e6
        rates = [one * many / seconds(way, runs=sizes.SLOW) for many, way in ways]
        general, numpy, python = rates
        yield f"{RIVALLED}, {people}", ours, *rates, ours / numpy, general / numpy, ours / python


@jit
def _draws(count: int) -> float:
    total = 0.0
    for i in range(count):
        total += random_uniform(7, i)
    return total


@cache
def nanoseconds_a_draw() -> float:
    count = 500 * sizes.STEPS * sizes.EPISODES
    return 1e9 * seconds(partial(_draws, count), runs=sizes.RUNS) / count


@cache
def nanoseconds_a_byte() -> float:
    source = np.ones(500 * sizes.STEPS * sizes.EPISODES, np.int8)
    target = np.empty_like(source)
    return 1e9 * seconds(partial(np.copyto, target, source), runs=sizes.RUNS) / source.size


def limits() -> Rows:
    """How near each learner is to what its draws and bytes alone allow."""
    allowed = 1e3 / (nanoseconds_a_draw() + UPDATE_BYTES * nanoseconds_a_byte())
    for name in LEARNERS:
        rate = learner_rate(name, TEAM)
        yield name, 1.0, UPDATE_BYTES, allowed, rate, 100 * rate / allowed, UPDATE


PARTS: dict[str, tuple[Any, str]] = {
    "seeing": (Batch, "observe"),
    "deciding": (Session, "_call_agent"),
    "drawing": (sampling, "sample_output"),
    "log-probability": (sampling, "compute_log_probs"),
    "moving the world": (Batch, "step"),
}
"""The parts of a step; none calls another."""
PARTED = ("random", "local-search")


def gigahertz() -> float:
    """Return the rate of the processor's clock, as the system states it; NaN if it does not."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    rates = [float(line.partition(":")[2]) for line in lines if line.startswith("cpu MHz")]
    return max(rates, default=float("nan")) / 1e3


def parts_of_a_step() -> Rows:
    """Bytes, nanoseconds and cycles of each part of an agent-step."""
    made, everyone = worlds(TEAM, sizes.EPISODES), tuple(range(TEAM))
    players = sizes.EPISODES * TEAM
    for name in PARTED:
        work = stepwise(agents.load(name), made)
        work(batch(made))
        with clocks(PARTS, time.perf_counter) as spent:
            begun = batch(made)
            whole = -time.perf_counter()
            played = work(begun)
            whole += time.perf_counter()
        spent["recording and the rest"] = whole - sum(spent.values())
        spent["all"] = whole
        a, seen = begun.arrays, begun.observe(everyone, team=everyone, world=False)
        changing = (a.cells, a.objects, a.cursor, a.step, a.counter, a.actions, a.utterances)
        written = {
            "seeing": count_bytes(vars(seen).values()),
            "deciding": players * len(LambdaStar.action_names) * 8,
            "drawing": count_bytes([a.actions, a.utterances]),
            "log-probability": players * 8,
            "moving the world": count_bytes([*changing, a.rewards]),
            "recording and the rest": count_bytes(played[:-1]) / sizes.STEPS,
        }
        written["all"] = sum(written.values())
        for what, own in spent.items():
            each = 1e9 * own / (players * sizes.STEPS)
            size = written[what] / players
            least = size * nanoseconds_a_byte()
            yield name, what, size, least, each, each * gigahertz(), 100 * least / each


def count_bytes(arrays: Iterable[Any]) -> int:
    return sum(one.nbytes for one in arrays if one is not None)


def two_cores() -> Rows:
    """Seconds on one core and on two, whose results must be the same."""
    made, own = worlds(TEAM, sizes.LEARNERS), streams(sizes.LEARNERS)

    def scored(workers: int) -> Callable[[], Any]:
        given: dict[str, Any] = {"episodes": sizes.MANY, "seed": 1, "workers": workers}
        return lambda: [one.mean for one in score_agents(SCORED, settings(TEAM), **given).agents]

    learnt = f"{RIVALLED}, {sizes.LEARNERS} episodes rehearsed {sizes.REHEARSALS} times"
    rehearsed = partial(practise, RIVALLED, own, sizes.REHEARSALS)
    both = f"score of {len(SCORED)} agents, {sizes.MANY} episodes"
    for what, work, prepare, runs in (
        (learnt, rehearsed, [made.copy_arrays], sizes.RUNS),
        (both, scored, [], 1),
    ):
        one, other = (work(n)(*(make() for make in prepare)) for n in (1, 2))
        np.testing.assert_array_equal(one, other)
        one, two = (seconds(work(n), *prepare, runs=runs) for n in (1, 2))
        yield what, one, two, one / two


def memory() -> Rows:
    """Megabytes at the most, each number of episodes in a process of its own."""
    words = f"lambda-star score --team {TEAM} --steps {sizes.STEPS} --agent random"
    words += " --agent local-search --agent stigmergy --episodes"
    cost(STS, *words.split(), str(sizes.MEMORY[0]))  # compiles for those that count
    for count in sizes.MEMORY:
        yield count, cost(STS, *words.split(), str(count)).megabytes


def generation() -> Rows:
    """Thousands of worlds a second, all at once and one by one."""
    few = max(1, sizes.NEW // 10)
    for name, wanted in {
        "paper, 10x10, 50 steps": patterns.Settings(n_players=TEAM),
        "paper, 10x10, 50 steps, K = 10": patterns.Settings(n_players=TEAM, complexity=(10, 10)),
        "paper, 20x20, 100 steps": patterns.Settings(20, 20, TEAM, 100),
        "lambdastar-2016, 10x10": patterns.Settings(n_players=TEAM, patterns="lambdastar-2016"),
    }.items():
        together = partial(
            environments.generate_environments, wanted, seed=1, start=0, stop=sizes.NEW
        )

        def generate_separately(wanted: patterns.Settings = wanted) -> None:
            for i in range(few):
                arrays_to_states(patterns.generate_worlds(wanted, [(1, i)]), wanted.radius)

        taken = seconds(together, runs=sizes.RUNS), seconds(generate_separately, runs=sizes.RUNS)
        yield name, sizes.NEW / taken[0] / 1e3, few / taken[1] / 1e3


def rollouts() -> Rows:
    """Millions of agent-steps a second as other people's learners see them."""
    made = worlds(TEAM, sizes.EPISODES)
    total = sizes.EPISODES * sizes.STEPS * TEAM / 1e6
    for name, agent, more in (
        ("`rollout` of local-search", "local-search", {}),
        ("`rollout` of a policy in NumPy", Greedy(), {}),
        ("the same, what is seen kept too", Greedy(), {"observe": True}),
    ):
        yield name, total / seconds(partial(rollout, agent, made, **more), runs=sizes.RUNS)
    for name, given in (
        ("alone in its world", {"team": 1}),
        (f"with {TEAM - 1} of local-search", {"team": TEAM, "partner": "local-search"}),
    ):
        taken = seconds(gymnasium_steps(**given), runs=sizes.RUNS)
        yield f"Gymnasium, {name}", sizes.STEPS * sizes.NEW / taken / 1e6


def renewed() -> Rows:
    """Millions of steps a second of a vector of worlds, new ones or the same again."""
    ways = {"made at every episode": None, "each world comes round again": 1}
    work = [(gymnasium_steps(worlds=count),) for count in ways.values()]
    for name, taken in zip(ways, alternating(work, runs=sizes.RUNS), strict=True):
        yield name, sizes.STEPS * sizes.NEW / taken / 1e6


def gymnasium_steps(**given: Any) -> Callable[[], None]:
    """Return what takes every step of an episode in many worlds, and begins new ones."""
    vector: Any = gymnasium.make_vec(gym.ID, sizes.NEW, steps=sizes.STEPS, **given)
    actions = np.random.default_rng(0).integers(9, size=(sizes.STEPS + 1, sizes.NEW))
    vector.reset(seed=0)

    def work() -> None:
        for row in actions:
            vector.step(row)

    return work
