"""Keyword parser for instructions and questions about Λ*.

The first rule that matches a text decides its task, so the order of the rules matters; a text that
no rule matches is "unknown".
"""

import functools
import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Instructions
from sts_lambda_star.torus import STAY

Task = Literal[
    "nothing",
    "reach-good",
    "follow-good",
    "avoid-evil",
    "walk",
    "stand-still",
    "join-teammate",
    "where-is-good",
    "evil-in-sight",
    "unknown",
]
TASKS: tuple[Task, ...] = get_args(Task)
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
WORDINGS = (
    "Go to Good.",
    "Follow Good to the end.",
    "Keep away from Evil.",
    "Stand still to the end.",
    *(f"Walk three cells {way}." for way in ("up", "down", "left", "right")),
    "Go to your teammate.",
    "Where is Good?",
    "Is Evil in sight?",
)
"""Instructions and questions that agents with this parser or a larger grammar understand."""


@dataclass(frozen=True)
class ParsedText:
    """Task that a text asks for."""

    task: Task  # one of `TASKS`; "nothing" for the empty text
    number: int = 0  # the first number in the text, in cells or steps; 0 without one
    move: int = STAY  # the index of the direction in the text; "stay" without one


class ParsedInstructions(NamedTuple):
    """Readings of the instructions of B episodes; `task` indexes `TASKS`. All int64[B]."""

    task: NDArray[np.int64]
    number: NDArray[np.int64]
    move: NDArray[np.int64]

    def is_task(self, *tasks: Task) -> NDArray[np.bool_]:
        """Return bool[B, 1], True if an episode's task is one of `tasks`."""
        is_match = self.task[:, None] == np.array([TASKS.index(task) for task in tasks])
        out: NDArray[np.bool_] = is_match.any(axis=1, keepdims=True)
        return out


@functools.lru_cache(maxsize=4096)
def parse_text(text: str) -> ParsedText:
    """Parse a text by its keywords."""
    words = re.sub(r"\s+", " ", text.lower()).strip()
    if not words:
        return ParsedText("nothing")
    number, move = _parse_number(words), _parse_direction(words)
    return ParsedText(_parse_task(words, number, move), number, move)


def parse_instructions(instructions: Instructions) -> ParsedInstructions:
    """Parse the current instruction of each episode."""
    parsed = [parse_text(text) for text in instructions.texts]
    fields = ([TASKS.index(r.task), r.number, r.move] for r in parsed)
    columns = np.array(list(fields), np.int64)[instructions.ids]
    return ParsedInstructions(columns[:, 0], columns[:, 1], columns[:, 2])


def _has_phrase(words: str, *phrases: str) -> bool:
    return any(re.search(rf"\b{phrase}\b", words) for phrase in phrases)


def _parse_task(words: str, number: int, move: int) -> Task:
    good, evil = _has_phrase(words, "good"), _has_phrase(words, "evil")
    if _has_phrase(
        words, "do not move", "don't move", "stand still", "stay where you are", "hold your"
    ):
        return "stand-still"
    if good and _has_phrase(words, "direction", "where", "which way"):
        return "where-is-good"
    if evil and "?" in words and _has_phrase(words, "see", "in sight", "next to you"):
        return "evil-in-sight"
    if evil and _has_phrase(words, "avoid", "keep away", "stay clear", "away from"):
        return "avoid-evil"
    if good and _has_phrase(words, "follow", "stay close", "keep next to", "stay next to"):
        return "follow-good"
    if _has_phrase(words, "join", "go to", "stand with") and _has_phrase(
        words, r"participant \w+", "team-?mate", "team mate"
    ):
        return "join-teammate"
    if good and _has_phrase(words, "reach", "go to", "stand on", "get onto"):
        return "reach-good"
    if number and move != STAY and _has_phrase(words, "walk", "move", "go", "head"):
        return "walk"
    return "unknown"


def _parse_number(words: str) -> int:
    match = re.search(rf"\b(\d{{1,4}}|{'|'.join(_NUMBERS)})\b", words)
    if match is None:
        return 0
    word = match.group(1)
    return int(word) if word.isdigit() else _NUMBERS.index(word)


def _parse_direction(words: str) -> int:
    down = _has_phrase(words, "down", "downwards?") - _has_phrase(words, "up", "upwards?")
    right = _has_phrase(words, "right", "rightwards?") - _has_phrase(words, "left", "leftwards?")
    return 3 * (down + 1) + right + 1
