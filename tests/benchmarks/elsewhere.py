"""What a step costs more where another interpreter plays the agent."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path

import numpy as np

from sts import agents
from sts.agents import Agent
from sts.engine.lockstep import Played, play
from sts.engine.session import Team
from sts.numerics.streams import stream
from sts.worlds.lambda_star.domain import Batch, LambdaStar
from sts.worlds.lambda_star.generation import environments, patterns
from tests.benchmarks.measure import Sizes, Table, alternating
from tests.benchmarks.paths import Greedy

GREEDY = """
class Greedy:
    name = "greedy"

    def begin(self, batch, roles):
        return {}

    def act(self, observation, instructions, memory, draws):
        best = observation.reward == observation.reward.max(-1, keepdims=True)
        return best.astype(float), memory
"""


def table(sizes: Sizes) -> Table:
    """Microseconds of a step of a batch, in this process and in another."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("greedy_elsewhere.py").write_text(GREEDY)
        there = agents.load(f"{sys.executable}:greedy_elsewhere:Greedy")
        for count in (1, 10 * sizes.few, sizes.episodes):
            rows.append((f"{count}", *_measured(there, count, sizes)))
    return Table(
        "Agents elsewhere",
        f"Microseconds of a step of so many episodes together, {sizes.steps} steps on a 10x10 grid "
        "with one participant: showing what is seen, the first policy in NumPy above, checking and "
        "recording what it answers, moving the worlds. *Elsewhere* the same policy is played by an "
        "interpreter of its own: what it sees and what it answers go over a pipe at every step. "
        "Both record the same episodes, which is checked first; then they take turns.",
        ("episodes", "in process", "elsewhere", "more a step", "more a step and episode"),
        rows,
    )


def _measured(there: Agent, count: int, sizes: Sizes) -> tuple[float, ...]:
    settings = patterns.Settings(height=10, width=10, participants=1, horizon=sizes.steps)
    made = environments.generate(settings, seed=1, start=0, stop=count)
    streams = np.array([stream("elsewhere", i) for i in range(count)], np.uint64)

    def played(agent: Agent) -> Played:
        worlds = Batch.from_arrays(made.copy_arrays(), settings.radius)
        return play(LambdaStar(), worlds, [Team(agent, (0,), streams)], steps=sizes.steps)

    here = Greedy()
    for one, other in zip(played(here)[:-1], played(there)[:-1], strict=True):
        np.testing.assert_array_equal(one, other)
    taken = alternating([(played, lambda: here), (played, lambda: there)], runs=sizes.runs)
    inside, outside = (1e6 * seconds / sizes.steps for seconds in taken)
    return inside, outside, max(0.0, outside - inside), max(0.0, outside - inside) / count
