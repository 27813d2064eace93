"""What probes expect of what they see, worked by hand on a torus of 6 rows and 7 columns."""

from __future__ import annotations

import numpy as np
import pytest

from sts_scenarios.categories.lambda_star import prospects
from sts_scenarios.categories.lambda_star.prospects import HIDDEN

SIZE = (6, 7)
NOBODY = np.full(8, 5 * 7 + 6)


def at(*places: tuple[int, int] | None) -> np.ndarray:
    return np.array([HIDDEN if place is None else place[0] * 7 + place[1] for place in places])


def expected(cells: np.ndarray, me: np.ndarray = NOBODY) -> dict[tuple[int, int], float]:
    chance = prospects.cell_probabilities(cells, me[: len(cells)], *SIZE)
    assert chance.sum() == pytest.approx(1)
    return {divmod(int(cell), 7): float(chance[cell]) for cell in np.flatnonzero(chance)}


def test_what_was_never_seen_may_be_anywhere() -> None:
    assert [*expected(at(None, None)).values()] == pytest.approx([1 / 42] * 42)


def test_what_repeats_its_moves_goes_on_so_while_it_is_out_of_sight() -> None:
    seen = at((2, 0), (2, 1), (3, 1), (3, 2), (4, 2))
    assert expected(seen) == {(4, 3): 1}
    assert expected(np.append(seen, HIDDEN)) == {(5, 3): 1}


def test_without_a_period_what_it_did_is_as_likely_as_it_did_it_often() -> None:
    likely = expected(at((2, 0), (2, 1), (2, 2), (3, 2)))
    assert likely == {(3, 3): pytest.approx(2 / 3), (4, 2): pytest.approx(1 / 3)}


def test_it_is_not_where_it_would_have_been_seen() -> None:
    seen, me = at((2, 0), (2, 1), (2, 2), (3, 2), None), at(*[(5, 6)] * 4, (5, 2))
    assert expected(seen, me).keys() == {(3, 4), (4, 3)}


@pytest.mark.parametrize(
    ("moves", "length"),
    [
        ([5, 7, 5, 7], 2),
        ([3, 5, 7, 7, 5, 7, 7], 3),
        ([5] * 8, 0),
        ([5, 7, 5], 0),
        ([5, HIDDEN, 5, 7], 0),
    ],
)
def test_a_period_was_seen_twice_and_is_no_single_move(moves: list[int], length: int) -> None:
    assert prospects.shortest_period(np.array(moves)) == length


def test_how_near_a_move_leads_is_by_chance() -> None:
    chance = np.zeros(42)
    chance[at((2, 2), (2, 5))] = 0.75, 0.25
    near = prospects.distance_probabilities(chance, 2 * 7 + 1, *SIZE, 2)
    right, stay = 5, 4
    assert near[:, right].tolist() == [0.75, 0.75, 0.75, 0.75]
    assert near[:3, stay].tolist() == [0, 0.75, 0.75]
    assert near[3, stay] == pytest.approx(0.75 * 1 + 0.25 * 3)


def test_near_cells_are_counted_across_the_edges() -> None:
    assert prospects.cells_within(at((0, 6), (3, 3), (1, 0)), 0, *SIZE, 1).tolist() == [6, 7]
