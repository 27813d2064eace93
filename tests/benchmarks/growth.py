"""How costs grow with the amount of work: each at two sizes, and the exponent between them."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import chdir
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, cast
from unittest.mock import patch

from sts import agents
from sts.domains import load_domain
from sts.trajectories import trajectory_store as trajectories
from sts_lambda_star.generation import environments
from tests.benchmarks import batches, behaviours, domains, sizes, suites
from tests.benchmarks.measure import Rows, alternating, exponent
from tests.recording import record

Way = tuple[Callable[..., Any], ...]
"""See `measure.alternating`."""


class Cost(NamedTuple):
    """A cost that grows with a number."""

    what: str
    of: str  # what the number counts
    most: int  # the larger of both sizes; the other is a fourth of it
    way: Callable[[int, Path], Way]  # given the number and an empty folder


def play(most: int, folder: Path, *, agent: Any) -> Way:
    made = behaviours.worlds(behaviours.TEAM, most)
    return behaviours.stepwise(agent, made), partial(behaviours.batch, made)


def rehearse(most: int, folder: Path) -> Way:
    made, own = behaviours.worlds(behaviours.TEAM, most), behaviours.streams(most)
    return behaviours.practise(behaviours.RIVALLED, own, sizes.REHEARSALS), made.copy_arrays


def generate(most: int, folder: Path) -> Way:
    given: dict[str, Any] = {"seed": 1, "start": 0, "stop": most}
    settings = behaviours.settings(behaviours.TEAM)
    return (partial(environments.generate_environments, settings, **given),)


def continue_suite(most: int, folder: Path, *, agent: str) -> Way:
    """A run of an agent over a part of the suite, of all shapes, in a new workspace."""
    every = batches.load_suite().scenarios
    some = every[:: len(every) // most][:most]
    return (
        partial(suites.run_here, some=some, names=[agent]),
        partial(tempfile.mkdtemp, dir=folder),
    )


def step(most: int, folder: Path, *, name: str) -> Way:
    """Worlds that are stepped through the adapter."""
    kind, adapter = domains.KINDS[name], cast(Any, load_domain(name))
    states = adapter.generate(most, seed=0)
    actions = kind.actions(kind.steps, [adapter.restore_environment(one) for one in states])
    return (lambda: domains.keep(adapter.restore(states), actions),)


def transfer(most: int, folder: Path, *, read: bool) -> Way:
    """Recordings that are written or read."""
    shape = {"height": 10, "width": 10, "n_players": 3, "horizon": sizes.STEPS}
    amount: dict[str, Any] = {"count": most, "steps": sizes.STEPS, "seed": 0}
    made = record(agents.load("local-search"), domain="lambda-star", settings=shape, **amount)
    if read:
        trajectories.export(folder / "read.parquet", made)
        return (partial(trajectories.read, folder / "read.parquet"),)
    paths = (folder / f"{number}.parquet" for number in count())
    return lambda path: trajectories.export(path, made), partial(next, paths)


POLICY = "wide_policy:Policy"
COSTS = (
    Cost("episodes of `local-search`", "episodes", sizes.EPISODES,
         partial(play, agent=agents.load("local-search"))),
    Cost("episodes of a policy in NumPy", "episodes", sizes.EPISODES,
         partial(play, agent=behaviours.Greedy())),
    Cost(f"episodes that `{behaviours.RIVALLED}` rehearses", "episodes", sizes.LEARNERS, rehearse),
    Cost("new environments", "environments", sizes.NEW, generate),
    *(
        Cost(f"`sts run` of {what}", "scenarios", sizes.GROWN, partial(continue_suite, agent=agent))
        for what, agent in {
            "`local-search`": "local-search",
            "`rule`": "rule",
            "a policy": POLICY,
            "the policy elsewhere": f"{sys.executable}:{POLICY}",
            "a policy that is sensitive to its batch": "wide_policy:Sensitive",
        }.items()
    ),
    *(Cost(f"worlds of `{name}`", "worlds", sizes.WORLDS, partial(step, name=name))
      for name in domains.KINDS),
    Cost("recordings written", "episodes", sizes.EXPORTED, partial(transfer, read=False)),
    Cost("recordings read", "episodes", sizes.EXPORTED, partial(transfer, read=True)),
)  # fmt: skip


def costs() -> Rows:
    """Milliseconds of each at both sizes; they take turns."""
    here = patch("sts.continuations.run._isolated_agents", lambda chunk: "")
    with tempfile.TemporaryDirectory() as folder, chdir(folder), here:
        Path("wide_policy.py").write_text(batches.POLICY)
        for one in COSTS:
            both = one.most // 4, one.most
            with domains.quiet():
                ways = [one.way(size, Path(tempfile.mkdtemp(dir=folder))) for size in both]
                few, many = alternating(ways, runs=sizes.SLOW)
            load = f"{os.getloadavg()[0]:.1f}"
            size = f"{both[0]} and {both[1]} {one.of}"
            yield one.what, size, 1e3 * few, 1e3 * many, exponent(*both, few, many), load
