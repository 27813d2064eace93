"""The labels of the sixteen categories, worked by hand on a torus of 6 rows and 7 columns."""

from __future__ import annotations

from typing import Any

import pytest

from sts.episodes import Episode
from sts_scenarios import categories
from sts_scenarios.category import Label
from tests.scenarios.scripted import episode

NOT_DONE = Label("not_done", None)
FAR = [(5, 6)]


def label(category: str, what: Episode, takeover: int = 0, **parameters: Any) -> Label:
    return categories.named(category).label(what, takeover, (0,), parameters)


def success(step: int) -> Label:
    return Label("success", step)


def failure(step: int) -> Label:
    return Label("failure", step)


def test_evading_evil_fails_at_the_first_step_beside_it() -> None:
    what = episode("stay stay stay", start=(0, 3), evil=[(3, 3), (2, 3), (1, 3)])
    assert label("evade-evil", what) == failure(2)
    assert label("evade-evil", episode("up up", start=(1, 0), evil=[(4, 3)])) == success(2)


def test_shadowing_evil_ends_where_enough_steps_in_a_row_do() -> None:
    beside = episode("stay stay stay stay", start=(3, 3), evil=[(4, 3)])
    assert label("shadow-evil", beside, steps=4) == success(4)
    left = episode("stay up down stay stay stay stay", start=(3, 3), evil=[(4, 3)])
    assert label("shadow-evil", left, steps=4) == success(6)
    assert label("shadow-evil", left, steps=6) == NOT_DONE


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ("stay stay stay", success(3)),
        ("left stay right", success(3)),
        ("left left left", failure(2)),
        ("stay right stay", failure(2)),
    ],
)
def test_keeping_beside_good_is_one_or_two_cells_away(moves: str, expected: Label) -> None:
    what = episode(moves, start=(2, 2), good=[(2, 3)], evil=FAR)
    assert label("keep-beside", what) == expected


def test_taking_good_is_clean_where_evil_was_never_near() -> None:
    past_evil = episode("right right right", start=(0, 0), good=[(0, 3)], evil=[(1, 1)])
    assert label("clean-take", past_evil) == failure(1)
    beside_evil = episode("right right", start=(0, 1), good=[(0, 3)], evil=[(1, 4)])
    assert label("clean-take", beside_evil) == failure(2)
    clean = episode("right right down", start=(0, 1), good=[(0, 3)], evil=[(3, 3)])
    assert label("clean-take", clean) == success(2)
    assert label("clean-take", episode("left", start=(0, 1), evil=[(3, 3)])) == NOT_DONE


COMES = [(5, 3), (4, 3), (3, 3), (3, 3), (3, 3), (3, 3), (3, 3), (3, 3)]


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ("stay stay up stay stay", success(3)),
        ("stay up up stay stay", failure(2)),
        ("up stay stay stay stay", failure(1)),
        ("stay stay stay stay stay", failure(4)),
        ("stay stay stay", NOT_DONE),
        ("stay", NOT_DONE),
    ],
)
def test_holding_until_evil_comes_and_leaving_in_time(moves: str, expected: Label) -> None:
    what = episode(moves, start=(2, 3), good=[(0, 0)], evil=COMES)
    assert label("hold-until-evil", what, steps=2) == expected


def test_returning_is_being_on_the_cell() -> None:
    what = episode("right down right", start=(0, 0))
    assert label("return-to-first", what, cell=8) == success(2)
    assert label("return-to-first", what, cell=0) == NOT_DONE
    assert label("return-to-first", what, takeover=1, cell=8) == success(1)


def test_good_is_found_where_it_is_one_cell_away() -> None:
    what = episode("right right right", start=(2, 0), good=[(2, 3)])
    assert label("find-good-again", what) == success(2)
    assert label("find-good-again", episode("left", start=(2, 0), good=[(2, 3)])) == NOT_DONE


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ("stay stay stay stay", success(4)),
        ("up stay stay stay", success(4)),
        ("stay up stay stay", failure(4)),
        ("stay stay stay", NOT_DONE),
        ("left left stay stay", NOT_DONE),
    ],
)
def test_an_ambush_is_standing_where_good_comes(moves: str, expected: Label) -> None:
    start = (4, 3) if "up" in moves else (3, 3)
    good = [(3, 6), (3, 6), (3, 5), (3, 4), (3, 3)]
    assert label("ambush", episode(moves, start=start, good=good, evil=FAR), steps=3) == expected


def test_stepping_onto_good_is_no_ambush() -> None:
    what = episode("stay stay stay right", start=(3, 3), good=[(3, 4)], evil=FAR)
    assert label("ambush", what, steps=3) == failure(4)


def test_following_a_mate_is_staying_beside_it_in_a_row() -> None:
    mate = ((1, 0), "right right right right")
    along = episode("right right right right", start=(0, 0), others=[mate])
    assert label("follow-mate", along, target=1, steps=4) == success(4)
    behind = episode("stay stay right right", start=(0, 0), others=[mate])
    assert label("follow-mate", behind, target=1, steps=3) == NOT_DONE


def test_staying_by_good_counts_alone_on_a_cell_only() -> None:
    mate = ((2, 1), "right left stay stay stay")
    what = episode("stay " * 5, start=(2, 2), good=[(2, 4)], evil=FAR, others=[mate])
    assert label("good-apart", what, steps=4) == success(5)
    away = episode("stay left stay stay stay", start=(2, 2), good=[(2, 4)], evil=FAR)
    assert label("good-apart", away, steps=2) == NOT_DONE


@pytest.mark.parametrize(
    "name",
    ["next-move", "last-move", "evil-from-good", "when-evil", "where-was-evil", "count-others"],
)
def test_the_first_word_answers_a_question(name: str) -> None:
    what = episode("stay stay stay", says=["silence", "4", "3"])
    assert label(name, what, answer="4") == success(2)
    assert label(name, what, answer="3") == failure(2)
    assert label(name, episode("stay"), answer="4") == NOT_DONE
