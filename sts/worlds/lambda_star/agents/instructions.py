"""Reading an instruction or a question about Λ* by its keywords.

Free text in, a small value out; what no keyword speaks for is "unknown". The order of the rules
matters: a text is what the first rule that fits says it is.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Instructions
from sts.worlds.lambda_star.torus import STAY

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


@dataclass(frozen=True)
class Reading:
    """What a text asks for.

    Attributes:
      task: one of `TASKS`; "nothing" for the empty text.
      number: the first number in it, how many cells or steps; 0 where it has none.
      move: the index of the direction in it; "stay" where it has none.
    """

    task: Task
    number: int = 0
    move: int = STAY


class Readings(NamedTuple):
    """What each of B episodes has been asked for; `task` indexes `TASKS`. All int64[B]."""

    task: NDArray[np.int64]
    number: NDArray[np.int64]
    move: NDArray[np.int64]

    def asks(self, *tasks: Task) -> NDArray[np.bool_]:
        """Return bool[B, 1]: whether an episode's task is one of `tasks`."""
        asked = self.task[:, None] == np.array([TASKS.index(task) for task in tasks])
        out: NDArray[np.bool_] = asked.any(axis=1, keepdims=True)
        return out


@functools.lru_cache(maxsize=4096)
def read(text: str) -> Reading:
    """Return what `text` asks for."""
    words = re.sub(r"\s+", " ", text.lower()).strip()
    if not words:
        return Reading("nothing")
    number, move = _number(words), _move(words)
    return Reading(_task(words, number, move), number, move)


def readings(told: Instructions) -> Readings:
    """Return what each episode has been asked for so far."""
    parsed = [read(text) for text in told.texts]
    fields = ([TASKS.index(r.task), r.number, r.move] for r in parsed)
    columns = np.array(list(fields), np.int64)[told.ids]
    return Readings(columns[:, 0], columns[:, 1], columns[:, 2])


def _has(words: str, *phrases: str) -> bool:
    return any(re.search(rf"\b{phrase}\b", words) for phrase in phrases)


def _task(words: str, number: int, move: int) -> Task:
    good, evil = _has(words, "good"), _has(words, "evil")
    if _has(words, "do not move", "don't move", "stand still", "stay where you are", "hold your"):
        return "stand-still"
    if good and _has(words, "direction", "where", "which way"):
        return "where-is-good"
    if evil and "?" in words and _has(words, "see", "in sight", "next to you"):
        return "evil-in-sight"
    if evil and _has(words, "avoid", "keep away", "stay clear", "away from"):
        return "avoid-evil"
    if good and _has(words, "follow", "stay close", "keep next to", "stay next to"):
        return "follow-good"
    if _has(words, "join", "go to", "stand with") and _has(
        words, r"participant \w+", "team-?mate", "team mate"
    ):
        return "join-teammate"
    if good and _has(words, "reach", "go to", "stand on", "get onto"):
        return "reach-good"
    if number and move != STAY and _has(words, "walk", "move", "go", "head"):
        return "walk"
    return "unknown"


def _number(words: str) -> int:
    found = re.search(rf"\b(\d{{1,4}}|{'|'.join(_NUMBERS)})\b", words)
    if found is None:
        return 0
    word = found.group(1)
    return int(word) if word.isdigit() else _NUMBERS.index(word)


def _move(words: str) -> int:
    down = _has(words, "down", "downwards?") - _has(words, "up", "upwards?")
    right = _has(words, "right", "rightwards?") - _has(words, "left", "leftwards?")
    return 3 * (down + 1) + right + 1
