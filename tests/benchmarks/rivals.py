"""The same episodes written plainly twice, with NumPy and in pure Python, to be measured against.

Both draw the numbers that the engine draws, so that all four ways give the same rewards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.lambda_star.state import State

_GOLDEN, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_MASK = 2**64 - 1


def _words(streams: NDArray[np.uint64], counters: NDArray[Any]) -> NDArray[np.uint64]:
    word = streams + counters.astype(np.uint64) * np.uint64(_GOLDEN)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(_FIRST)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(_SECOND)
    return word ^ (word >> np.uint64(31))


def _word(stream: int, counter: int) -> int:
    word = (stream + counter * _GOLDEN) & _MASK
    word = ((word ^ (word >> 30)) * _FIRST) & _MASK
    word = ((word ^ (word >> 27)) * _SECOND) & _MASK
    return word ^ (word >> 31)


class Stacked:
    """B worlds of one size and of move patterns; a step is a few array operations."""

    def __init__(self, states: list[State]) -> None:
        first = states[0]
        self.size = np.array([first.height, first.width])
        self.people = np.stack([self._places(s.cells) for s in states])
        self.objects = np.stack([self._places((s.good, s.evil)) for s in states])
        pairs = [(s.good_pattern, s.evil_pattern) for s in states]
        longest = max(len(p) for pair in pairs for p in pair)
        self.patterns = np.zeros((len(states), 2, longest), np.int64)
        self.length = np.array([[len(p) for p in pair] for pair in pairs])
        for b, pair in enumerate(pairs):
            for i, p in enumerate(pair):
                self.patterns[b, i, : len(p)] = p
        self.seed = np.array([s.seed for s in states], np.uint64)
        self.counter = np.zeros(len(states), np.int64)
        self.step = 0

    def _places(self, cells: Any) -> NDArray[np.int64]:
        return np.stack(np.divmod(np.array(cells), self.size[1]), -1)

    def _moved(self, places: NDArray[np.int64], moves: NDArray[np.int64]) -> NDArray[np.int64]:
        return (places + np.stack(np.divmod(moves, 3), -1) - 1) % self.size

    def rewards(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the rewards in halves at places [B, ..., 2]."""
        shape = (len(places), *(1,) * (places.ndim - 2), 2)
        total = np.zeros(places.shape[:-1], np.int64)
        for sign, which in ((1, 0), (-1, 1)):
            gap = abs(places - self.objects[:, which].reshape(shape))
            away = np.minimum(gap, self.size - gap).max(-1)
            total += sign * np.where(away < 2, 2 - away, 0)
        return total

    def advance(self, moves: NDArray[np.int64]) -> NDArray[np.int64]:
        """Moves all on by one step; returns the rewards."""
        self.people = self._moved(self.people, moves)
        entries = np.take_along_axis(self.patterns, (self.step % self.length)[..., None], 2)[..., 0]
        going = self._moved(self.objects, entries)
        clash = (going[:, 0] == going[:, 1]).all(-1)
        held = (going == self.objects).all(-1).any(-1)
        coin = (_words(self.seed, self.counter) & np.uint64(1)).astype(np.int64)
        self.counter += clash & ~held
        for which in (0, 1):
            stays = clash & (held | (coin != which))
            going[stays, which] = self.objects[stays, which]
        self.objects = going
        self.step += 1
        return self.rewards(self.people)


def with_numpy(
    name: str, worlds: Stacked, streams: NDArray[np.uint64], steps: int
) -> NDArray[np.int8]:
    """Returns int8[B, T, P], the rewards of an agent in every role."""
    batch, people = worlds.people.shape[:2]
    out = np.empty((batch, steps, people), np.int8)
    around = np.stack(np.divmod(np.arange(9), 3), -1) - 1
    for t in range(steps):
        counters = (t * people + np.arange(people)) * 2
        u = (_words(streams[:, None], counters) >> np.uint64(11)) * 2.0**-53
        if name == "random":
            moves = (u * 9).astype(np.int64)
        else:
            seen = worlds.rewards((worlds.people[:, :, None] + around) % worlds.size)
            best = seen == seen.max(-1, keepdims=True)
            chosen = (u * best.sum(-1)).astype(np.int64)
            moves = (best.cumsum(-1) > chosen[..., None]).argmax(-1)
        out[:, t] = worlds.advance(moves)
    return out


def in_python(name: str, s: State, stream: int, steps: int) -> list[list[int]]:
    """Returns the rewards [T][P] of one episode of an agent in every role."""
    height, width = s.height, s.width
    people = [divmod(c, width) for c in s.cells]
    objects = [divmod(s.good, width), divmod(s.evil, width)]
    patterns, counter, out = (s.good_pattern, s.evil_pattern), 0, []

    def moved(place: tuple[int, int], move: int) -> tuple[int, int]:
        return (place[0] + move // 3 - 1) % height, (place[1] + move % 3 - 1) % width

    def reward(place: tuple[int, int]) -> int:
        total = 0
        for sign, other in zip((1, -1), objects, strict=True):
            rows, columns = abs(place[0] - other[0]), abs(place[1] - other[1])
            away = max(min(rows, height - rows), min(columns, width - columns))
            total += sign * max(2 - away, 0)
        return total

    for t in range(steps):
        for p, place in enumerate(people):
            u = (_word(stream, (t * len(people) + p) * 2) >> 11) * 2.0**-53
            choices = list(range(9))
            if name == "local-search":
                seen = [reward(moved(place, move)) for move in choices]
                choices = [move for move in choices if seen[move] == max(seen)]
            people[p] = moved(place, choices[int(u * len(choices))])
        going = [moved(o, p[t % len(p)]) for o, p in zip(objects, patterns, strict=True)]
        if going[0] == going[1]:
            if going[0] in objects:
                going = objects
            elif _word(s.seed, counter) & 1 == 0:
                going, counter = [going[0], objects[1]], counter + 1
            else:
                going, counter = [objects[0], going[1]], counter + 1
        objects = going
        out.append([reward(place) for place in people])
    return out
