"""Costs of batches: a run of a suite, and its parts, each next to an alternative."""

from __future__ import annotations

import runpy
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import chdir
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np

from sts.continuations.takeover import group_by_shape
from sts.engine.session import Session
from sts.storage.workspace import Workspace
from sts.suites import suite_store as store
from sts.suites.suite import Scenario, Suite
from tests.benchmarks import sizes
from tests.benchmarks.measure import STS, Cost, Rows, alternating, clocks, cost
from tests.benchmarks.suites import run_here

SUITE, REPLAYED = "core@2", "core@3"
SIX = "random", "local-search", "rule", "reader-half", "reader", "oracle"
ROWS = 2000  # of a full batch
CALLED_AIM, POLICY_AIM, ELSEWHERE_AIM, SENSITIVE_AIM, REPLAY_AIM = 3.0, 1.2, 1.5, 2.0, 1.03
"""CPU seconds, and ratios."""
POLICY = """
import numpy as np
from sts.agents import Agent, PolicyOutput

rng = np.random.default_rng(0)
SIZES = 36, 512, 512, 9
LAYERS = [rng.standard_normal(pair, np.float32) / 20 for pair in zip(SIZES, SIZES[1:])]


def forward(rows):
    for layer in LAYERS[:-1]:
        rows = np.maximum(rows @ layer, 0)
    return rows @ LAYERS[-1]


class Policy(Agent):
    name = "policy"
    version = "1"

    def act(self, observation, instructions, memory, draws):
        parts = [observation.good, observation.evil, observation.others, observation.reward]
        rows = np.concatenate(parts, -1, dtype=np.float32)
        values = forward(rows.reshape(-1, SIZES[0]))
        return PolicyOutput(values.argmax(-1).reshape(rows.shape[:2])), {}


class Sensitive(Policy):
    name = "sensitive"

    def act(self, observation, instructions, memory, draws):
        output, memory = super().act(observation, instructions, memory, draws)
        return output._replace(actions=(output.actions + len(draws)) % 9), memory
"""
"""A policy of 300,000 parameters in NumPy, and one whose answers depend on the size of a batch."""


def called() -> Rows:
    """CPU seconds of `sts run` of the suite with six agents, once after a run that warms up."""
    words = [word for name in SIX for word in ("--agent", name)]
    words += ["--continuations", "10", "--workers", "1"]
    with tempfile.TemporaryDirectory() as folder:
        taken = [
            cost(STS, "run", SUITE, *words, "--workspace", f"{folder}/{number}").cpu
            for number in range(sizes.SLOW + 1)
        ]
    yield (
        f"`sts run {SUITE}`, six agents, CPU",
        CALLED_AIM,
        statistics.median(taken[1:]),
        None,
        None,
    )


def policies() -> Rows:
    """Seconds of policies over the suite, next to an alternative; they take turns."""
    suite = load_suite()
    largest = max(group_by_shape(suite.scenarios), key=len)
    apart = patch("sts.continuations.run._isolated_agents", lambda chunk: "")
    with tempfile.TemporaryDirectory() as folder, chdir(folder), apart:
        Path("wide_policy.py").write_text(POLICY)
        here, there, sensitive = (
            partial(run_new, folder, name=name)
            for name in ("Policy", f"{sys.executable}:Policy", "Sensitive")
        )
        bare = partial(pass_forward, Path(folder) / "wide_policy.py", suite.scenarios)
        for title, aim, work, other in (
            ("a policy: a run, and its bare passes", None, partial(here, suite.scenarios), bare),
            ("the same elsewhere", None, partial(there, suite.scenarios), bare),
            (
                "a policy that is sensitive to its batch: a run, and that of one that is not",
                SENSITIVE_AIM,
                partial(sensitive, largest),
                partial(here, largest),
            ),
        ):
            with clocks({"calls": (Session, "_call_agent")}, time.perf_counter) as spent:
                taken, least = alternating([(work,), (other,)], runs=sizes.RUNS)
            yield title, aim, taken, least, taken / least
            if aim is None:
                calls = spent["calls"] / (sizes.RUNS + 1)
                goal = POLICY_AIM if "elsewhere" not in title else ELSEWHERE_AIM
                yield f"its calls in the run, {title}", goal, calls, least, calls / least


def replays() -> Rows:
    """Seconds of `sts run` with a policy, and without its replay; they take turns."""
    words = "run", REPLAYED, "--agent", "wide_policy:Policy", "--continuations", "10"
    taken: dict[bool, list[Cost]] = {True: [], False: []}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("wide_policy.py").write_text(POLICY)
        for number in range(sizes.SLOW + 1):
            for replayed, own in taken.items():
                flag = () if replayed else ("--no-replay",)
                place = "--workspace", f"{folder}/{number}{replayed}"
                own.append(cost(STS, *words, *flag, *place))
    for title, aim, read in (
        ("on the clock", REPLAY_AIM, lambda one: one.wall),
        ("CPU", None, lambda one: one.cpu),
    ):
        with_replay, without = (statistics.median(map(read, own[1:])) for own in taken.values())
        title = f"`sts run {REPLAYED}` of a policy, with and without its replay, {title}"
        yield title, aim, with_replay, without, with_replay / without


def load_suite() -> Suite:
    with tempfile.TemporaryDirectory() as folder:
        return store.load(Workspace.open(folder), SUITE)


def run_new(folder: str, scenarios: Sequence[Scenario], *, name: str) -> None:
    """Run a policy in a new workspace."""
    path, _, policy = name.rpartition(":")
    agent = f"{path}:wide_policy:{policy}" if path else f"wide_policy:{policy}"
    run_here(tempfile.mkdtemp(dir=folder), scenarios, [agent])


def pass_forward(module: Path, scenarios: Sequence[Scenario]) -> None:
    """Pass as many rows through the policy as a run does, in full batches."""
    policy = runpy.run_path(str(module))
    rows = np.ones((ROWS, policy["SIZES"][0]), np.float32)
    total = sizes.CONTINUATIONS * sum(one.context + one.horizon for one in scenarios)
    for _ in range(total // ROWS):
        policy["forward"](rows).argmax(-1)
