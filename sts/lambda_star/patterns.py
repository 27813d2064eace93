"""New worlds: where everything starts, and the paths of Good and Evil, by their complexity.

`paper` follows Chmait et al. 2016, sections 4.2 and 5.1: patterns of moves, a recurrent segment of
1 to half the horizon, Good's and Evil's different and equally complex, K drawn over a wished range.
`lambdastar-2016` follows the published program: a walk of n to 2n - 1 cells there and back, and
Evil on Good's path shifted by a constant.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from sts.compiled import compiled
from sts.draws import below, stream
from sts.errors import ArgumentError
from sts.lambda_star.kernels import Ints, lz76, moved
from sts.lambda_star.state import MOST_PARTICIPANTS, State

PATTERNS = ("paper", "lambdastar-2016")
COMPLEXITY = (2, 23)
_SAMPLE = 20_000
_OFTEN = 2


class Settings(NamedTuple):
    """What a new world is made to; `complexity` is the range of K, both ends included."""

    height: int = 10
    width: int = 10
    participants: int = 1
    horizon: int = 50
    complexity: tuple[int, int] | None = None
    patterns: str = "paper"
    radius: int = 1


def check(settings: Settings) -> None:
    """Raises ArgumentError where no world can be made to `settings`; says what can."""
    s = settings
    if not (3 <= s.height <= 255 and 3 <= s.width <= 255):
        raise ArgumentError(f"expected sides from 3 to 255, found {s.height}x{s.width}")
    if not 1 <= s.participants <= min(MOST_PARTICIPANTS, s.height * s.width):
        most = min(MOST_PARTICIPANTS, s.height * s.width)
        raise ArgumentError(f"expected a team of 1 to {most} here, found {s.participants}")
    if not 2 <= s.horizon <= 100_000:
        raise ArgumentError(f"expected 2 to 100000 steps, found {s.horizon}")
    if s.radius < 1 or 2 * s.radius + 1 > min(s.height, s.width):
        raise ArgumentError(f"a radius of {s.radius} does not fit a {s.height}x{s.width} grid")
    if s.patterns not in PATTERNS:
        raise ArgumentError(f"expected patterns {' or '.join(PATTERNS)}, found {s.patterns!r}")
    if s.patterns == "lambdastar-2016" and s.height != s.width:
        raise ArgumentError("lambdastar-2016 worlds are square; give both sides the same size")
    if s.complexity is not None and not 1 <= s.complexity[0] <= s.complexity[1]:
        low, high = s.complexity
        raise ArgumentError(f"expected a complexity range of 1 or more, found {low} to {high}")


@compiled
def _segment(key: int | np.uint64, first: int, out: Ints) -> int:
    """Writes a random segment of moves to `out`; returns its length, 1 to `out.size`."""
    length = 1 + below(key, first, out.size)
    for i in range(length):
        out[i] = below(key, first + 1 + i, 9)
    return length


@compiled
def _path(segment: Ints, length: int, start: int, height: int, width: int, out: Ints) -> None:
    """Writes the cells intended over the horizon, which is `out.size`."""
    cell = start
    for t in range(out.size):
        cell = moved(cell, segment[t % length], height, width)
        out[t] = cell


@compiled
def _search(
    key: int | np.uint64,
    start: int,
    wanted: int,
    height: int,
    width: int,
    segment: Ints,
    cells: Ints,
) -> int:
    """Draws segments until the intended cells have K = `wanted`; returns the segment's length."""
    attempt = 0
    while True:
        length = _segment(key, attempt * (segment.size + 1), segment)
        _path(segment, length, start, height, width, cells)
        if lz76(cells) == wanted:
            return length
        attempt += 1


def complexity(state: State) -> tuple[int, int]:
    """Returns K of Good's and of Evil's intended cells over the horizon, from the state's cursors.

    Source: Chmait et al. 2016, section 4.2; K is the LZ76 count.
    """
    counts = []
    for cell, pattern, cursor in (
        (state.good, state.good_pattern, state.good_cursor),
        (state.evil, state.evil_pattern, state.evil_cursor),
    ):
        turned = np.array(pattern[cursor:] + pattern[:cursor], np.int64)
        cells = np.resize(turned, state.horizon)
        if state.kind == "moves":
            _path(turned, turned.size, cell, state.height, state.width, cells)
        counts.append(lz76(cells))
    return counts[0], counts[1]


