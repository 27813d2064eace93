"""Motion prediction by solvers, worked by hand on a torus of 6 rows and 7 columns."""

from collections.abc import Sequence

import numpy as np
import pytest

from sts_lambda_star.categories import motion_prediction
from sts_lambda_star.categories.motion_prediction import HIDDEN

SIZE = (6, 7)
AWAY = np.full(8, 5 * 7 + 6)
Places = Sequence[tuple[int, int] | None]


def encode_cells(places: Places) -> np.ndarray:
    return np.array([HIDDEN if place is None else place[0] * 7 + place[1] for place in places])


@pytest.mark.parametrize(
    ("seen", "me", "expected"),
    [
        # repeated moves continue, also out of sight
        ([(2, 0), (2, 1), (3, 1), (3, 2), (4, 2)], AWAY, {(4, 3): 1}),
        ([(2, 0), (2, 1), (3, 1), (3, 2), (4, 2), None], AWAY, {(5, 3): 1}),
        # without a period, each move is as likely as it was frequent
        ([(2, 0), (2, 1), (2, 2), (3, 2)], AWAY, {(3, 3): 2 / 3, (4, 2): 1 / 3}),
        # not where it would have been seen
        (
            [(2, 0), (2, 1), (2, 2), (3, 2), None],
            encode_cells([(5, 6)] * 4 + [(5, 2)]),
            {(3, 4): 2 / 3, (4, 3): 1 / 3},
        ),
        ([None, None], AWAY, {(r, c): 1 / 42 for r in range(6) for c in range(7)}),
    ],
)
def test_next_cell_follows_the_observed_moves(seen, me, expected):
    chance = motion_prediction.cell_probabilities(encode_cells(seen), me[: len(seen)], *SIZE)
    found = {divmod(int(cell), 7): float(chance[cell]) for cell in np.flatnonzero(chance)}
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("actions", "length"),
    [
        ([5, 7, 5, 7], 2),
        ([3, 5, 7, 7, 5, 7, 7], 3),
        ([5] * 8, 0),
        ([5, 7, 5], 0),
        ([5, HIDDEN, 5, 7], 0),
    ],
)
def test_period_has_several_moves_and_was_seen_twice(actions, length):
    assert motion_prediction.shortest_period(np.array(actions)) == length


def test_distance_after_a_move_is_weighted_by_probability():
    chance = np.zeros(42)
    chance[encode_cells([(2, 2), (2, 5)])] = 0.75, 0.25
    near = motion_prediction.distance_probabilities(chance, 2 * 7 + 1, *SIZE, 2)
    right, stay = 5, 4
    assert near[:, right].tolist() == [0.75, 0.75, 0.75, 0.75]
    assert near[:3, stay].tolist() == [0, 0.75, 0.75]
    assert near[3, stay] == pytest.approx(0.75 * 1 + 0.25 * 3)


def test_cells_within_a_distance_wrap_around_the_edges():
    cells = encode_cells([(0, 6), (3, 3), (1, 0)])
    assert motion_prediction.cells_within(cells, 0, *SIZE, 1).tolist() == [6, 7]
