"""The oracle meets a Good that runs away permanently."""

from __future__ import annotations

import numpy as np
import pytest

from sts_lambda_star import kernels
from sts_lambda_star.agents.oracle import Oracle
from sts_lambda_star.state import KINDS, MOVES, State
from tests.worlds.lambda_star.agents.teams import STAY, game, start
from tests.worlds.lambda_star.examples import batch_of

SIZES = [(n, n) for n in range(3, 13)] + [(n, 15 - n) for n in range(3, 13)]
HEADINGS = [move for move in range(9) if move != STAY]
ROUND = tuple(5 * (i % 4) + i % 5 for i in range(20))  # down-right, round a 4x5 grid


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
def test_oracle_meets_a_fleeing_good_within_half_the_longer_side(height, width):
    """At most n - 2 cells of a ring of n lie between them the other way; two are closed a step.

    The first step closes one, so k steps close 2k - 1. Without a heading on an axis, at most n // 2
    cells are approached one by one; so n // 2 steps do for any axis, and some start needs them all.
    """
    bound = max(height, width) // 2
    p = game(Oracle(), fleeing(height, width), steps=bound + 6)
    with_good = p.scene[:, :, 0] == p.scene[:, :, 2]
    assert with_good[:, bound:].all()
    assert not with_good[:, bound - 1].all()


@pytest.mark.parametrize(
    ("good", "cell", "heading", "actions"),
    [
        # Good goes right from row 4, column 0. The oracle stands two rows above and, by the shorter
        # way, three columns behind where Good goes next; the other way six columns lie between.
        (36, 25, "right", ["down-left", "down-left", "left", "stay", "right", "right"]),
        # Good comes toward an oracle in row 2, column 5.
        (36, 23, "left", ["down-right", "down-right", "left", "left"]),
        (40, 40, "up-right", ["up-right"] * 5),
    ],
)
def test_oracle_meets_a_good_that_keeps_its_heading(good, cell, heading, actions):
    pattern = (MOVES.index(heading),)
    cells, evil = (cell,), (good + 2) % 81
    world = start(
        9, 9, good=good, evil=evil, cells=cells, good_pattern=pattern, evil_pattern=pattern
    )
    p = game(Oracle(), [world], steps=len(actions))
    assert [MOVES[m] for m in p.actions[0, :, 0]] == actions


def test_oracle_only_approaches_a_good_that_stays_at_times():
    world = start(9, 9, good=0, evil=40, cells=(31,), good_pattern=(5, 5, 5, STAY))
    p = game(Oracle(), [world], steps=4)
    assert [MOVES[m] for m in p.actions[0, :, 0]] == ["up-left", "up-left", "up-right", "stay"]


def test_oracle_meets_a_good_on_a_path_of_cells():
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
def test_heading_is_one_move_repeated_permanently(kind, pattern, heading):
    assert kernels.constant_heading(np.array(pattern), KINDS.index(kind), 4, 5) == heading
    world = batch_of([start(4, 5, good=0, evil=7, cells=(3,), kind=kind, good_pattern=pattern)])
    seen = world.observe((0,), team=(0,), world=True)
    assert seen.good_heading is not None and seen.good_heading.tolist() == [heading]
    assert world.observe((0,), team=(0,), world=False).good_heading is None
