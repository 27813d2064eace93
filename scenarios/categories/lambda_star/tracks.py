"""Λ* as its categories see it: who is where, how far apart, and what follows from it.

Cells are row * W + column on an H x W torus; distances are Chebyshev. In a scene Good is object 0,
Evil object 1 and participant p object 2 + p. What is one cell away or nearer is in sight.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenarios.category import Label, Word
from sts.episodes import Episode
from sts.worlds.lambda_star import torus
from sts.worlds.lambda_star.state import MOVES, TOKENS, decode
from sts.worlds.lambda_star.torus import Offset

GOOD, EVIL, FIRST = 0, 1, 2
SIGHT = 1
DOMAIN = "lambda-star"
CALLED = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
"""Numbers in words."""
Cells = NDArray[np.int64]


class Grid(NamedTuple):
    """H rows of W cells."""

    height: int
    width: int


@functools.lru_cache(maxsize=4096)
def grid(state: bytes) -> Grid:
    """Returns the grid of a serialised state."""
    found = decode(state)
    return Grid(found.height, found.width)


def offsets(start: Cells | int, end: Cells | int, size: Grid) -> Offset:
    """Returns the rows down and columns right of the shortest way from `start` to `end`.

    Where two ways are equally short, half of an even side, it is the one up or left.
    """
    return torus.offset(start, end, *size, torus.BACK)


def distances(a: Cells | int, b: Cells | int, size: Grid) -> Any:
    """Returns the toroidal Chebyshev distances between cells, an integer between two."""
    return torus.distance(a, b, *size)


def number(asked: int, every: Iterable[int]) -> Word:
    """Return the word for a number out of those that a category asks for, in digits or spelled."""
    text, *also = _spellings(asked)
    others = [word for one in every if one != asked for word in _spellings(one)]
    return Word(text, tuple(others), tuple(also))


def _spellings(number: int) -> tuple[str, ...]:
    return (str(number), *CALLED[number : number + 1])


class Track:
    """One participant in an episode of T steps; every array has a row a frame, T + 1.

    Attributes:
      size: the grid.
      role: the participant.
      moves: int8[T], its moves.
      me: its cell.
      good: Good's cell.
      evil: Evil's cell.
      to_good: the distance to Good.
      to_evil: the distance to Evil.
    """

    def __init__(self, episode: Episode, role: int) -> None:
        """Reads participant `role` of `episode`."""
        scene = episode.scene.astype(np.int64)
        self.size = grid(episode.state)
        self.role = role
        self.moves = episode.moves[:, role]
        self.me, self.good, self.evil = scene[:, FIRST + role], scene[:, GOOD], scene[:, EVIL]
        self.to_good = distances(self.me, self.good, self.size)
        self.to_evil = distances(self.me, self.evil, self.size)


def moments(episode: Episode, context: int, horizon: int) -> Iterator[tuple[Track, int]]:
    """Yields every participant's track with every step that leaves room on both sides."""
    for role in range(episode.participants):
        track = Track(episode, role)
        for moment in range(context, episode.steps - horizon + 1):
            yield track, moment


def ago(distance: Cells, moment: int, context: int) -> int | None:
    """Returns how many frames before `moment` something was last in sight; None if not in context.

    0 says that it is in sight at `moment`.
    """
    seen = np.flatnonzero(distance[moment - context : moment + 1][::-1] <= SIGHT)
    return int(seen[0]) if seen.size else None


def first(hits: NDArray[np.bool_]) -> int | None:
    """Returns the step, from 1, of the first hit; None if there is none."""
    return int(np.argmax(hits)) + 1 if hits.any() else None


def once(hits: NDArray[np.bool_]) -> Label:
    """Returns success at the first hit, or not_done."""
    step = first(hits)
    return Label("not_done", None) if step is None else Label("success", step)


def in_a_row(hits: NDArray[np.bool_], count: int) -> NDArray[np.bool_]:
    """Returns where `count` consecutive hits end."""
    total = np.concatenate(([0], np.cumsum(hits)))
    out = np.zeros(len(hits), np.bool_)
    out[count - 1 :] = total[count:] - total[:-count] == count
    return out


def never(misses: NDArray[np.bool_]) -> Label:
    """Returns failure at the first miss, or success at the last step."""
    step = first(misses)
    return Label("success", len(misses)) if step is None else Label("failure", step)


def said(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Labels a question: the first utterance after takeover decides; silence is not_done."""
    says = episode.says[takeover:, roles[0]]
    step = first(says != 0)
    if step is None:
        return Label("not_done", None)
    right = TOKENS[says[step - 1]] == parameters["answer"]
    return Label("success" if right else "failure", step)


def direction(track: Track, frame: int) -> str:
    """Returns the move from the participant to Good, who is in sight at `frame`."""
    return MOVES[torus.step(offsets(track.me[frame], track.good[frame], track.size))]


def between(start: int, end: int, size: Grid) -> str | None:
    """Returns the direction from one cell to another.

    None if it is neither straight nor diagonal, or two directions are equally short.
    """
    rows, columns = offsets(start, end, size)
    oblique = rows and columns and abs(rows) != abs(columns)
    if oblique or 2 * abs(rows) == size.height or 2 * abs(columns) == size.width:
        return None
    return MOVES[torus.step(torus.Offset(rows, columns))]


def across_edge(size: Grid, a: int, b: int) -> bool:
    """Says whether two cells next to each other, or one and the same, lie at opposite edges."""
    rows = abs(a // size.width - b // size.width)
    columns = abs(a % size.width - b % size.width)
    return max(rows, columns) > SIGHT
