"""Reading instructions by keywords."""

from __future__ import annotations

import numpy as np
import pytest

from sts.agents.protocol import Instructions
from sts_lambda_star.agents.instructions import TASKS, parse_instructions, parse_text
from sts_lambda_star.state import MOVES

TEXTS = {
    "nothing": ["", "   \n"],
    "reach-good": [
        *("Reach Good.", "Go to Good.", "Please STAND ON Good at least once."),
        "Get onto Good's cell.",
    ],
    "follow-good": [
        *("Follow Good for 5 steps.", "Stay close to Good for three steps in a row."),
        "Keep next to Good for 4 steps.",
    ],
    "avoid-evil": [
        *("Avoid Evil.", "Keep away from Evil until the end.", "Stay clear of Evil."),
        "Move away from Evil, as far as three cells.",
    ],
    "walk": [
        *("Walk 3 cells up.", "Move two cells to the left.", "Head 4 cells down-right."),
        "Go five cells down and to the left, please.",
    ],
    "stand-still": [
        *("Do not move.", "Don't move!", "Stand still.", "Stay where you are."),
        "Hold your position, whatever Good does.",
    ],
    "join-teammate": [
        *("Join participant B.", "Go to participant D.", "Stand with your team-mate."),
        "Go to your teammate.",
    ],
    "where-is-good": [
        *("In which direction is Good?", "Which way is Good from you?"),
        "Where is Good? Say stay if you stand on it.",
    ],
    "evil-in-sight": ["Do you see Evil?", "Is Evil in sight?", "Is Evil next to you?"],
    "unknown": [
        *("Sing a song.", "Do good.", "Walk.", "Walk three cells.", "Goodness, an evildoer!")
    ],
}


@pytest.mark.parametrize("task", TEXTS)
def test_instruction_is_read_by_its_keywords(task):
    assert {text: parse_text(text).task for text in TEXTS[task]} == dict.fromkeys(TEXTS[task], task)


@pytest.mark.parametrize(
    ("text", "number", "move"),
    [
        ("Walk three cells up.", 3, "up"),
        ("Move ten cells to the right", 10, "right"),
        ("Head 12 cells up-left.", 12, "up-left"),
        ("Go two cells up and to the right.", 2, "up-right"),
        ("Go two cells diagonally, down and left", 2, "down-left"),
        ("Walk 1 cell downwards", 1, "down"),
        *((f"Walk 4 cells {move}.", 4, move) for move in MOVES if move != "stay"),
    ],
)
def test_walk_has_a_number_and_a_direction(text, number, move):
    assert parse_text(text) == type(parse_text(text))("walk", number, MOVES.index(move))


def test_readings_follow_the_episodes():
    texts = ("", "Reach Good.", "Walk 3 cells up.")
    found = parse_instructions(Instructions(texts, np.array([2, 0, 1, 2], np.int32)))
    assert [TASKS[t] for t in found.task] == ["walk", "nothing", "reach-good", "walk"]
    assert found.number.tolist() == [3, 0, 0, 3]
    assert found.is_task("walk", "reach-good")[:, 0].tolist() == [True, False, True, True]
