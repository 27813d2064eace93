"""The fused path gives the very episodes of the general one."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from sts import agents
from sts.engine.lockstep import play
from sts.engine.session import Team
from sts.errors import ArgumentError
from sts.numerics.streams import stream
from sts.worlds.lambda_star.domain import LambdaStar
from sts.worlds.lambda_star.play import fused

STEPS = 40
BLIND = ("random", "local-search", "oracle")
GRIDS = [((3, 3), 1), ((3, 3), 6), ((4, 4), 2), ((10, 10), 1), ((10, 10), 4)]
OBLONG = [((3, 4), 3), ((4, 7), 2), ((12, 3), 2), ((5, 6), 2), ((255, 4), 3)]
MORE = [GRIDS[0], GRIDS[3], OBLONG[1], OBLONG[3]]
"""Of these, what the slow tier alone plays."""


def generated(count=25, *, size=(10, 10), participants=3, patterns="paper", **settings):
    made = {"participants": participants, "patterns": patterns, "horizon": STEPS} | settings
    return LambdaStar().generate(count, seed=3, height=size[0], width=size[1], **made)


def streams_of(states):
    return np.array([stream("fused", i) for i in range(len(states))], np.uint64)


def assert_both_paths_agree(name, states, participants):
    world, streams = LambdaStar(), streams_of(states)
    worlds, others, summed = (world.restore(states) for _ in range(3))
    team = Team(agents.load(name), tuple(range(participants)), streams)
    general = play(world, worlds, [team], steps=STEPS)
    quick = fused.play(name, others.arrays, streams, steps=STEPS)
    np.testing.assert_array_equal(quick.moves, general.moves)
    np.testing.assert_array_equal(quick.rewards, general.rewards)
    assert others.states() == worlds.states()
    sums = fused.play(name, summed.arrays, streams, steps=STEPS, recorded=False).totals
    np.testing.assert_array_equal(sums, general.rewards.sum(1, np.int64))
    assert summed.states() == worlds.states()


@pytest.mark.parametrize("name", fused.AGENTS)
@pytest.mark.parametrize(
    ("size", "participants", "patterns"),
    [
        pytest.param(*grid, patterns, marks=[pytest.mark.slow] if grid in MORE else [])
        for patterns, grids in (("paper", GRIDS + OBLONG), ("lambdastar-2016", GRIDS))
        for grid in grids
    ],
)
def test_both_paths_give_the_same_episodes(name, size, participants, patterns):
    states = generated(size=size, participants=participants, patterns=patterns)
    assert_both_paths_agree(name, states, participants)


@pytest.mark.parametrize("name", BLIND)
def test_behaviours_that_tell_nothing_are_the_same_at_a_wider_sight(name):
    assert fused.plays(name, 2)
    assert_both_paths_agree(name, generated(size=(5, 7), radius=2), 3)


@pytest.mark.parametrize("name", fused.AGENTS)
def test_both_paths_agree_where_good_and_evil_clash(name):
    states = generated(60, size=(3, 3), participants=2)
    world = LambdaStar()
    worlds = world.restore(states)
    fused.play(name, worlds.arrays, streams_of(states), steps=STEPS)
    assert (worlds.arrays.counter > 0).mean() > 0.5
    assert_both_paths_agree(name, states, 2)


def test_both_paths_agree_in_the_middle_of_an_episode():
    world, states = LambdaStar(), generated()
    worlds = world.restore(states)
    fused.play("random", worlds.arrays, streams_of(states), steps=7)
    for name in fused.AGENTS:
        assert_both_paths_agree(name, worlds.states(), 3)


@pytest.mark.parametrize("name", ["oracle", "imitation"])
def test_both_paths_agree_where_good_runs_away_for_ever(name):
    states = generated(40, participants=2, complexity=(10, 13))
    heading = LambdaStar().restore(states).observe((0,), team=(0,), world=True)
    assert heading.good_heading is not None and (heading.good_heading >= 0).any()
    assert_both_paths_agree(name, states, 2)


@pytest.mark.parametrize("name", fused.AGENTS)
def test_grids_of_different_sizes_share_a_fused_batch(name):
    world = LambdaStar()
    made = [generated(4, size=size, participants=2) for size in ((3, 9), (10, 10), (4, 3))]
    states = [state for each in zip(*made, strict=True) for state in each]
    streams = streams_of(states)
    together = fused.play(name, world.restore(states).arrays, streams, steps=STEPS)
    for i, state in enumerate(states):
        alone = fused.play(name, world.restore([state]).arrays, streams[i : i + 1], steps=STEPS)
        np.testing.assert_array_equal(together.moves[i], alone.moves[0])


@pytest.mark.parametrize("name", fused.AGENTS)
@pytest.mark.parametrize("threads", [2, 3, 40])
def test_threads_change_nothing(name, threads):
    world, states = LambdaStar(), generated()
    streams = streams_of(states)
    one, many = world.restore(states), world.restore(states)
    alone = fused.play(name, one.arrays, streams, steps=STEPS)
    shared = fused.play(name, many.arrays, streams, steps=STEPS, threads=threads)
    np.testing.assert_array_equal(shared.moves, alone.moves)
    np.testing.assert_array_equal(shared.rewards, alone.rewards)
    assert many.states() == one.states()
    again = world.restore(states).arrays
    sums = fused.play(name, again, streams, steps=STEPS, threads=threads, recorded=False).totals
    np.testing.assert_array_equal(sums, alone.rewards.sum(1, np.int64))


def test_no_threads_are_refused():
    states = generated(2)
    worlds = LambdaStar().restore(states)
    with pytest.raises(ArgumentError, match="1 thread or more, found 0"):
        fused.play("random", worlds.arrays, streams_of(states), steps=STEPS, threads=0)


def test_other_streams_give_other_episodes():
    world, states = LambdaStar(), generated(5)
    for name in set(fused.AGENTS) - {"oracle"}:
        once, again, same = (
            fused.play(name, world.restore(states).arrays, np.full(5, s, np.uint64), steps=STEPS)
            for s in (1, 2, 1)
        )
        assert (once.moves != again.moves).any(), name
        assert (once.moves == same.moves).all(), name


def test_only_what_the_general_path_would_play_alike_is_played():
    assert all(fused.plays(name, 1) for name in fused.AGENTS)
    assert {name for name in fused.AGENTS if fused.plays(name, 2)} == set(BLIND)
    assert all(fused.plays(name, 2) for name in fused.LEARNERS)
    assert not any(fused.plays(name, 1) for name in ("rule", "blind", "nobody"))
    assert {*fused.AGENTS, *fused.LEARNERS} <= set(agents.installed())


def test_every_command_starts_without_compiled_kernels():
    named = "sys, sts.cli.main, sts.worlds.lambda_star.command"
    code = f"import {named}; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
