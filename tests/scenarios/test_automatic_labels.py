"""The eight automatic labels, worked by hand on a torus of 6 rows and 7 columns."""

from __future__ import annotations

from typing import Any

from scenarios import categories
from scenarios.category import Label
from sts.episodes import Episode
from tests.scenarios.scripted import episode

NOT_DONE = Label("not_done", None)


def label(category: str, what: Episode, takeover: int = 0, **parameters: Any) -> Label:
    return categories.named(category).label(what, takeover, (0,), parameters)


def success(step: int) -> Label:
    return Label("success", step)


def failure(step: int) -> Label:
    return Label("failure", step)


# reach-good


def test_reaching_good_succeeds_at_the_frame_on_its_cell() -> None:
    what = episode("right right right", start=(3, 0), good=[(3, 3)], evil=[(0, 0)])
    assert label("reach-good", what) == success(3)


def test_the_first_of_two_visits_to_good_counts() -> None:
    what = episode("right left right stay", start=(3, 2), good=[(3, 3)])
    assert label("reach-good", what) == success(1)


def test_being_next_to_good_is_not_reaching_it() -> None:
    assert label("reach-good", episode("stay stay", start=(3, 2), good=[(3, 3)])) == NOT_DONE


def test_good_at_the_takeover_frame_does_not_count_as_reached() -> None:
    what = episode("stay right right", start=(3, 3), good=[(3, 3)], evil=[(0, 0)])
    assert label("reach-good", what, takeover=1) == NOT_DONE


def test_a_good_that_comes_by_itself_is_reached_too() -> None:
    what = episode("stay stay", start=(2, 2), good=[(3, 3), (3, 2), (2, 2)])
    assert label("reach-good", what) == success(2)


def test_good_is_reached_across_the_edge() -> None:
    what = episode("up-left", start=(0, 0), good=[(5, 6)])
    assert label("reach-good", what) == success(1)


# follow-good


def test_following_succeeds_where_enough_close_frames_in_a_row_first_end() -> None:
    away = "left right right right right right"  # distances 2 1 0 1 2 3 from Good at column 3
    what = episode(away, start=(3, 2), good=[(3, 3)], evil=[(0, 0)])
    assert label("follow-good", what, steps=3) == success(4)
    assert label("follow-good", what, steps=4) == NOT_DONE


def test_an_interruption_starts_the_count_anew() -> None:
    what = episode("stay left right stay stay stay", start=(3, 2), good=[(3, 3)], evil=[(0, 0)])
    assert label("follow-good", what, steps=3) == success(5)


def test_close_frames_up_to_takeover_do_not_count() -> None:
    what = episode("stay stay stay stay left", start=(3, 2), good=[(3, 3)], evil=[(0, 0)])
    assert label("follow-good", what, takeover=2, steps=2) == success(2)
    assert label("follow-good", what, takeover=2, steps=3) == NOT_DONE


def test_good_across_the_edge_is_close() -> None:
    what = episode("stay stay", start=(0, 0), good=[(5, 6)])
    assert label("follow-good", what, steps=2) == success(2)


def test_more_steps_than_there_are_cannot_be_followed() -> None:
    what = episode("stay stay", start=(3, 3), good=[(3, 3)])
    assert label("follow-good", what, steps=9) == NOT_DONE


# avoid-evil


def test_avoiding_evil_to_the_end_succeeds_at_the_last_step() -> None:
    assert label("avoid-evil", episode("stay stay stay", evil=[(3, 3)])) == success(3)


def test_the_first_frame_next_to_evil_fails() -> None:
    what = episode("right right left", start=(3, 0), good=[(0, 0)], evil=[(3, 3)])
    assert label("avoid-evil", what) == failure(2)


def test_evil_at_the_takeover_frame_does_not_count() -> None:
    what = episode("stay left left", start=(3, 2), good=[(0, 0)], evil=[(3, 3)])
    assert label("avoid-evil", what, takeover=1) == success(2)


