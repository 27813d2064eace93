"""The intelligence score: mean reward per participant and step over many environments.

Every agent meets the same environments, so differences are paired by episode. The test behind the
score is Chmait et al. 2016, section 4.4: definition 2 for an episode, definition 3 over episodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts import agents, columns
from sts.draws import stream
from sts.errors import ArgumentError
from sts.files import canonical_json
from sts.lambda_star import fused, patterns
from sts.lambda_star.domain import Batch, LambdaStar
from sts.lockstep import Team, play
from sts.workers import pool
from sts.workspace import Workspace

BATCH = 250
MOST = 10_000_000
METRIC = "lambda-star"


class Mean(NamedTuple):
    """An agent's score; the standard error, over episodes, is None for a single one."""

    agent: str
    sees: str
    mean: float
    standard_error: float | None
    episodes: int


class Difference(NamedTuple):
    """How much more `a` scores than `b` on the same environments."""

    a: str
    b: str
    difference: float
    standard_error: float | None


class Scores(NamedTuple):
    """What was measured, and under which settings (JSON values)."""

    agents: tuple[Mean, ...]
    differences: tuple[Difference, ...]
    settings: dict[str, Any]


def score(
    names: Sequence[str],
    settings: patterns.Settings,
    *,
    episodes: int,
    seed: int,
    workers: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Scores:
    """Returns the agents' scores; the same for the same seed, whatever the workers.

    Args:
      names: agents by name or `module:Class`; each plays every participant.
      settings: what the environments are made to.
      episodes: how many environments, at least 1.
      seed: names the environments and the agents' streams.
      workers: processes; 1 works in this one.
      progress: called with (episodes played, in all).

    Raises:
      ArgumentError: nothing to do, an agent twice, or settings that cannot be met.
      UnknownName: an agent that is not installed.
    """
    if episodes < 1 or workers < 1:
        raise ArgumentError(f"expected 1 or more, found {episodes} episodes, {workers} workers")
    if episodes > MOST:
        raise ArgumentError(f"expected at most {MOST} episodes, found {episodes}")
    players = [agents.load(name) for name in names]
    called = [player.name for player in players]
    if len(set(called)) < len(called):
        raise ArgumentError(f"an agent is named twice: {', '.join(called)}")
    patterns.check(settings)
    low, high = patterns.drawn_range(settings)
    rewards = np.concatenate(list(_rewards(names, settings, episodes, seed, workers, progress)), 1)
    means = tuple(
        Mean(player.name, player.sees, *_estimate(row), episodes)
        for player, row in zip(players, rewards, strict=True)
    )
    differences = tuple(
        Difference(called[i], called[j], *_estimate(rewards[i] - rewards[j]))
        for i, j in combinations(range(len(called)), 2)
    )
    used: dict[str, Any] = settings._asdict() | {"episodes": episodes, "seed": seed}
    used["complexity"] = [low, high] if settings.patterns == "paper" else None
    return Scores(means, differences, used)


def save(workspace: Workspace, scores: Scores) -> Path:
    """Keeps the scores in the workspace's scores tables, in place of what was kept before."""
    path = workspace.ensure().path("scores", f"{METRIC}.parquet")
    used = canonical_json(scores.settings).decode()
    rows = [(m.agent, METRIC, m.mean, m.standard_error, m.episodes, used) for m in scores.agents]
    found = dict(zip(columns.SCORES, zip(*rows, strict=True), strict=True))
    columns.write(path, "scores", 1, columns.SCORES, found)
    return path


def _estimate(values: NDArray[np.float64]) -> tuple[float, float | None]:
    """Returns the mean and its standard error."""
    if values.size == 1:
        return float(values[0]), None
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))


def _rewards(
    names: Sequence[str],
    settings: patterns.Settings,
    episodes: int,
    seed: int,
    workers: int,
    progress: Callable[[int, int], None],
) -> Iterator[NDArray[np.float64]]:
    """Yields float64[agents, episodes of a batch], batch by batch in their order."""
    spans = [(i, min(i + BATCH, episodes)) for i in range(0, episodes, BATCH)]
    progress(0, episodes)
    if workers == 1 or len(spans) == 1:
        for span in spans:
            yield _batch(names, settings, seed, span)
            progress(span[1], episodes)
        return
    with pool(min(workers, len(spans))) as executor:
        futures = [executor.submit(_batch, names, settings, seed, span) for span in spans]
        for span, future in zip(spans, futures, strict=True):
            yield future.result()
            progress(span[1], episodes)


def _batch(
    names: Sequence[str], settings: patterns.Settings, seed: int, span: tuple[int, int]
) -> NDArray[np.float64]:
    """Returns float64[agents, span]: each episode's mean reward, as definition 2 has it."""
    world = LambdaStar()
    states = [patterns.generate(settings, seed=seed, index=i) for i in range(*span)]
    out = np.empty((len(names), len(states)))
    for row, name in enumerate(names):
        agent, worlds = agents.load(name), Batch(states)
        streams = np.array(
            [stream("lambda-star score", agent.name, seed, i) for i in range(*span)], np.uint64
        )
        if name in fused.AGENTS:
            rewards = fused.play(name, worlds.arrays, streams, steps=settings.horizon).rewards
        else:
            team = Team(agent, tuple(range(settings.participants)), streams)
            rewards = play(world, worlds, [team], steps=settings.horizon).rewards
        out[row] = rewards.mean((1, 2), np.float64) * world.reward_unit
    return out
