"""Which agents are recorded for the tables of gates, domain by domain, and their columns.

A domain may need an extra or its recordings in addition to this package.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from sts import agents
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.rules import quality_checks
from tests.recording import record
from tests.reproduction.suites import pools
from tests.reproduction.suites.renew_babyai import AGENTS, LEVELS

RECORDERS = (
    *(("random", 2, 10, 10), ("random", 3, 8, 12), ("blind", 2, 12, 12)),
    *(("local-search", 2, 10, 10), ("local-search", 6, 10, 10), ("stigmergy", 4, 10, 10)),
    *(("wisdom-of-the-crowd", 5, 12, 8), ("rule", 3, 8, 12), ("speaking-maximiser", 2, 11, 9)),
    *(("reader", 2, 12, 12), ("reader-noisy-60", 3, 10, 10), ("reader-noisy-60", 5, 9, 9)),
)
"""The agents that are recorded in Λ*, their team's size, rows and columns."""
EPISODES, STEPS, SEED = 700, 50, 26112
"""Of each recorder of Λ*; a fifth are on the test side."""
OPEN_EPISODES, OPEN_STEPS, OPEN_SEED = 60, 48, 300
"""Of each recorder and each open level of BabyAI; the packaged suite is of other seeds."""
LOOKED_AT = 3
"""Trials of each kitchen, the first of the test side, that categories were made by."""


class Measure(NamedTuple):
    """How the categories of a domain are measured."""

    recordings: Callable[[], list[Trajectory]]  # what pools are mined from, all on the test side
    floors: tuple[str, ...]  # agents that do not do what is asked on purpose: only reported
    columns: tuple[str, ...]  # of the table of pools, the names of quality checks and floors
    agents: tuple[str, ...]  # whose pass rates of the larger suite are a table
    # how many scenarios or pairs the first quality checks are measured on, at most
    pool: int = pools.POOL
    continuations: int = quality_checks.CONTINUATIONS  # of each of them, for a policy that draws
    larger: int = 40  # how many scenarios the larger suite has
    per_world: int = 1  # how many of a suite are of one world, at most; of a pool as many or more
    # Whether the solver is measured with an unsteady hand, by difficulty: if each of the domain's
    # agents is weak or strong.
    shaky: bool = False


def lambda_star() -> list[Trajectory]:
    """Return what the recorders of Λ* play; each has its own seed."""
    made: list[Trajectory] = []
    for n, (agent, team, height, width) in enumerate(RECORDERS):
        world = {"height": height, "width": width, "n_players": team, "horizon": STEPS}
        made += _record_test_side("lambda-star", agent, EPISODES, STEPS, SEED + n, world)
    return made


def babyai(episodes: int = OPEN_EPISODES) -> list[Trajectory]:
    """Return what is played in open levels; each level has its own seed."""
    made: list[Trajectory] = []
    for n, level in enumerate(LEVELS):
        for agent in AGENTS:
            world = {"level": level, "open": True}
            made += _record_test_side("babyai", agent, episodes, OPEN_STEPS, OPEN_SEED + n, world)
    return made


def overcooked() -> list[Trajectory]:
    """Return the installed trials of both sides without those that were looked at.

    None of the measured agents was trained on them.
    """
    from sts_overcooked import importer  # needs the extra

    by_kitchen: dict[str, list[Trajectory]] = defaultdict(list)
    for one in importer.read():
        by_kitchen[f"{one.split} {one.provenance['layout']}"].append(one)
    return [
        replace(one, provenance=one.provenance | {"split": "test"})
        for side, own in by_kitchen.items()
        for one in own[LOOKED_AT if side.startswith("test") else 0 :]
    ]


def _record_test_side(
    domain: str, agent: str, episodes: int, steps: int, seed: int, settings: dict[str, Any]
) -> Iterator[Trajectory]:
    player = agents.load(agent)
    made = record(player, domain=domain, count=episodes, steps=steps, seed=seed, settings=settings)
    return (one for one in made if one.split == "test")


MEASURES = {
    "lambda-star": Measure(
        lambda_star,
        ("random", "speaking-maximiser"),
        (
            *("random", "open loop", "local-search", "reward-with-memory", "speaking-maximiser"),
            *("shortcut", "solver"),
        ),
        (
            *("oracle", "speaking-maximiser", "reader-noisy-60", "reader-noisy-30", "reader-near"),
            *("reader-half", "reader-without-memory", "reader"),
        ),
    ),
    "babyai": Measure(
        babyai,
        ("random", "babyai-seeker"),
        ("random", "open loop", "heedless", "babyai-seeker", "shortcut", "solver"),
        (
            *("babyai-bot", "babyai-seeker", "babyai-reader-noisy-60", "babyai-reader-noisy-30"),
            *("babyai-reader-near", "babyai-reader-half", "babyai-reader-without-memory"),
            "babyai-reader",
        ),
        pool=100,
        continuations=2,
        larger=20,
    ),
    "overcooked": Measure(
        overcooked,
        ("random", "overcooked-greedy"),
        ("random", "open loop", "soup", "overcooked-greedy", "shortcut", "solver"),
        ("overcooked-stay", "random", "overcooked-greedy"),
        pool=100,
        continuations=2,
        larger=20,
        per_world=40,
        shaky=True,
    ),
}
"""Of each domain whose categories are measured."""
