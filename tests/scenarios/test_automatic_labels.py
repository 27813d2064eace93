"""Automatic labels at takeover, at edges and in a row, worked by hand on 6 rows and 7 columns."""

from __future__ import annotations

from typing import Any

from sts.episodes import Episode
from sts_scenarios import categories
from sts_scenarios.category import Label
from tests.scenarios.scripted import episode

NOT_DONE = Label("not_done", None)


def label(category: str, what: Episode, takeover: int = 0, **parameters: Any) -> Label:
    return categories.named(category).label(what, takeover, (0,), parameters)


def success(step: int) -> Label:
    return Label("success", step)


def failure(step: int) -> Label:
    return Label("failure", step)


# shadow-evil


def test_shadowing_succeeds_where_enough_close_frames_in_a_row_first_end() -> None:
    away = "left right right right right right"  # distances 2 1 0 1 2 3 from Evil at column 3
    what = episode(away, start=(3, 2), evil=[(3, 3)])
    assert label("shadow-evil", what, steps=3) == success(4)
    assert label("shadow-evil", what, steps=4) == NOT_DONE


def test_an_interruption_starts_the_count_anew() -> None:
    what = episode("stay left right stay stay stay", start=(3, 2), evil=[(3, 3)])
    assert label("shadow-evil", what, steps=3) == success(5)


def test_close_frames_up_to_takeover_do_not_count() -> None:
    what = episode("stay stay stay stay left", start=(3, 2), evil=[(3, 3)])
    assert label("shadow-evil", what, takeover=2, steps=2) == success(2)
    assert label("shadow-evil", what, takeover=2, steps=3) == NOT_DONE


def test_shadowed_evil_is_close_across_the_edge() -> None:
    what = episode("stay stay", start=(0, 0), evil=[(5, 6)])
    assert label("shadow-evil", what, steps=2) == success(2)


def test_more_steps_than_there_are_cannot_be_done() -> None:
    what = episode("stay stay", start=(3, 3), evil=[(3, 3)])
    assert label("shadow-evil", what, steps=9) == NOT_DONE


# evade-evil


def test_evading_evil_to_the_end_succeeds_at_the_last_step() -> None:
    assert label("evade-evil", episode("stay stay stay", evil=[(3, 3)])) == success(3)


def test_the_first_frame_next_to_evil_fails() -> None:
    what = episode("right right left", start=(3, 0), good=[(0, 0)], evil=[(3, 3)])
    assert label("evade-evil", what) == failure(2)


def test_evil_at_the_takeover_frame_does_not_count() -> None:
    what = episode("stay left left", start=(3, 2), good=[(0, 0)], evil=[(3, 3)])
    assert label("evade-evil", what, takeover=1) == success(2)


def test_evil_across_the_edge_is_close() -> None:
    what = episode("stay left", start=(0, 1), good=[(3, 3)], evil=[(5, 6)])
    assert label("evade-evil", what) == failure(2)


# catch-mate


def test_catching_succeeds_at_the_first_frame_on_one_cell() -> None:
    what = episode("right right stay right", others=[((0, 2), "")])
    assert label("catch-mate", what, target=1) == success(2)


def test_another_team_mate_is_not_the_one() -> None:
    what = episode("right right", others=[((0, 1), ""), ((0, 4), "")])
    assert label("catch-mate", what, target=1) == success(1)
    assert label("catch-mate", what, target=2) == NOT_DONE


def test_sharing_a_cell_at_takeover_does_not_count() -> None:
    what = episode("stay right right", others=[((0, 0), "")])
    assert label("catch-mate", what, takeover=1, target=1) == NOT_DONE


def test_a_team_mate_across_the_edge_is_caught_there() -> None:
    what = episode("left", others=[((0, 6), "")])
    assert label("catch-mate", what, target=1) == success(1)


# questions


def test_the_first_utterance_decides_at_the_frame_after_it() -> None:
    what = episode("stay stay stay", says=["silence", "up", "left"])
    assert label("where-is-good", what, answer="up") == success(2)
    assert label("where-is-good", what, answer="left") == failure(2)


def test_silence_to_the_end_is_not_done() -> None:
    assert label("where-is-good", episode("stay stay"), answer="up") == NOT_DONE
    assert label("when-evil", episode("stay stay"), answer="3") == NOT_DONE


def test_what_was_said_before_takeover_does_not_count() -> None:
    what = episode("stay stay stay", says=["1", "silence", "2"])
    assert label("when-evil", what, takeover=1, answer="2") == success(2)
    assert label("when-evil", what, takeover=1, answer="1") == failure(2)


def test_a_word_that_is_no_answer_fails() -> None:
    what = episode("stay", says=["more"])
    assert label("where-is-good", what, answer="up") == failure(1)


def test_good_underfoot_is_stay() -> None:
    what = episode("stay", says=["stay"])
    assert label("where-is-good", what, answer="stay") == success(1)
