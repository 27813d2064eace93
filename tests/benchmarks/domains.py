"""What the suite adds to environments: batches through the adapter, and whole suites."""

from __future__ import annotations

import contextlib
import io
import itertools
import multiprocessing
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from multiprocessing.synchronize import Barrier
from pathlib import Path
from threading import BrokenBarrierError
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from sts.cli.main import main
from sts.continuations import continuation_store as continuations
from sts.continuations.run import run
from sts.continuations.takeover import group_by_shape
from sts.domains import load_domain
from sts.domains.adapter import EnvironmentDomain, EnvironmentWorlds
from sts.engine.replay import replay_worlds
from sts.episodes import Episode
from sts.errors import StsError
from sts.jobs.pool import Pool
from sts.storage.workspace import Workspace
from sts.suites import suite_store as store
from sts.suites.drafts import open_draft
from sts.suites.suite import Scenario, Suite
from sts_scenarios.rules.labels import label_suite
from tests.benchmarks import sizes
from tests.benchmarks.measure import Rows, alternating, exponent, seconds

WORKERS = 2
PATIENCE = 300.0
"""Seconds that one process waits for the others before a clock is started."""

Moves = NDArray[np.int8]
Kept = tuple[NDArray[np.int8], NDArray[np.uint16]]
"""What a batch keeps of T steps: rewards int8[T, B, P] and digests uint16[T, B, K]."""
Step = Callable[[], None]
"""Steps a bare environment through the moves that it was made with."""


def bare_live(world: Any, actions: Moves) -> Step:
    """Gymnasium's or minigrid's own environment; minigrid's observes in its `step`."""
    live = world.minigrid_env if world.name == "babyai" else world.live
    vars(live).pop("gen_obs", None)  # which `BabyAI` replaces
    row = actions[:, 0].tolist()

    def step() -> None:
        for move in row:
            live.step(move)

    return step


def bare_kitchen(world: Any, actions: Moves) -> Step:
    """The transitions of Overcooked's own game, by the rules of the package."""
    from overcooked_ai_py.mdp.overcooked_mdp import OvercookedGridworld, OvercookedState

    from sts_overcooked.kitchen import ACTIONS, build_state, load_game

    ours = load_game(world.grid, "2019")
    start = build_state(ours, world.visible_state())
    start.__class__ = OvercookedState
    grid, orders = [list(row) for row in world.grid], {"start_all_orders": ours.start_all_orders}
    game = OvercookedGridworld.from_grid(grid, orders)
    row = [tuple(ACTIONS[move] for move in both) for both in actions.tolist()]

    def step() -> None:
        state = start
        for both in row:
            state, _ = game.get_state_transition(state, both)

    return step


def step_all(steps: Sequence[Step]) -> None:
    for step in steps:
        step()


class Kind(NamedTuple):
    """How worlds of a domain are stepped: `steps` so few that none ends, and by which moves."""

    steps: int
    actions: Callable[[int, Sequence[Any]], Moves]
    bare: Callable[[Any, Moves], Step]


def upright(steps: int, worlds: Sequence[Any]) -> Moves:
    """Return pushes to the side to which each pole falls."""
    actions = np.empty((steps, len(worlds), 1), np.int8)
    for i, world in enumerate(worlds):
        for t in range(steps):
            place, speed, angle, fall = world.live.unwrapped.state
            actions[t, i] = 0.1 * place + 0.2 * speed + 3 * angle + fall > 0
            world.step(actions[t, i].tolist())
    return actions


def make_sampler(count: int) -> Callable[[int, Sequence[Any]], Moves]:
    """Return a function that draws from the first `count` actions."""

    def actions(steps: int, worlds: Sequence[Any]) -> Moves:
        shape = (steps, len(worlds), len(worlds[0].players))
        return np.random.default_rng(0).integers(count, size=shape, dtype=np.int8)

    return actions


KINDS = {
    "gymnasium:CartPole-v1": Kind(200, upright, bare_live),
    "gymnasium:minigrid:BabyAI-GoToLocal-v0": Kind(20, make_sampler(2), bare_live),  # turns
    "babyai": Kind(20, make_sampler(2), bare_live),
    "overcooked": Kind(50, make_sampler(6), bare_kitchen),
}


