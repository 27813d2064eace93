"""Sets of moves and the ways on the torus that every rule shares."""

from __future__ import annotations

import numpy as np
import pytest

from sts.engine.sampling import sample_index
from sts.worlds.lambda_star.agents import sets
from tests.worlds.lambda_star.agents.teams import named

LAST = 1 - 2.0**-53


def test_nth_picks_what_the_engine_picks_from_equal_weights():
    us = [0.0, LAST, *np.random.default_rng(0).random(40), *(i / 9 for i in range(9))]
    for moves in range(1, sets.ALL + 1):
        weights = sets.to_weights(np.array(moves))
        for u in us:
            assert sets.pick_move(moves, u) == sample_index(weights, weights.sum(), u)
    every = np.arange(1, sets.ALL + 1)
    found = sets.pick_move(every, np.full(sets.ALL, 0.4))
    assert found.tolist() == [sets.pick_move(moves, 0.4) for moves in every]


def test_weights_are_one_for_members_and_zero_for_the_rest():
    expected = np.zeros((1, 2, 9))
    expected[0, 0, 3] = expected[0, 1, 0] = expected[0, 1, 8] = 1
    chosen = np.array([[1 << 3, 0b100000001]])
    np.testing.assert_array_equal(sets.to_weights(chosen), expected)


def test_best_is_every_highest_cell_that_a_move_reaches():
    near = np.array([0, 2, 0, 0, 2, 0, -1, 0, 2], np.int8)
    assert named(int(sets.best_moves(near))) == {"up", "stay", "down-right"}
    assert sets.best_moves(np.full(9, -1, np.int8)) == sets.ALL


@pytest.mark.parametrize("radius", [2, 3, 4])
def test_of_a_wide_sight_only_the_middle_is_in_reach(radius):
    near = np.array([0, 0, -2, -1, 0, 0, 0, -1, 0], np.int8)
    wide = np.full((2 * radius + 1, 2 * radius + 1), 2, np.int8)
    wide[radius - 1 : radius + 2, radius - 1 : radius + 2] = near.reshape(3, 3)
    np.testing.assert_array_equal(sets.crop_reachable(wide.ravel()), near)
