"""Agent-steps a second: fused and general path, NumPy, pure Python, and what limits them."""

from __future__ import annotations

import numpy as np

from sts import agents
from sts.compiled import compiled
from sts.domains import domain
from sts.draws import stream, uniform
from sts.lambda_star import fused
from sts.lambda_star.state import decode
from sts.lockstep import Team, play
from tests.benchmarks import rivals
from tests.benchmarks.measure import Table, seconds

STEPS, BATCH, WORLDS, FEW = 50, 4000, 200, 20


def throughput() -> Table:
    """Million agent-steps a second of each way to play, on one core."""
    rows = []
    for people in (1, 5):
        for name in fused.AGENTS:
            rates = _rates(name, people)
            ratios = rates[0] / rates[2], rates[1] / rates[2]
            rows.append((f"{name}, {people} a world", *rates, *ratios))
    return Table(
        "Agent-steps",
        f"Millions a second on one core: {BATCH} episodes of {STEPS} steps on a 10x10 grid, all "
        "participants played by one agent. All four ways give the same rewards, number for "
        "number. The fused path is compiled with the world; the general one is what every agent "
        "goes through, a user's too; the NumPy and the pure-Python versions were written for "
        "comparison. The aim is 50 fused and 2 general.",
        ("agent", "fused", "general", "NumPy", "pure Python", "fused / NumPy", "general / NumPy"),
        rows,
    )


def _rates(name: str, people: int) -> tuple[float, float, float, float]:
    """Returns millions of agent-steps a second: fused, general, NumPy, pure Python."""
    world = domain("lambda-star")
    raw = world.generate(WORLDS, seed=1, participants=people, horizon=STEPS) * (BATCH // WORLDS)
    states = [decode(state) for state in raw[:WORLDS]] * (BATCH // WORLDS)
    streams = np.array([stream("bench", i) for i in range(BATCH)], np.uint64)
    team = Team(agents.load(name), tuple(range(people)), streams)

    def whole(worlds):
        return fused.play(name, worlds.arrays, streams, steps=STEPS).rewards

    def stepwise(worlds):
        return play(world, worlds, [team], steps=STEPS).rewards

    def stacked(worlds):
        return rivals.with_numpy(name, worlds, streams, STEPS)

    def plain(_):
        some = zip(states[:FEW], streams[:FEW].tolist(), strict=True)
        return np.array([rivals.in_python(name, s, key, STEPS) for s, key in some])

    def restored():
        return world.restore(raw)

    def arrays():
        return rivals.Stacked(states)

    expected = whole(restored())
    np.testing.assert_array_equal(stepwise(restored()), expected)
    np.testing.assert_array_equal(stacked(arrays()), expected)
    np.testing.assert_array_equal(plain(None), expected[:FEW])
    total = expected.size / 1e6
    return (
        total / seconds(whole, restored),
        total / seconds(stepwise, restored),
        total / seconds(stacked, arrays),
        total * FEW / BATCH / seconds(plain),
    )


@compiled
def _draws(count: int) -> float:
    total = 0.0
    for i in range(count):
        total += uniform(7, i)
    return total


def limits() -> Table:
    """What a core can do at all of what a fused step needs."""
    count, size = 20_000_000, 200_000_000
    source = np.ones(size, np.int8)
    target = np.empty_like(source)
    draws = count / 1e6 / seconds(lambda _: _draws(count))
    bandwidth = size / 1e6 / seconds(lambda _: np.copyto(target, source))
    return Table(
        "Limits",
        "A fused agent-step needs one random draw and writes two bytes (its move and its reward), "
        "so one core can do no more of them than this.",
        ("limit", "millions of agent-steps a second"),
        [("one random draw", draws), ("two bytes written, at the speed of a copy", bandwidth / 2)],
    )