def adapted() -> Rows:
    """Steps a second of batches, and the share that they reach of each other way."""
    with multiprocessing.Manager() as manager, Pool(WORKERS) as pool:
        barrier = cast(Barrier, manager.Barrier(WORKERS + 1))
        for name in KINDS:
            with quiet():
                bare, step, own, *batches = rates(name, pool, barrier)
            for count, rate in zip((1, WORKERS), batches, strict=True):
                shares = [(one, f"{100 * rate / one:.0f}%") for one in (own, step, bare)]
                yield f"`{name}`", str(count), rate, *(value for both in shares for value in both)


def rates(name: str, pool: Pool, barrier: Barrier) -> list[float]:
    """Return steps a second, bare, by `step`, with digests, of a batch here and in workers."""
    kind, adapter = KINDS[name], cast(EnvironmentDomain, load_domain(name))
    states = adapter.generate(sizes.WORLDS, seed=0)

    def worlds() -> list[Any]:
        return [adapter.restore_environment(state) for state in states]

    def step(made: list[Any], digests: bool = False) -> None:
        for row in rows:
            for one, chosen in zip(made, row, strict=True):
                one.step(chosen)
                if digests:
                    one.digest()

    def ready() -> None:
        """Return once every process has a batch and waits, or has waited too long for another."""
        for _ in range(WORKERS):
            pool.submit(None, step_in_worker, barrier, name, states, actions)
        while barrier.n_waiting < WORKERS and not barrier.broken:
            time.sleep(0.01)

    def all_stepped(_: object = None) -> list[Kept]:
        with contextlib.suppress(BrokenBarrierError):  # a worker has failed, and reports why
            barrier.wait(PATIENCE)
        came = [kept for _, kept in pool.completed()]
        for one in came:
            if isinstance(one, StsError):
                raise one
        return came

    actions = kind.actions(kind.steps, worlds())
    rows = actions.tolist()
    batch = adapter.restore(states)
    expected = keep(batch, actions)
    assert not batch.ended.any()
    ready()
    for kept in all_stepped():
        for here, there in zip(expected, kept, strict=True):
            np.testing.assert_array_equal(here, there)
    taken = alternating(
        [
            (step_all, lambda: [kind.bare(one, actions[:, i]) for i, one in enumerate(worlds())]),
            (step, worlds),
            (lambda made: step(made, digests=True), worlds),
            (lambda made: keep(made, actions), lambda: adapter.restore(states)),
            (all_stepped, ready),
        ],
        runs=sizes.SLOW,
    )
    total = kind.steps * len(states)
    return [total * times / t for times, t in zip((1, 1, 1, 1, WORKERS), taken, strict=True)]


def keep(worlds: EnvironmentWorlds, actions: Moves) -> Kept:
    """Make the moves, and return what a recording keeps of them."""
    silent = np.zeros_like(actions[0])
    rewards, digests = [], []
    for row in actions:
        worlds.step(row, silent)
        rewards.append(worlds.rewards)
        digests.append(worlds.scene)
    return np.array(rewards), np.array(digests)


def step_in_worker(barrier: Barrier, name: str, states: Sequence[bytes], actions: Moves) -> Kept:
    """Step a batch in a worker, once all have theirs."""
    with quiet():
        worlds = cast(EnvironmentDomain, load_domain(name)).restore(states)
    barrier.wait(PATIENCE)
    return keep(worlds, actions)


