"""Arithmetic on the torus: for numbers and arrays, in kernels and outside."""

from __future__ import annotations

import numpy as np
import pytest

from sts.numerics.compiled import compiled
from sts.worlds.lambda_star import torus
from sts.worlds.lambda_star.torus import BACK, INSIDE, shortest_displacement

SIZES = [(3, 3), (4, 4), (5, 8), (7, 6), (10, 3)]
sizes = pytest.mark.parametrize(("height", "width"), SIZES)
rules = pytest.mark.parametrize("ties", [INSIDE, BACK])


def pairs(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return every cell with every cell."""
    cells = np.arange(height * width)
    start, goal = np.meshgrid(cells, cells, indexing="ij")
    return start.ravel(), goal.ravel()


@rules
@sizes
def test_toward_shortens_every_way_by_one(height, width, ties):
    start, goal = pairs(height, width)
    move = torus.toward(start, goal, height, width, ties)
    away = torus.distance(start, goal, height, width)
    after = torus.distance(torus.moved(start, move, height, width), goal, height, width)
    np.testing.assert_array_equal(after, np.maximum(away - 1, 0))


@rules
@sizes
def test_an_offset_is_the_way_and_no_longer_than_any_other(height, width, ties):
    start, goal = pairs(height, width)
    rows, columns = torus.offset(start, goal, height, width, ties)
    row, column = (start // width + rows) % height, (start % width + columns) % width
    np.testing.assert_array_equal(row * width + column, goal)
    assert (2 * abs(rows) <= height).all() and (2 * abs(columns) <= width).all()
    away = torus.distance(start, goal, height, width)
    np.testing.assert_array_equal(away, np.maximum(abs(rows), abs(columns)))


def test_halfway_round_no_edge_is_crossed():
    assert [shortest_displacement(a, b, 6) for a, b in ((0, 3), (3, 0), (5, 2), (1, 4))] == [
        3,
        -3,
        -3,
        3,
    ]
    assert [shortest_displacement(a, b, 6) for a, b in ((0, 4), (4, 0), (5, 0))] == [-2, 2, 1]
    assert [shortest_displacement(a, b, 7) for a, b in ((0, 3), (0, 4), (4, 0))] == [3, -3, 3]


def test_halfway_round_the_other_rule_goes_up_or_left():
    for a, b in ((0, 3), (3, 0), (5, 2), (1, 4)):
        assert shortest_displacement(a, b, 6, BACK) == -3
    others = [(a, b) for a in range(6) for b in range(6) if abs(a - b) != 3]
    assert all(
        shortest_displacement(a, b, 6, BACK) == shortest_displacement(a, b, 6) for a, b in others
    )


@pytest.mark.parametrize("radius", [1, 2, 3])
def test_a_neighbourhood_goes_round_every_edge_row_by_row(radius):
    height, width, side = 7, 8, 2 * radius + 1
    for cell in range(height * width):
        row, column = divmod(cell, width)
        down, right = np.divmod(np.arange(side**2), side)
        expected = (row + down - radius) % height * width + (column + right - radius) % width
        found = torus.neighbour(cell, np.arange(side**2), side, height, width)
        np.testing.assert_array_equal(found, expected)
    assert torus.side(side**2) == side


@compiled
def in_a_kernel(start: np.ndarray, goal: np.ndarray, height: int, width: int, ties: int):
    out = np.empty((4, start.size), np.int64)
    for i in range(start.size):
        rows, columns = torus.offset(start[i], goal[i], height, width, ties)
        out[0, i], out[1, i] = rows, columns
        out[2, i] = torus.toward(start[i], goal[i], height, width, ties)
        out[3, i] = torus.distance(start[i], goal[i], height, width)
    return out


@rules
@sizes
def test_numbers_in_a_kernel_and_arrays_outside_give_the_same(height, width, ties):
    start, goal = pairs(height, width)
    outside = (
        *torus.offset(start, goal, height, width, ties),
        torus.toward(start, goal, height, width, ties),
        torus.distance(start, goal, height, width),
    )
    np.testing.assert_array_equal(in_a_kernel(start, goal, height, width, ties), outside)
