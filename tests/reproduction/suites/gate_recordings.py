"""Who is recorded for the tables of gates, domain by domain, and what stands in their columns.

What a domain needs beside this package, an extra or its recordings, must be there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from sts import agents
from sts.trajectories.record import record
from sts.trajectories.types import Trajectory
from sts_scenarios import gates
from tests.reproduction.suites import pools
from tests.reproduction.suites.renew_babyai import AGENTS, LEVELS

RECORDERS = (
    *(("random", 2, 10, 10), ("random", 3, 8, 12), ("blind", 2, 12, 12)),
    *(("local-search", 2, 10, 10), ("local-search", 6, 10, 10), ("stigmergy", 4, 10, 10)),
    *(("wisdom-of-the-crowd", 5, 12, 8), ("rule", 3, 8, 12), ("speaking-maximiser", 2, 11, 9)),
    *(("reader", 2, 12, 12), ("reader-noisy-60", 3, 10, 10), ("reader-noisy-60", 5, 9, 9)),
)
"""Who is recorded in Λ*, in teams of how many, on how many rows and columns."""
EPISODES, STEPS, SEED = 700, 50, 26112
"""Of each recorder of Λ*; a fifth are on the test side."""
OPEN_EPISODES, OPEN_STEPS, OPEN_SEED = 60, 48, 300
"""Of each recorder and each open level of BabyAI; the packaged suite is of other seeds."""
LOOKED_AT = 3
"""Trials of each kitchen, the first of the test side, that categories were made by."""


class Measure(NamedTuple):
    """How the categories of a domain are measured.

    Attributes:
      recordings: makes what their pools are mined from, all of it on the test side.
      floors: who does not do what is asked on purpose: only reported.
      columns: of the table of pools, the names of gates and floors.
      agents: whose pass rates of the larger suite are a table.
      pool: how many scenarios or pairs the first gates are measured on, at most.
      continuations: of each scenario of a pool, for a policy that draws.
      larger: how many scenarios the larger suite has.
      per_world: how many of a suite are of one world, at most; of a pool as many or more.
      shaky: whether the probe is measured with an unsteady hand, by difficulty: where none of the
        domain's agents is neither weak nor strong.
    """

    recordings: Callable[[], list[Trajectory]]
    floors: tuple[str, ...]
    columns: tuple[str, ...]
    agents: tuple[str, ...]
    pool: int = pools.POOL
    continuations: int = gates.CONTINUATIONS
    larger: int = 40
    per_world: int = 1
    shaky: bool = False


def lambda_star(episodes: int = EPISODES, seed: int = SEED) -> list[Trajectory]:
    """Return what the recorders of Λ* play; each has its own seed from `seed`."""
    return [
        one
        for n, (agent, team, height, width) in enumerate(RECORDERS)
        for one in _played(
            *("lambda-star", agent, episodes, STEPS, seed + n),
            {"height": height, "width": width, "participants": team, "horizon": STEPS},
        )
    ]


def babyai(episodes: int = OPEN_EPISODES, seed: int = OPEN_SEED) -> list[Trajectory]:
    """Return what is played in open levels; each level has its own seed from `seed`."""
    return [
        one
        for n, level in enumerate(LEVELS)
        for agent in AGENTS
        for one in _played(
            *("babyai", agent, episodes, OPEN_STEPS, seed + n), {"level": level, "open": True}
        )
    ]


def overcooked() -> list[Trajectory]:
    """Return the installed trials of both sides without those that were looked at.

    Who is measured was trained on none of them.
    """
    from sts.worlds.overcooked import importer  # needs the extra

    by_kitchen: dict[str, list[Trajectory]] = defaultdict(list)
    for one in importer.read():
        by_kitchen[f"{one.split} {one.provenance['layout']}"].append(one)
    return [
        replace(one, provenance=one.provenance | {"split": "test"})
        for side, own in by_kitchen.items()
        for one in own[LOOKED_AT if side.startswith("test") else 0 :]
    ]


def _played(
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
            *("shortcut", "probe"),
        ),
        (
            *("oracle", "speaking-maximiser", "reader-noisy-60", "reader-noisy-30", "reader-near"),
            *("reader-half", "reader-without-memory", "reader"),
        ),
    ),
    "babyai": Measure(
        babyai,
        ("random", "babyai-seeker"),
        ("random", "open loop", "heedless", "babyai-seeker", "shortcut", "probe"),
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
        ("random", "open loop", "soup", "overcooked-greedy", "shortcut", "probe"),
        ("overcooked-stay", "random", "overcooked-greedy"),
        pool=100,
        continuations=2,
        larger=20,
        per_world=40,
        shaky=True,
    ),
}
"""Of each domain whose categories are measured."""