@contextlib.contextmanager
def quiet() -> Iterator[io.StringIO]:
    """Yield what is printed meanwhile."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        yield out


class Mined(NamedTuple):
    """How 160 scenarios of a domain are made, which agents continue them, and the bare way."""

    recording: list[str]
    episodes: int
    per_category: int
    agents: tuple[str, str]
    bare: Callable[[Sequence[Scenario]], list[Step]]


def bare_batches(scenarios: Sequence[Scenario]) -> list[Step]:
    """The compiled worlds of Λ*, all of one shape and context length together."""
    steps: list[Step] = []
    by_length = sorted(scenarios, key=lambda s: s.context)
    lengths = itertools.groupby(by_length, key=lambda s: s.context)
    for group in itertools.chain.from_iterable(group_by_shape([*own]) for _, own in lengths):
        actions = np.stack([s.recording.actions[: s.context] for s in group], axis=1)
        worlds = cast(Any, load_domain("lambda-star")).restore([s.recording.state for s in group])

        def step(worlds: Any = worlds, actions: Moves = actions) -> None:
            for row in actions:
                worlds.step(row, np.zeros_like(row))

        steps.append(step)
    return steps


def bare_worlds(kind: Callable[[Any, Moves], Step], scenarios: Sequence[Scenario]) -> list[Step]:
    """One world after the other."""
    find = cast(Any, load_domain(scenarios[0].recording.domain)).restore_environment
    return [kind(find(s.recording.state), s.recording.actions[: s.context]) for s in scenarios]


LABELLED = ("core@3", "babyai@3")
STARS = "record --agent rule --agent random --agent local-search --steps 60 --episodes {} --team "
LEVELS = (
    "record --domain babyai --agent babyai-noisy-bot-60 --steps 30 --episodes {} "
    "--env-option level="
)
MINED = {
    "lambda-star": Mined(
        [f"{STARS}{team}" for team in (1, 3)], 200, 20, ("random", "rule"), bare_batches
    ),
    "babyai": Mined(
        [LEVELS + one for one in ("GoToLocal", "ActionObjDoor", "PutNextLocal", "PickupDist")],
        *(300, 50, ("random", "babyai-seeker"), partial(bare_worlds, bare_live)),
    ),
    "overcooked": Mined(
        ["trajectories import --format overcooked-2019"],
        *(0, 26, ("random", "overcooked-greedy"), partial(bare_worlds, bare_kitchen)),
    ),
}


def mined(name: str, folder: Path, count: int) -> tuple[Scenario, ...]:
    """Return `count` scenarios, of all categories, from recordings that are made for them."""
    one = MINED[name]
    lines = [line.format(max(20, one.episodes * count // 160)) for line in one.recording]
    lines.append(f"mine measured --per-category {max(2, one.per_category * count // 160)}")
    for line in lines:
        with quiet() as out:
            code = main([*line.split(), "--workspace", str(folder)])
        if code:
            raise StsError(f"sts {line} failed: {out.getvalue()}")
    draft = open_draft(Workspace.open(folder), "measured")
    return tuple(draft.scenarios(dict.fromkeys(draft.load_ids()[:count], "")))


def continued() -> Rows:
    """Each domain's agents, and the share of the bare environment's speed that they reach."""
    for name, kind in MINED.items():
        with tempfile.TemporaryDirectory() as folder:
            every = mined(name, Path(folder) / "mined", sizes.MINED)
            replayed = sum(s.context for s in every)
            taken = seconds(step_all, partial(kind.bare, every), runs=sizes.RUNS)
            bare = replayed / taken
            steps = sizes.MINED_TIMES * sum(s.context + s.horizon for s in every)
            for agent in kind.agents:
                run_one(Path(folder) / f"warm-{agent}", every[:2], agent, 2)
                begun = time.perf_counter()
                made = run_one(Path(folder) / agent, every, agent, sizes.MINED_TIMES)
                taken = time.perf_counter() - begun
                rate = steps / taken
                speeds = rate / 1e3, bare / 1e3, f"{100 * rate / bare:.0f}%"
                yield name, f"`{agent}`", str(made), taken, *speeds


def run_one(folder: Path, scenarios: Sequence[Scenario], agent: str, count: int) -> int:
    given: dict[str, Any] = {"count": count, "seed": 0, "workers": 1}
    done = run(Workspace.open(folder), scenarios, [agent], progress=lambda *_: None, **given)
    return done.new[agent]


def labelled() -> Rows:
    """Milliseconds of a continuation's label, and of its replay alone, by number of them."""
    for name in LABELLED:
        suite = store.load(Workspace.open("no-workspace-here"), name)
        few: tuple[int, float] | None = None
        for count in sizes.LABELLED_TIMES:
            with tempfile.TemporaryDirectory() as folder:
                total = run_one(Path(folder), suite.scenarios, "random", count)
                workspace = Workspace.open(folder)
                hashes = {scenario.hash for scenario in suite.scenarios}
                episodes = [c.episode for c in continuations.load(workspace, hashes)]
                ways = [(partial(relabel, workspace, suite),), (partial(replay_all, episodes),)]
                ours, bare = alternating(ways, runs=sizes.SLOW)
            grown = few and exponent(few[0], total, few[1], ours)
            few = few or (total, ours)
            yield name, str(total), *(1e3 * t / total for t in (ours, bare)), ours / bare, grown


def relabel(workspace: Workspace, suite: Suite) -> None:
    shutil.rmtree(workspace.path("labels"), ignore_errors=True)
    label_suite(workspace, suite)


def replay_all(episodes: Sequence[Episode]) -> None:
    for episode in episodes:
        for _ in replay_worlds([episode], ["a continuation"]):
            pass
