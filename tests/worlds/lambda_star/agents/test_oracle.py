"""The oracle meets a Good that runs away for ever, where approaching alone never would."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from sts.worlds.lambda_star import kernels
from sts.worlds.lambda_star.agents.oracle import Oracle
from sts.worlds.lambda_star.domain import Batch
from sts.worlds.lambda_star.state import KINDS, MOVES, State
from tests.worlds.lambda_star.agents.teams import STAY, game, start

SIZES = [(n, n) for n in range(3, 13)] + [(n, 15 - n) for n in range(3, 13)]
HEADINGS = [move for move in range(9) if move != STAY]
ROUND = tuple(5 * (i % 4) + i % 5 for i in range(20))  # down-right, round a 4x5 grid


class Chaser(Oracle):
    """An oracle that approaches only, as the published program's does."""

    name = "chaser"

    def act(self, observation, instructions, memory, draws):
        never = np.full_like(observation.good_heading, -1)
        blind = dataclasses.replace(observation, good_heading=never)
        return super().act(blind, instructions, memory, draws)


def fleeing(height: int, width: int) -> list[State]:
    """Return a world for every heading of Good and every cell that an oracle can start from.

    Evil goes beside Good, so that they never clash.
    """
    return [
        start(height, width, good=0, evil=1, cells=(c,), good_pattern=(m,), evil_pattern=(m,))
        for m in HEADINGS
        for c in range(height * width)
    ]


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_it_meets_a_good_that_runs_away_within_half_the_longer_side_and_keeps_with_it(
    height, width
):
    """At most n - 2 cells of a ring of n lie between them the other way; two are closed a step.

    The first step closes one, so k steps close 2k - 1. Without a heading on an axis, at most n // 2
    cells are approached one by one; so n // 2 steps do for any axis, and some start needs them all.
    """
    bound = max(height, width) // 2
    p = game(Oracle(), fleeing(height, width), steps=bound + 6)
    with_good = p.scene[:, :, 0] == p.scene[:, :, 2]
    assert with_good[:, bound:].all()
    assert not with_good[:, bound - 1].all()


@pytest.mark.parametrize(("height", "width"), [size for size in SIZES if min(size) >= 5])
def test_approaching_alone_would_never_meet_it(height, width):
    p = game(Chaser(), fleeing(height, width), steps=4 * max(height, width))
    met = (p.scene[:, :, 0] == p.scene[:, :, 2]).any(-1).reshape(len(HEADINGS), -1)
    assert not met.all(-1).any()


def test_it_goes_the_opposite_way_on_the_axis_that_good_runs_along_alone():
    # Good goes right from row 4, column 0. The oracle stands two rows above and, by the shorter
    # way, three columns behind where Good goes next; the other way six columns lie between.
    world = start(9, 9, good=36, evil=38, cells=(25,), good_pattern=(5,), evil_pattern=(5,))
    p = game(Oracle(), [world], steps=6)
    walked = [MOVES[m] for m in p.moves[0, :, 0]]
    assert walked == ["down-left", "down-left", "left", "stay", "right", "right"]


def test_it_approaches_a_good_that_comes_toward_it():
    # Good goes left from row 4, column 0; the oracle stands in row 2, column 5.
    world = start(9, 9, good=36, evil=38, cells=(23,), good_pattern=(3,), evil_pattern=(3,))
    p = game(Oracle(), [world], steps=4)
    assert [MOVES[m] for m in p.moves[0, :, 0]] == ["down-right", "down-right", "left", "left"]


def test_a_good_one_cell_ahead_is_caught_at_once():
    world = start(9, 9, good=40, evil=0, cells=(40,), good_pattern=(2,), evil_pattern=(2,))
    p = game(Oracle(), [world], steps=5)
    assert [MOVES[m] for m in p.moves[0, :, 0]] == ["up-right"] * 5


def test_a_good_that_ever_does_anything_else_is_only_approached():
    changes: dict[str, Any] = {
        "good": 0,
        "evil": 40,
        "cells": (6,),
        "good_pattern": (5, 5, 5, STAY),
    }
    oracle, chaser = (game(a, [start(9, 9, **changes)], steps=8) for a in (Oracle(), Chaser()))
    np.testing.assert_array_equal(oracle.moves, chaser.moves)


def test_it_meets_a_good_on_a_path_of_cells_too():
    worlds = [
        start(4, 5, good=0, evil=7, cells=(c,), kind="cells", good_pattern=ROUND, good_cursor=1)
        for c in range(20)
    ]
    p = game(Oracle(), worlds, steps=6)
    alone = p.scene[:, :, 0] != p.scene[:, :, 1]
    assert (p.scene[:, 2:, 0] == p.scene[:, 2:, 2])[alone[:, 2:]].all()


@pytest.mark.parametrize(
    ("kind", "pattern", "heading"),
    [
        ("moves", (5,), 5),
        ("moves", (0, 0, 0), 0),
        ("moves", (4,), -1),
        ("moves", (4, 4), -1),
        ("moves", (5, 5, 4), -1),
        ("moves", (5, 3), -1),
        ("cells", (7,), -1),
        ("cells", (7, 7), -1),
        ("cells", (0, 1, 2, 3, 4), 5),
        ("cells", (4, 3, 2, 1, 0), 3),
        ("cells", (0, 1, 2, 3), -1),
        ("cells", (0, 1, 2, 3, 4, 4), -1),
        ("cells", (17, 12, 7, 2), 1),
        ("cells", (0, 2, 4, 1, 3), -1),
        ("cells", ROUND, 8),
        ("cells", ROUND[:-1], -1),
    ],
)
def test_a_heading_is_one_move_repeated_for_ever(kind, pattern, heading):
    assert kernels.constant_heading(np.array(pattern), KINDS.index(kind), 4, 5) == heading
    world = start(4, 5, good=0, evil=7, cells=(3,), kind=kind, good_pattern=pattern)
    seen = Batch([world]).observe((0,), team=(0,), world=True)
    assert seen.good_heading is not None and seen.good_heading.tolist() == [heading]


def test_only_agents_that_see_the_world_are_shown_the_heading():
    world = Batch([start(4, 5, good=0, evil=7, cells=(3,), good_pattern=(5,))])
    assert world.observe((0,), team=(0,), world=False).good_heading is None