def _distinct(key: np.uint64, counter: int, count: int, cells: int) -> tuple[list[int], int]:
    """Returns `count` different cells in random order, and the counter after them."""
    chosen: dict[int, None] = {}
    while len(chosen) < count:
        chosen[int(below(key, counter, cells))] = None
        counter += 1
    return list(chosen), counter


def generate(settings: Settings, *, seed: int, index: int) -> State:
    """Returns the world that (settings, seed, index) names.

    Raises:
      ArgumentError: the settings cannot be met; for a complexity range, says what was reachable.
    """
    check(settings)
    s = settings
    low, high = drawn_range(s)
    key = stream("lambda-star world", s.patterns, *map(int, s[:4]), low, high, seed, index)
    objects, counter = _distinct(key, 0, 2, s.height * s.width)
    people, counter = _distinct(key, counter, s.participants, s.height * s.width)
    if s.patterns == "paper":
        wanted = low + int(below(key, counter, high - low + 1))
        good = _pattern(s, stream("good", int(key)), objects[0], wanted)
        evil = _pattern(s, stream("evil", int(key)), objects[1], wanted)
        kind = "moves"
    else:
        good, evil = _there_and_back(s, key, counter)
        objects, kind = [good[0], evil[0]], "cells"
    return State(
        height=s.height,
        width=s.width,
        radius=s.radius,
        kind=kind,
        good=objects[0],
        evil=objects[1],
        good_pattern=good,
        evil_pattern=evil,
        good_cursor=0 if kind == "moves" else 1,
        evil_cursor=0 if kind == "moves" else 1,
        step=0,
        horizon=s.horizon,
        seed=int(stream("clash", int(key))),
        counter=0,
        cells=tuple(people),
        moves=(-1,) * s.participants,
        says=(0,) * s.participants,
        rewards=(0,) * s.participants,
    )


def _pattern(s: Settings, key: np.uint64, start: int, wanted: int) -> tuple[int, ...]:
    segment = np.empty(s.horizon // 2, np.int64)
    length = _search(key, start, wanted, s.height, s.width, segment, np.empty(s.horizon, np.int64))
    return tuple(segment[:length].tolist())


def drawn_range(s: Settings) -> tuple[int, int]:
    """Returns the range of K to draw from; by default as much of [2, 23] as can be drawn."""
    least, most = reachable(s.height, s.width, s.horizon)
    low, high = s.complexity or (max(least, COMPLEXITY[0]), min(most, COMPLEXITY[1]))
    if s.patterns == "paper" and not least <= low <= high <= most:
        raise ArgumentError(
            f"complexity {low} to {high} cannot be drawn over {s.horizon} steps on a "
            f"{s.height}x{s.width} grid; {least} to {most} can"
        )
    return low, high


@functools.cache
def reachable(height: int, width: int, horizon: int) -> tuple[int, int]:
    """Returns the widest range of K whose every value random patterns meet often enough to draw."""
    counts = np.zeros(horizon + 1, np.int64)
    _census(stream("reachable", height, width, horizon), height, width, horizon, counts)
    often = counts >= _OFTEN
    low = high = int(np.argmax(often))
    while high < horizon and often[high + 1]:
        high += 1
    return low, high


@compiled
def _census(key: int | np.uint64, height: int, width: int, horizon: int, counts: Ints) -> None:
    """Counts the K of many random patterns."""
    segment, cells = np.empty(horizon // 2, np.int64), np.empty(horizon, np.int64)
    for attempt in range(_SAMPLE):
        length = _segment(key, attempt * (segment.size + 1), segment)
        _path(segment, length, 0, height, width, cells)
        counts[lz76(cells)] += 1


def _there_and_back(
    s: Settings, key: np.uint64, counter: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns Good's and Evil's paths as the published program makes them."""
    n, cells = s.width, s.width * s.width
    cell = int(below(key, counter, cells))
    length = n + int(below(key, counter + 1, n))
    segment = []
    for i in range(length):
        cell = int(moved(cell, int(below(key, counter + 2 + i, 9)), n, n))
        segment.append(cell)
    cycle = segment + segment[::-1]
    path = [cycle[t % len(cycle)] for t in range(s.horizon + 10)]
    return tuple(path), tuple((g + cells // 3 + 1) % cells for g in path)