def test_evil_across_the_edge_is_close() -> None:
    what = episode("stay left", start=(0, 1), good=[(3, 3)], evil=[(5, 6)])
    assert label("avoid-evil", what) == failure(2)


# walk


def test_walking_succeeds_at_the_first_frame_that_far_away() -> None:
    what = episode("stay right right right right")
    assert label("walk", what, direction="right", cells=3) == success(4)


def test_a_detour_that_ends_there_is_a_walk_there() -> None:
    what = episode("up-right stay down-right right")
    assert label("walk", what, direction="right", cells=2) == success(3)


def test_a_diagonal_walk_moves_on_both_axes() -> None:
    what = episode("up-left left up stay")
    assert label("walk", what, direction="up-left", cells=2) == success(3)
    assert label("walk", what, direction="up-left", cells=1) == success(1)


def test_moves_before_takeover_are_no_part_of_the_walk() -> None:
    what = episode("down down down stay")
    assert label("walk", what, takeover=2, direction="down", cells=2) == NOT_DONE
    assert label("walk", what, takeover=2, direction="down", cells=1) == success(1)


def test_the_same_cell_the_other_way_round_the_torus_is_not_the_walk() -> None:
    what = episode("left left left left left")  # on 7 columns the cell that "2 right" leads to
    assert label("walk", what, direction="right", cells=2) == NOT_DONE
    assert label("walk", what, direction="left", cells=5) == success(5)


# stand-still


def test_standing_still_to_the_end_succeeds_at_the_last_step() -> None:
    assert label("stand-still", episode("right stay stay stay"), takeover=1) == success(3)


def test_the_first_step_off_the_cell_fails() -> None:
    assert label("stand-still", episode("stay right left stay")) == failure(2)


def test_coming_back_does_not_mend_having_left() -> None:
    assert label("stand-still", episode("right right left stay"), takeover=1) == failure(1)


# join-teammate


def test_joining_succeeds_at_the_first_frame_on_one_cell() -> None:
    what = episode("right right stay right", others=[((0, 2), "")])
    assert label("join-teammate", what, target=1) == success(2)


def test_another_team_mate_is_not_the_one() -> None:
    what = episode("right right", others=[((0, 1), ""), ((0, 4), "")])
    assert label("join-teammate", what, target=1) == success(1)
    assert label("join-teammate", what, target=2) == NOT_DONE


def test_sharing_a_cell_at_takeover_does_not_count() -> None:
    what = episode("stay right right", others=[((0, 0), "")])
    assert label("join-teammate", what, takeover=1, target=1) == NOT_DONE


def test_a_team_mate_across_the_edge_is_joined_there() -> None:
    what = episode("left", others=[((0, 6), "")])
    assert label("join-teammate", what, target=1) == success(1)


# questions


def test_the_first_utterance_decides_at_the_frame_after_it() -> None:
    what = episode("stay stay stay", says=["silence", "up", "left"])
    assert label("where-is-good", what, answer="up") == success(2)
    assert label("where-is-good", what, answer="left") == failure(2)


def test_silence_to_the_end_is_not_done() -> None:
    assert label("where-is-good", episode("stay stay"), answer="up") == NOT_DONE
    assert label("evil-in-sight", episode("stay stay"), answer="yes") == NOT_DONE


def test_what_was_said_before_takeover_does_not_count() -> None:
    what = episode("stay stay stay", says=["yes", "silence", "no"])
    assert label("evil-in-sight", what, takeover=1, answer="no") == success(2)
    assert label("evil-in-sight", what, takeover=1, answer="yes") == failure(2)


def test_a_word_that_is_no_answer_fails() -> None:
    what = episode("stay", says=["more"])
    assert label("evil-in-sight", what, answer="yes") == failure(1)


def test_good_underfoot_is_stay() -> None:
    what = episode("stay", says=["stay"])
    assert label("where-is-good", what, answer="stay") == success(1)
