"""Arithmetic on the torus: for numbers and arrays, in kernels and outside."""

from __future__ import annotations

import numpy as np
import pytest

from sts_lambda_star import torus
from sts_lambda_star.torus import TIE_BACK, TIE_INSIDE, shortest_displacement

SIZES = [(3, 3), (4, 4), (5, 8), (7, 6), (10, 3)]
sizes = pytest.mark.parametrize(("height", "width"), SIZES)
rules = pytest.mark.parametrize("ties", [TIE_INSIDE, TIE_BACK])


def pairs(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return every cell with every cell."""
    cells = np.arange(height * width)
    start, goal = np.meshgrid(cells, cells, indexing="ij")
    return start.ravel(), goal.ravel()


@rules
@sizes
def test_toward_shortens_every_distance_by_one(height, width, ties):
    start, goal = pairs(height, width)
    move = torus.first_move(start, goal, height, width, ties)
    away = torus.distance(start, goal, height, width)
    after = torus.distance(torus.move_cell(start, move, height, width), goal, height, width)
    np.testing.assert_array_equal(after, np.maximum(away - 1, 0))


@rules
@sizes
def test_offset_leads_to_the_goal_by_a_shortest_way(height, width, ties):
    start, goal = pairs(height, width)
    rows, columns = torus.shortest_offset(start, goal, height, width, ties)
    row, column = (start // width + rows) % height, (start % width + columns) % width
    np.testing.assert_array_equal(row * width + column, goal)
    assert (2 * abs(rows) <= height).all() and (2 * abs(columns) <= width).all()
    away = torus.distance(start, goal, height, width)
    np.testing.assert_array_equal(away, np.maximum(abs(rows), abs(columns)))


def test_displacement_halfway_round_goes_inside_or_back_by_the_rule():
    def compute_displacements(rule, size, *pairs):
        return [shortest_displacement(a, b, size, rule) for a, b in pairs]

    halfway = (0, 3), (3, 0), (5, 2), (1, 4)
    assert compute_displacements(TIE_INSIDE, 6, *halfway) == [3, -3, -3, 3]
    assert compute_displacements(TIE_BACK, 6, *halfway) == [-3] * 4
    for rule in (TIE_INSIDE, TIE_BACK):
        assert compute_displacements(rule, 6, (0, 4), (4, 0), (5, 0)) == [-2, 2, 1]
        assert compute_displacements(rule, 7, (0, 3), (0, 4), (4, 0)) == [3, -3, 3]


@pytest.mark.parametrize("radius", [1, 2, 3])
def test_neighbourhood_wraps_round_every_edge_row_by_row(radius):
    height, width, side = 7, 8, 2 * radius + 1
    for cell in range(height * width):
        row, column = divmod(cell, width)
        down, right = np.divmod(np.arange(side**2), side)
        expected = (row + down - radius) % height * width + (column + right - radius) % width
        found = torus.neighbour(cell, np.arange(side**2), side, height, width)
        np.testing.assert_array_equal(found, expected)
    assert torus.side_length(side**2) == side
