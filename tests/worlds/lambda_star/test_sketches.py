"""Sketches of Λ*: paths that lift the pen at the edges, and areas that wrap around them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sts.domains import SceneLayout
from sts.domains.sketch import Area
from sts_lambda_star.domain import AURAS
from sts_lambda_star.sketches import draw_sketch

HEIGHT, WIDTH = 4, 6
LAYOUT = SceneLayout(
    kind="drawn",
    height=HEIGHT,
    width=WIDTH,
    names=("Good", "Evil", "A", "B"),
    glyphs=("G", "E", "A", "B"),
    players=(2, 3),
    details={"auras": AURAS},
)


def scenes(*cells: tuple[int, int]) -> np.ndarray:
    """Return scenes in which player A is on these cells and nothing else moves."""
    return np.array([(8, 21, row * WIDTH + column, 0) for row, column in cells], np.uint16)


def own_lines(*cells: tuple[int, int]) -> list[tuple[tuple[float, float], ...]]:
    sketch = draw_sketch(LAYOUT, scenes(*cells), (0,))
    return [line.points for line in sketch.lines if line.tone == "own"]


def test_path_is_one_line_within_the_board():
    assert own_lines((1, 1), (2, 2), (2, 2), (2, 3)) == [
        ((1.5, 1.5), (2.5, 2.5), (2.5, 2.5), (3.5, 2.5))
    ]


def test_path_leaves_on_one_side_and_enters_on_the_other():
    assert own_lines((1, 4), (1, 5), (1, 0)) == [
        ((4.5, 1.5), (5.5, 1.5), (6.0, 1.5)),
        ((0.0, 1.5), (0.5, 1.5)),
    ]
    assert own_lines((0, 0), (3, 5)) == [((0.5, 0.5), (0.0, 0.0)), ((6.0, 4.0), (5.5, 3.5))]


@given(st.lists(st.integers(0, 8), min_size=1, max_size=30), st.integers(0, HEIGHT * WIDTH - 1))
def test_no_line_leaves_the_board_or_is_longer_than_a_step(moves, start):
    cells = [divmod(start, WIDTH)]
    for move in moves:
        row, column = cells[-1]
        cells.append(((row + move // 3 - 1) % HEIGHT, (column + move % 3 - 1) % WIDTH))
    for line in map(np.array, own_lines(*cells)):
        assert (line >= 0).all() and (line <= (WIDTH, HEIGHT)).all()
        assert np.abs(np.diff(line, axis=0)).max(initial=0) <= 1


def test_marks_are_a_ring_at_the_start_and_what_is_where_at_the_end():
    sketch = draw_sketch(LAYOUT, scenes((1, 1), (1, 2)), (0,))
    assert {(mark.tone, mark.shape, mark.x, mark.y) for mark in sketch.marks} == {
        ("own", "ring", 1.5, 1.5),
        ("own", "dot", 2.5, 1.5),
        ("gain", "dot", 2.5, 1.5),
        ("loss", "diamond", 3.5, 3.5),
        ("other", "dot", 0.5, 0.5),
    }
    assert sketch.names == {"gain": "Good", "loss": "Evil", "other": "other players"}


def test_area_beyond_an_edge_is_on_the_other_side():
    areas = draw_sketch(LAYOUT, scenes((1, 1)), (0,)).areas
    assert [area for area in areas if area.tone == "gain"] == [Area("gain", 1, 0, 3, 3)]
    assert {area for area in areas if area.tone == "loss"} == {
        Area("loss", 2, 2, 3, 2),
        Area("loss", 2, 0, 3, 1),
    }
