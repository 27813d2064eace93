"""The compiled world: one step of B worlds, and what their participants see.

Axes: B worlds, P participants, R observing roles, M = (2k+1)^2 cells of a Moore neighbourhood.
Cells are row * W + column. A move m goes (m // 3 - 1) rows down and (m % 3 - 1) columns right.
Rewards are whole numbers of halves. Nothing here allocates inside a loop, does I/O or raises.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.compiled import compiled
from sts.draws import draw

Ints = NDArray[np.int64]


class Arrays(NamedTuple):
    """B worlds as arrays. Patterns lie end to end in `patterns`; good and evil are object 0 and 1.

    Attributes:
      size: int64[B, 2], rows and columns.
      cells: int64[B, P], where each participant is.
      objects: int64[B, 2], where Good and Evil are.
      kind: int64[B], 0 for patterns of moves and 1 for patterns of cells.
      patterns: int64[sum of lengths].
      offset: int64[B, 2], where each object's pattern begins.
      length: int64[B, 2].
      cursor: int64[B, 2], the entry taken next.
      step: int64[B].
      seed: uint64[B], the world's own stream.
      counter: int64[B], how much of it has been drawn.
      moves: int8[B, P], last executed; -1 before the first step.
      says: int8[B, P], last said.
      rewards: int8[B, P], last received.
    """

    size: Ints
    cells: Ints
    objects: Ints
    kind: Ints
    patterns: Ints
    offset: Ints
    length: Ints
    cursor: Ints
    step: Ints
    seed: NDArray[np.uint64]
    counter: Ints
    moves: NDArray[np.int8]
    says: NDArray[np.int8]
    rewards: NDArray[np.int8]


@compiled
def moved(cell: int, move: int, height: int, width: int) -> int:
    """Returns the cell one `move` away on the torus."""
    row = cell // width
    column = cell - row * width + move % 3 - 1
    row += move // 3 - 1
    if row < 0:
        row += height
    elif row >= height:
        row -= height
    if column < 0:
        column += width
    elif column >= width:
        column -= width
    return row * width + column


@compiled
def gap(a: int, b: int, size: int) -> int:
    """Returns the distance of two coordinates on a ring of `size`."""
    d = a - b if a > b else b - a
    return d if d + d <= size else size - d


@compiled
def distance(a: int, b: int, height: int, width: int) -> int:
    """Returns the toroidal Chebyshev distance of two cells."""
    rows = gap(a // width, b // width, height)
    columns = gap(a % width, b % width, width)
    return rows if rows > columns else columns


@compiled
def reward(cell: int, good: int, evil: int, height: int, width: int) -> int:
    """Returns the reward at `cell` in halves: 2 / (d + 1) by Good less the same by Evil, for d < 2.

    Source: Chmait et al. 2016, section 4.1.2.
    """
    to_good = distance(cell, good, height, width)
    to_evil = distance(cell, evil, height, width)
    total = 2 if to_good == 0 else (1 if to_good == 1 else 0)
    return total - (2 if to_evil == 0 else (1 if to_evil == 1 else 0))


@compiled
def intended(a: Arrays, b: int, which: int) -> int:
    """Returns the cell that Good (0) or Evil (1) of world `b` takes next unless they clash."""
    entry = a.patterns[a.offset[b, which] + a.cursor[b, which]]
    if a.kind[b] == 1:
        return int(entry)
    return moved(a.objects[b, which], entry, a.size[b, 0], a.size[b, 1])


@compiled
def advance(a: Arrays, b: int) -> None:
    """Moves Good and Evil of world `b` on by one entry of their patterns, and its clock.

    When both intend one cell, the one already on it keeps it and the other stays where it was; if
    neither is on it, one drawn from the world's stream moves and the other stays. Both cursors
    advance in every case; changing places is allowed.

    Source: Chmait et al. 2016, section 4.1.1.
    """
    good, evil = intended(a, b, 0), intended(a, b, 1)
    if good == evil:
        if a.objects[b, 0] == good:
            evil = a.objects[b, 1]
        elif a.objects[b, 1] == evil:
            good = a.objects[b, 0]
        else:
            if draw(a.seed[b], a.counter[b]) & 1 == 0:
                evil = a.objects[b, 1]
            else:
                good = a.objects[b, 0]
            a.counter[b] += 1
    a.objects[b, 0], a.objects[b, 1] = good, evil
    for which in range(2):
        following = a.cursor[b, which] + 1
        a.cursor[b, which] = 0 if following == a.length[b, which] else following
    a.step[b] += 1


@compiled
def step(a: Arrays, moves: NDArray[np.int8], says: NDArray[np.int8]) -> None:
    """Moves B worlds on by one step: participants, Good and Evil, then rewards of the new map."""
    batch, participants = a.cells.shape
    for b in range(batch):
        height, width = a.size[b, 0], a.size[b, 1]
        for p in range(participants):
            a.cells[b, p] = moved(a.cells[b, p], moves[b, p], height, width)
            a.moves[b, p] = moves[b, p]
            a.says[b, p] = says[b, p]
        advance(a, b)
        for p in range(participants):
            a.rewards[b, p] = reward(a.cells[b, p], a.objects[b, 0], a.objects[b, 1], height, width)


class Sight(NamedTuple):
    """What R roles see; the arrays that `look` fills.

    Attributes:
      good: bool[B, R, M].
      evil: bool[B, R, M].
      team: uint8[B, R, M], how many team-mates.
      others: uint8[B, R, M], how many other participants.
      reward: int8[B, R, M], in halves.
      heard: uint8[B, R, V], how many in the neighbourhood said each token in the last step.
    """

    good: NDArray[np.bool_]
    evil: NDArray[np.bool_]
    team: NDArray[np.uint8]
    others: NDArray[np.uint8]
    reward: NDArray[np.int8]
    heard: NDArray[np.uint8]


@compiled
def look(a: Arrays, roles: Ints, in_team: NDArray[np.bool_], radius: int, out: Sight) -> None:
    """Fills `out`, which must be zero, with what `roles` (int64[R]) see within `radius`.

    Args:
      a: the worlds; 2 * radius + 1 may not exceed their sides.
      roles: the observing participants.
      in_team: bool[P], who counts as a team-mate; the observer itself never does.
      radius: k of the Moore neighbourhood.
      out: where to write.
    """
    batch, participants = a.cells.shape
    side = 2 * radius + 1
    for b in range(batch):
        height, width = a.size[b, 0], a.size[b, 1]
        good, evil = a.objects[b, 0], a.objects[b, 1]
        for i in range(roles.size):
            me = roles[i]
            own = a.cells[b, me]
            row, column = own // width, own % width
            if (
                distance(own, good, height, width) <= radius + 1
                or distance(own, evil, height, width) <= radius + 1
            ):
                for m in range(side * side):
                    y, x = row + m // side - radius, column + m % side - radius
                    y = y + height if y < 0 else (y - height if y >= height else y)
                    x = x + width if x < 0 else (x - width if x >= width else x)
                    cell = y * width + x
                    out.good[b, i, m] = cell == good
                    out.evil[b, i, m] = cell == evil
                    out.reward[b, i, m] = reward(cell, good, evil, height, width)
            for p in range(participants):
                if p == me:
                    continue
                other = a.cells[b, p]
                if distance(own, other, height, width) > radius:
                    continue
                dy, dx = other // width - row, other % width - column
                dy = dy - height if dy > radius else (dy + height if dy < -radius else dy)
                dx = dx - width if dx > radius else (dx + width if dx < -radius else dx)
                m = (dy + radius) * side + dx + radius
                if in_team[p]:
                    out.team[b, i, m] += 1
                else:
                    out.others[b, i, m] += 1
                if a.says[b, p] > 0:
                    out.heard[b, i, a.says[b, p]] += 1


@compiled
def ahead(a: Arrays, which: int) -> Ints:
    """Returns int64[B]: the cell that Good (0) or Evil (1) intends next in each world."""
    out = np.empty(a.step.size, np.int64)
    for b in range(out.size):
        out[b] = intended(a, b, which)
    return out


@compiled
def lz76(text: Ints) -> int:
    """Returns the number of components of the exhaustive Lempel-Ziv (1976) history of `text`.

    The scan of Kaspar and Schuster 1987; a text of one symbol has 1 component, an empty one 0.
    """
    n = text.size
    if n < 2:
        return n
    count, done, start, run, longest = 1, 1, 0, 1, 1
    while True:
        if text[start + run - 1] == text[done + run - 1]:
            run += 1
            if done + run > n:
                return count + 1
        else:
            longest = run if run > longest else longest
            start += 1
            run = 1
            if start == done:
                count += 1
                done += longest
                if done + 1 > n:
                    return count
                start, longest = 0, 1


def arrays(batch: int, participants: int, patterns: Ints) -> Arrays:
    """Returns zeroed arrays for `batch` worlds around `patterns`."""

    def zeros(*shape: int, dtype: Any = np.int64) -> NDArray[Any]:
        return np.zeros(shape, dtype)

    return Arrays(
        size=zeros(batch, 2),
        cells=zeros(batch, participants),
        objects=zeros(batch, 2),
        kind=zeros(batch),
        patterns=patterns,
        offset=zeros(batch, 2),
        length=zeros(batch, 2),
        cursor=zeros(batch, 2),
        step=zeros(batch),
        seed=zeros(batch, dtype=np.uint64),
        counter=zeros(batch),
        moves=np.full((batch, participants), -1, np.int8),
        says=zeros(batch, participants, dtype=np.int8),
        rewards=zeros(batch, participants, dtype=np.int8),
    )
