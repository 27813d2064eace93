"""What a suite costs in each domain: steps a second of `sts run`, beside the bare environment's."""

from __future__ import annotations

import contextlib
import io
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from sts.cli.main import main
from sts.continuations.run import run
from sts.continuations.takeover import group_by_shape
from sts.domains import domain
from sts.errors import StsError
from sts.storage.workspace import Workspace
from sts.suites.drafts import open_draft
from sts.suites.types import Scenario
from tests.benchmarks.measure import Sizes, Table, seconds

SUITE = "measured"
Bare = tuple[Callable[[], Any], Callable[[Any], Any]]
"""What makes bare environments where scenarios begin, and what steps them through the contexts."""


class Domain(NamedTuple):
    """How scenarios of a domain are made, who continues them, and how it goes without the suite.

    Attributes:
      recording: command lines that record, given how many episodes.
      episodes: enough for 160 scenarios.
      per_category: of which `mine` makes 160 or a few more.
      agents: one that moves at random, and a scripted one.
      alone: the bare environment.
    """

    recording: Callable[[int], list[list[str]]]
    episodes: int
    per_category: int
    agents: tuple[str, str]
    alone: Callable[[Sequence[Scenario]], Bare]


def _lambda_star(episodes: int) -> list[list[str]]:
    players = ["--agent", "rule", "--agent", "random", "--agent", "local-search"]
    amount = ["--episodes", str(episodes), "--steps", "60"]
    return [["record", *players, *amount, "--team", team] for team in ("1", "3")]


def _babyai(episodes: int) -> list[list[str]]:
    amount = ["--agent", "babyai-noisy-bot-60", "--episodes", str(episodes), "--steps", "30"]
    levels = ("GoToLocal", "ActionObjDoor", "PutNextLocal", "PickupDist")
    return [["record", "--domain", "babyai", "--set", f"level={one}", *amount] for one in levels]


def _overcooked(episodes: int) -> list[list[str]]:
    return [["trajectories", "import", "--format", "overcooked-2019"]]


def _batches(scenarios: Sequence[Scenario]) -> Bare:
    """The compiled worlds of Λ*, all of one shape together."""
    groups = group_by_shape(scenarios)
    moves = [np.stack([s.recording.moves[: s.takeover] for s in one], axis=1) for one in groups]

    def prepare() -> Any:
        find = domain(scenarios[0].recording.domain)
        return [find.restore([s.recording.state for s in one]) for one in groups]

    def work(made: Any) -> None:
        for worlds, own in zip(made, moves, strict=True):
            for row in own:
                worlds.step(row, np.zeros_like(row))

    return prepare, work


def _restored(scenarios: Sequence[Scenario]) -> list[Any]:
    """Return the environment where each scenario begins."""
    find = cast(Any, domain(scenarios[0].recording.domain))
    return [find.environment(s.recording.state) for s in scenarios]


def _missions(scenarios: Sequence[Scenario]) -> Bare:
    """Minigrid's own environments."""
    moves = [s.recording.moves[: s.takeover, 0].tolist() for s in scenarios]

    def work(made: Any) -> None:
        for one, own in zip(made, moves, strict=True):
            for move in own:
                one.step(move)

    return lambda: [one.live for one in _restored(scenarios)], work


def _kitchens(scenarios: Sequence[Scenario]) -> Bare:
    """The transitions of the package's own game."""
    from sts.worlds.overcooked.kitchen import ACTIONS, build_state, load_game

    moves = [
        [tuple(ACTIONS[move] for move in both) for both in s.recording.moves[: s.takeover].tolist()]
        for s in scenarios
    ]

    def prepare() -> Any:
        worlds = _restored(scenarios)
        games = [load_game(world.grid, "2019") for world in worlds]
        return [
            (mdp, build_state(mdp, world.facts())) for mdp, world in zip(games, worlds, strict=True)
        ]

    def work(made: Any) -> None:
        for (mdp, state), own in zip(made, moves, strict=True):
            for both in own:
                state, _ = mdp.get_state_transition(state, both)

    return prepare, work


DOMAINS = {
    "lambda-star": Domain(_lambda_star, 200, 20, ("random", "rule"), _batches),
    "babyai": Domain(_babyai, 300, 50, ("random", "babyai-seeker"), _missions),
    "overcooked": Domain(_overcooked, 0, 26, ("random", "overcooked-greedy"), _kitchens),
}


def table(sizes: Sizes) -> Table:
    """Each domain's agents, and the share of the bare environment's speed that they reach."""
    rows = []
    for name, one in DOMAINS.items():
        with tempfile.TemporaryDirectory() as folder:
            scenarios = mined(one, Path(folder) / "mined", _half(sizes.scenarios))
            rows += [(name, *row) for row in _measured(one, scenarios, Path(folder), sizes)]
    return Table(
        "Every domain, continued",
        f"{_half(sizes.scenarios)} scenarios mined in each domain, {_half(sizes.continuations)} "
        "continuations of each by an agent that moves at random and by a scripted one, as `sts "
        "run` makes them in one process: restored, every step of the context replayed, shown to "
        "the agent and held to the recording, continued, written. Thousands of steps of the world "
        "a second, context and continuation alike, in one run after a small one. *Bare* is the "
        "environment alone, "
        "stepped through the same contexts: for Λ* its compiled batch, else `step` of minigrid's "
        "environment and the transition of Overcooked's game, one world after the other.",
        ("domain", "agent", "continuations", "seconds", "thousand steps/s", "bare", "of bare"),
        rows,
    )


def mined(one: Domain, folder: Path, count: int) -> tuple[Scenario, ...]:
    """Return `count` scenarios, of all categories, from recordings that are made for them."""
    episodes = max(20, one.episodes * count // 160)
    mine = ["mine", SUITE, "--per-category", str(max(2, one.per_category * count // 160))]
    for line in (*one.recording(episodes), mine):
        told = io.StringIO()
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
            code = main([*line, "--workspace", str(folder)])
        if code:
            raise StsError(f"sts {' '.join(line)} failed: {told.getvalue()}")
    draft = open_draft(Workspace.open(folder), SUITE)
    return tuple(draft.scenarios(dict.fromkeys(draft.ids()[:count], "")))


def _half(many: int) -> int:
    """Return half as many as a run of all agents has, for a step costs the same."""
    return (many + 1) // 2


def _measured(
    one: Domain, scenarios: tuple[Scenario, ...], folder: Path, sizes: Sizes
) -> list[tuple[Any, ...]]:
    prepare, work = one.alone(scenarios)
    replayed = sum(s.takeover for s in scenarios)
    bare = replayed / seconds(work, prepare, runs=sizes.runs)
    steps = _half(sizes.continuations) * sum(s.takeover + s.horizon for s in scenarios)
    rows = []
    for agent in one.agents:
        _run(folder / f"warm-{agent}", scenarios[:2], agent, 2)
        begun = time.perf_counter()
        made = _run(folder / agent, scenarios, agent, _half(sizes.continuations))
        taken = time.perf_counter() - begun
        rate = steps / taken
        rows.append(
            (f"`{agent}`", str(made), taken, rate / 1e3, bare / 1e3, f"{100 * rate / bare:.0f}%")
        )
    return rows


def _run(folder: Path, scenarios: Sequence[Scenario], agent: str, count: int) -> int:
    done = run(
        Workspace.open(folder),
        scenarios,
        [agent],
        count=count,
        seed=0,
        workers=1,
        progress=lambda done, total: None,
    )
    return done.made[agent]
