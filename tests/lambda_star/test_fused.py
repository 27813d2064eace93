"""The fused path gives the very episodes of the general one."""

from __future__ import annotations

import numpy as np
import pytest

from sts import agents
from sts.domains import domain
from sts.draws import stream
from sts.lambda_star import fused
from sts.lockstep import Team, play

STEPS = 40


@pytest.mark.parametrize("name", fused.AGENTS)
@pytest.mark.parametrize("patterns", ["paper", "lambdastar-2016"])
@pytest.mark.parametrize(
    ("size", "participants", "radius"),
    [((3, 3), 1, 1), ((3, 3), 6, 1), ((4, 4), 2, 1), ((5, 5), 3, 2), ((10, 10), 4, 1)]
    + [((3, 4), 3, 1), ((4, 7), 2, 1), ((12, 3), 2, 1), ((5, 6), 2, 1)],
)
def test_both_paths_give_the_same_episodes(name, patterns, size, participants, radius):
    if patterns == "lambdastar-2016" and size[0] != size[1]:
        size = (max(size), max(size))
    world = domain("lambda-star")
    states = world.generate(
        25,
        seed=3,
        height=size[0],
        width=size[1],
        participants=participants,
        radius=radius,
        horizon=STEPS,
        patterns=patterns,
    )
    streams = np.array([stream("fused", i) for i in range(len(states))], np.uint64)
    worlds, others = world.restore(states), world.restore(states)
    team = Team(agents.load(name), tuple(range(participants)), streams)
    general = play(world, worlds, [team], steps=STEPS)
    quick = fused.play(name, others.arrays, streams, steps=STEPS)
    np.testing.assert_array_equal(quick.moves, general.moves)
    np.testing.assert_array_equal(quick.rewards, general.rewards)
    assert others.states() == worlds.states()


def test_both_paths_agree_where_good_and_evil_clash():
    world = domain("lambda-star")
    states = world.generate(200, seed=8, height=3, width=3, participants=1, horizon=STEPS)
    streams = np.arange(200, dtype=np.uint64)
    worlds, others = world.restore(states), world.restore(states)
    general = play(world, worlds, [Team(agents.load("random"), (0,), streams)], steps=STEPS)
    quick = fused.play("random", others.arrays, streams, steps=STEPS)
    assert (worlds.arrays.counter > 0).mean() > 0.5
    np.testing.assert_array_equal(quick.rewards, general.rewards)
    assert others.states() == worlds.states()


def test_grids_of_different_sizes_share_a_fused_batch():
    world = domain("lambda-star")
    states = [
        world.generate(4, seed=1, height=h, width=w, participants=2)[i]
        for i in range(4)
        for h, w in ((3, 9), (10, 10), (4, 3))
    ]
    streams = np.arange(len(states), dtype=np.uint64)
    together = fused.play("local-search", world.restore(states).arrays, streams, steps=STEPS)
    for i, state in enumerate(states):
        alone = fused.play(
            "local-search", world.restore([state]).arrays, streams[i : i + 1], steps=STEPS
        )
        np.testing.assert_array_equal(together.moves[i], alone.moves[0])


def test_other_streams_give_other_episodes():
    world = domain("lambda-star")
    states = world.generate(5, seed=1)
    once, again = (
        fused.play(
            "random", world.restore(states).arrays, np.full(5, s, np.uint64), steps=STEPS
        ).moves
        for s in (1, 2)
    )
    assert (once != again).any()
