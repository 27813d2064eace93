"""Λ* as its categories see it: who is where, how far apart, and what follows from it.

Cells are row * W + column on an H x W torus; distances are Chebyshev. In a scene Good is object 0,
Evil object 1 and participant p object 2 + p. What is one cell away or nearer is in sight. Arrays
have an axis of frames, the last, and may have others before it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.worlds.lambda_star import torus
from sts.worlds.lambda_star.state import TOKENS, decode
from sts_scenarios.categories.tried import NOT_DONE, make_label
from sts_scenarios.category import Label, Overlay, Word

GOOD, EVIL, FIRST_PLAYER = 0, 1, 2
SIGHT = 1
DOMAIN = "lambda-star"
NONE = -1
"""In place of a direction, a move or a cell: there is none."""
NEVER = 10**6
"""In place of how many frames ago something was so."""
NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
"""Numbers in words."""
Cells = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Grid(NamedTuple):
    """H rows of W cells."""

    height: int
    width: int


@functools.lru_cache(maxsize=4096)
def read_grid(state: bytes) -> Grid:
    """Return the grid of a serialised state."""
    found = decode(state)
    return Grid(found.height, found.width)


def distances(a: Cells | int, b: Cells | int, size: Grid) -> Any:
    """Return the toroidal Chebyshev distances between cells, an integer between two."""
    return torus.distance(a, b, *size)


def directions(a: Any, b: Any, size: tuple[int, int]) -> Any:
    """Return the directions between cells.

    NONE if one is neither straight nor diagonal, or two directions are equally short.
    """
    height, width = size
    rows, columns = torus.offset(a, b, height, width, torus.BACK)
    oblique = (rows != 0) & (columns != 0) & (abs(rows) != abs(columns))
    halfway = (2 * abs(rows) == height) | (2 * abs(columns) == width)
    return np.where(oblique | halfway, NONE, torus.step(torus.Offset(rows, columns)))


def number_word(asked: int, every: Iterable[int]) -> Word:
    """Return the word for a number out of those that a category asks for, in digits or spelled."""
    text, *also = _spellings(asked)
    others = [word for one in every if one != asked for word in _spellings(one)]
    return Word(text, tuple(others), tuple(also))


def _spellings(number: int) -> tuple[str, ...]:
    return (str(number), *NUMBER_WORDS[number : number + 1])


class Track:
    """One participant in F frames of an episode.

    Attributes:
      size: the grid.
      role: the participant.
      scene: int64[F, K], the cells of all objects.
      me: its cell.
      good: Good's cell.
      evil: Evil's cell.
      to_good: the distance to Good.
      to_evil: the distance to Evil.
    """

    def __init__(self, scene: Cells, size: Grid, role: int) -> None:
        """Read participant `role` of a scene."""
        self.scene, self.size, self.role = scene, size, role
        self.me, self.good, self.evil = (
            scene[:, FIRST_PLAYER + role],
            scene[:, GOOD],
            scene[:, EVIL],
        )
        self.to_good = distances(self.me, self.good, self.size)
        self.to_evil = distances(self.me, self.evil, self.size)

    def distance_to(self, other: int) -> Cells:
        """Return the distance to another participant."""
        away: Cells = distances(self.me, self.scene[:, FIRST_PLAYER + other], self.size)
        return away


def make_track(episode: Episode, role: int, frames: slice = slice(None)) -> Track:
    """Return the track of a participant of an episode, in all of its T + 1 frames or in some."""
    return Track(episode.scene[frames].astype(np.int64), read_grid(episode.state), role)


def track_until_takeover(scenario: Scenario) -> Track:
    """Return the track of who is asked in a scenario, as far as the takeover."""
    return make_track(scenario.recording, scenario.roles[0], slice(scenario.takeover + 1))


def frames_since(hits: Bools) -> Any:
    """Return how many frames ago something was last so; NEVER or more where it never was."""
    frames = np.arange(hits.shape[-1], dtype=np.int32)
    return frames - np.maximum.accumulate(np.where(hits, frames, -NEVER), axis=-1)


def frames_since_sight(away: Any) -> Any:
    """Return how many frames ago something was last in sight; NEVER or more where it never was."""
    return frames_since(away <= SIGHT)


def first_step(hits: Bools) -> Any:
    """Return the step, from 1, of the first hit; 0 where there is none."""
    if not hits.shape[-1]:
        return np.zeros(hits.shape[:-1], np.int64)
    return np.where(hits.any(-1), hits.argmax(-1) + 1, 0)


def run_ends(hits: Bools, count: int) -> Bools:
    """Return where `count` consecutive hits end."""
    total = np.cumsum(hits, axis=-1, dtype=np.int32)
    total = np.concatenate((np.zeros_like(total[..., :1]), total), axis=-1)
    out = np.zeros(hits.shape, np.bool_)
    out[..., count - 1 :] = total[..., count:] - total[..., :-count] == count
    return out


def label_first_hit(hits: Bools) -> Label:
    """Return success at the first hit, or not_done."""
    step = int(first_step(hits))
    return make_label(step, True) if step else NOT_DONE


def label_no_miss(misses: Bools) -> Label:
    """Return failure at the first miss, or success at the last step."""
    step = int(first_step(misses))
    return make_label(step or len(misses), not step)


def label_answer(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Labels a question: the first utterance after takeover decides; silence is not_done."""
    says = episode.says[takeover:, roles[0]]
    step = int(first_step(says != 0))
    return make_label(step, TOKENS[says[step - 1]] == parameters["answer"]) if step else NOT_DONE


def show_sight(scenario: Scenario) -> Overlay:
    """Return that the cells are framed that the participant sees."""
    return Overlay(sight=True)
