"""Films of Λ*: whatever a frame is about is to be seen in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sts.domains import FilmAnnotations
from sts.engine.rendering import render_film
from sts.episodes import Episode
from sts_lambda_star import state as states
from sts_lambda_star.board import object_style
from tests.annotator_app.components.test_node import run_node_tests
from tests.worlds.lambda_star.examples import state

HEIGHT, WIDTH = 4, 5  # of the state by hand, where three take part beside Good and Evil
APART = [0, 7, 14, 16, 19]
CELL, MARGIN = 60, 12
TOP = MARGIN + 5
"""Pixels above a board below which nothing is written."""


def episode(*scenes: list[int], utterances: dict[tuple[int, int], int] | None = None) -> Episode:
    """An episode in which objects go where we like: Good, Evil, A, B and C on these cells."""
    nothing = np.zeros((len(scenes) - 1, 3), np.int8)
    said = nothing.copy()
    for place, token in (utterances or {}).items():
        said[place] = token
    scene = np.array(scenes, np.uint16)
    return Episode("lambda-star", states.encode(state()), nothing, said, nothing, scene)


def in_cell(frame: NDArray[np.uint8], cell: int) -> NDArray[np.uint8]:
    row, column = divmod(cell, WIDTH)
    top, left = TOP + row * CELL, MARGIN + column * CELL
    return frame[top : top + CELL, left : left + CELL]


def share(pixels: NDArray[np.uint8], colour: str) -> float:
    """Which share of pixels has a colour, but for the smoothing of edges."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
    return float((np.abs(pixels.astype(int) - rgb).max(axis=-1) < 12).mean())


def test_frames_are_of_one_size_and_equal_episodes_give_equal_pixels() -> None:
    one = episode(APART, [1, 7, 14, 16, 19], [2, 7, 14, 16, 19], utterances={(1, 2): 3})
    first, again = render_film(one, FilmAnnotations()), render_film(one, FilmAnnotations())
    assert len(first) == 3 and {frame.shape for frame in first} == {first[0].shape}
    assert first[0].dtype == np.uint8 and first[0].shape[2] == 3
    assert all((a == b).all() for a, b in zip(first, again, strict=True))


def test_each_object_stands_in_its_cell_in_its_colour() -> None:
    (frame, _) = render_film(episode(APART, APART), FilmAnnotations())
    for which in range(5):
        shown = [share(in_cell(frame, cell), object_style(which)[0]) for cell in range(20)]
        assert [cell for cell in range(20) if shown[cell] > 0.1] == [APART[which]]
    (frame, _) = render_film(episode([0, 7, 14, 14, 19], [0, 7, 14, 14, 19]), FilmAnnotations())
    shared = in_cell(frame, 14)  # two that share a cell stand on one plate
    assert share(shared, object_style(2)[0]) > 0.05 and share(shared, object_style(3)[0]) > 0.03
    assert share(shared, "#ffffff") < 0.05 < share(in_cell(frame, 18), "#ffffff")


def difference(one: Episode, focus: FilmAnnotations, other: FilmAnnotations, frame: int) -> Any:
    """In which cells two films of an episode differ at a frame."""
    a, b = render_film(one, focus)[frame], render_film(one, other)[frame]
    return {
        cell
        for cell in range(HEIGHT * WIDTH)
        if (np.abs(in_cell(a, cell).astype(int) - in_cell(b, cell)) > 40).any()
    }


def test_evaluated_player_and_marked_cells_stand_out() -> None:
    one = episode(APART, APART, APART)
    plain = FilmAnnotations(takeover=1)
    assert difference(one, plain._replace(players=(0,)), plain, 0) == {14}
    assert difference(one, plain._replace(cells=(3,)), plain, 1) == {3}
    assert difference(one, plain._replace(cells=(3,)), plain, 0) == set()  # only from takeover on
    seen = difference(one, FilmAnnotations((1,), 1, sight=True), FilmAnnotations((1,), 1), 0)
    assert {10, 11, 12, 15, 17} <= seen and not {4, 9, 16} & seen


def test_film_shows_its_step_and_its_utterances() -> None:
    one = episode(APART, APART, APART, utterances={(0, 1): 4})
    asked = FilmAnnotations(
        takeover=1, text="Follow your team-mate for five steps in a row, wherever it goes."
    )
    silent = replace(one, utterances=np.zeros_like(one.utterances))
    heard = [
        bool((a != b).any())
        for a, b in zip(
            render_film(one, FilmAnnotations()), render_film(silent, FilmAnnotations()), strict=True
        )
    ]
    assert heard == [False, True, False]  # in the scene that the step leads to
    frames = render_film(one, asked)
    assert frames[0].shape[0] > render_film(one, FilmAnnotations())[0].shape[0]
    below = [frame[-MARGIN - 25 :] for frame in frames]
    assert len({part.tobytes() for part in below}) == 3
    edges = [share(frame[:, 12:14], "#0072B2") > 0.5 for frame in frames]
    assert edges == [False, False, True]


def test_step_over_the_edge_is_drawn_at_both_sides_and_not_across() -> None:
    frame = render_film(episode([0, 7, 10, 16, 19], APART), FilmAnnotations())[1]
    plain = render_film(episode(APART, APART), FilmAnnotations())[1]
    differing = [
        cell for cell in range(10, 15) if (in_cell(frame, cell) != in_cell(plain, cell)).any()
    ]
    assert differing == [10, 14]


@pytest.mark.node
def test_board_in_the_browser_passes_its_own_tests() -> None:
    run_node_tests(str(Path(__file__).with_name("board.test.mjs")))
