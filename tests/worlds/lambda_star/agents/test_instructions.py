"""Reading instructions by keywords."""

from __future__ import annotations

import numpy as np
import pytest

from sts.agents.protocol import Instructions
from sts.worlds.lambda_star.agents.instructions import TASKS, parse_instructions, parse_text
from sts.worlds.lambda_star.state import MOVES

TEXTS = (
    ("", "nothing"),
    ("   \n", "nothing"),
    ("Reach Good.", "reach-good"),
    ("Go to Good.", "reach-good"),
    ("Please STAND ON Good at least once.", "reach-good"),
    ("Get onto Good's cell.", "reach-good"),
    ("Follow Good for 5 steps.", "follow-good"),
    ("Stay close to Good for three steps in a row.", "follow-good"),
    ("Keep next to Good for 4 steps.", "follow-good"),
    ("Avoid Evil.", "avoid-evil"),
    ("Keep away from Evil until the end.", "avoid-evil"),
    ("Stay clear of Evil.", "avoid-evil"),
    ("Move away from Evil, as far as three cells.", "avoid-evil"),
    ("Walk 3 cells up.", "walk"),
    ("Move two cells to the left.", "walk"),
    ("Head 4 cells down-right.", "walk"),
    ("Go five cells down and to the left, please.", "walk"),
    ("Do not move.", "stand-still"),
    ("Don't move!", "stand-still"),
    ("Stand still.", "stand-still"),
    ("Stay where you are.", "stand-still"),
    ("Hold your position, whatever Good does.", "stand-still"),
    ("Join participant B.", "join-teammate"),
    ("Go to participant D.", "join-teammate"),
    ("Stand with your team-mate.", "join-teammate"),
    ("Go to your teammate.", "join-teammate"),
    ("In which direction is Good?", "where-is-good"),
    ("Where is Good? Say stay if you stand on it.", "where-is-good"),
    ("Which way is Good from you?", "where-is-good"),
    ("Do you see Evil?", "evil-in-sight"),
    ("Is Evil in sight?", "evil-in-sight"),
    ("Is Evil next to you?", "evil-in-sight"),
    ("Sing a song.", "unknown"),
    ("Do good.", "unknown"),
    ("Walk.", "unknown"),
    ("Walk three cells.", "unknown"),
    ("Goodness, an evildoer!", "unknown"),
)


@pytest.mark.parametrize(("text", "task"), TEXTS)
def test_a_text_is_read_by_its_keywords(text, task):
    assert parse_text(text).task == task


@pytest.mark.parametrize(
    ("text", "number", "move"),
    [
        ("Walk 3 cells up.", 3, "up"),
        ("Walk three cells up.", 3, "up"),
        ("Move ten cells to the right", 10, "right"),
        ("Head 12 cells up-left.", 12, "up-left"),
        ("Go two cells up and to the right.", 2, "up-right"),
        ("Go two cells diagonally, down and left", 2, "down-left"),
        ("Walk 1 cell downwards", 1, "down"),
    ],
)
def test_a_walk_has_a_number_and_a_direction(text, number, move):
    assert parse_text(text) == type(parse_text(text))("walk", number, MOVES.index(move))


@pytest.mark.parametrize("move", [move for move in MOVES if move != "stay"])
def test_every_direction_is_read(move):
    assert parse_text(f"Walk 4 cells {move}.").move == MOVES.index(move)
    assert parse_text(f"Walk 4 cells {move.replace('-', ' and ')}.").move == MOVES.index(move)


def test_readings_follow_the_episodes():
    texts = ("", "Reach Good.", "Walk 3 cells up.")
    found = parse_instructions(Instructions(texts, np.array([2, 0, 1, 2], np.int32)))
    assert [TASKS[t] for t in found.task] == ["walk", "nothing", "reach-good", "walk"]
    assert found.number.tolist() == [3, 0, 0, 3]
    assert found.asks("walk", "reach-good")[:, 0].tolist() == [True, False, True, True]
