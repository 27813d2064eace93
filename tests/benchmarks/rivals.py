"""The same episodes written plainly with NumPy and in pure Python, to be measured against.

Both draw the numbers that the engine draws, so that all ways give the same rewards. Rewards are in
halves. Q-learning keeps a value for every move in every state.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts_lambda_star.agents.value_table import ALPHA, GAMMA, INITIAL_VALUE
from sts_lambda_star.state import State

NAMES = ("random", "local-search", "bidding")
AROUND = np.stack(np.divmod(np.arange(9), 3), -1) - 1
STAY = 4
_GOLDEN, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_MASK = 2**64 - 1
_NO_BID = -3
_DRAWS = {"bidding": 3}

Place = tuple[int, int]


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


def uniforms(streams: NDArray[np.uint64], counters: NDArray[Any]) -> NDArray[np.float64]:
    """Return float64[B, P]: each episode's draws number `counters`, int[P]."""
    words = _words(streams[:, None], counters) >> np.uint64(11)
    return words.astype(np.float64) * 2.0**-53


def uniform(stream: int, counter: int) -> float:
    return (_word(stream, counter) >> 11) * 2.0**-53


def picked(among: NDArray[np.bool_], u: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return which of the true entries of the last axis `u` picks."""
    chosen = (u * among.sum(-1)).astype(np.int64)
    return (among.cumsum(-1) > chosen[..., None]).argmax(-1)


class Stacked:
    """B worlds of one size and of move patterns; a step is a few array operations."""

    def __init__(self, states: Sequence[State]) -> None:
        self.size = np.array([states[0].height, states[0].width])
        self.people = np.stack([self._places(s.cells) for s in states])
        self.objects = np.stack([self._places((s.good, s.evil)) for s in states])
        pairs = [(s.good_pattern, s.evil_pattern) for s in states]
        self.length = np.array([[len(p) for p in pair] for pair in pairs])
        self.patterns = np.zeros((len(states), 2, self.length.max()), np.int64)
        for b, pair in enumerate(pairs):
            for i, p in enumerate(pair):
                self.patterns[b, i, : len(p)] = p
        self.seed = np.array([s.seed for s in states], np.uint64)
        self.counter = np.zeros(len(states), np.int64)
        self.step = 0

    def _places(self, cells: Any) -> NDArray[np.int64]:
        return np.stack(np.divmod(np.array(cells), self.size[1]), -1)

    def move_places(
        self, places: NDArray[np.int64], actions: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return places [..., 2] one move on."""
        return (places + AROUND[actions]) % self.size

    def get_visible_rewards(self) -> NDArray[np.int64]:
        """Return the rewards that players see, int64[B, P, 9]."""
        return self.rewards((self.people[:, :, None] + AROUND) % self.size)

    def rewards(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rewards at places [B, ..., 2]."""
        shape = (len(places), *(1,) * (places.ndim - 2), 2)
        total = np.zeros(places.shape[:-1], np.int64)
        for sign, which in ((1, 0), (-1, 1)):
            gap = abs(places - self.objects[:, which].reshape(shape))
            away = np.minimum(gap, self.size - gap).max(-1)
            total += sign * np.where(away < 2, 2 - away, 0)
        return total

    def advance(self, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Move all on by one step; return the rewards."""
        self.people = self.move_places(self.people, actions)
        entries = np.take_along_axis(self.patterns, (self.step % self.length)[..., None], 2)[..., 0]
        going = self.move_places(self.objects, entries)
        clash = (going[:, 0] == going[:, 1]).all(-1)
        held = (going == self.objects).all(-1).any(-1)
        coin = (_words(self.seed, self.counter) & np.uint64(1)).astype(np.int64)
        self.counter = self.counter + (clash & ~held)
        for which in (0, 1):
            stays = clash & (held | (coin != which))
            going[stays, which] = self.objects[stays, which]
        self.objects = going
        self.step += 1
        return self.rewards(self.people)

    def toward(self, goals: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return each player's first move of a shortest way."""
        way, size = goals - self.people, self.size
        way = np.where(2 * way > size, way - size, np.where(-2 * way > size, way + size, way))
        rows, columns = np.moveaxis(np.sign(way), -1, 0)
        return 3 * rows + columns + STAY


def with_numpy(
    name: str, worlds: Stacked, streams: NDArray[np.uint64], steps: int
) -> NDArray[np.int64]:
    """Return what each player receives in all, int64[B, P]."""
    batch, people = worlds.people.shape[:2]
    total = np.zeros((batch, people), np.int64)
    bid, target = np.full(batch, _NO_BID), np.zeros((batch, 2), np.int64)
    for t in range(steps):
        first = (t * people + np.arange(people)) * _DRAWS.get(name, 2)
        if name == "random":
            actions = (uniforms(streams, first) * 9).astype(np.int64)
        elif name == "local-search":
            seen = worlds.get_visible_rewards()
            actions = picked(seen == seen.max(-1, keepdims=True), uniforms(streams, first))
        else:
            seen = worlds.get_visible_rewards()
            highest = seen.max(-1)
            best = picked(seen == highest[..., None], uniforms(streams, first + 2))
            wished = worlds.move_places(worlds.people, best)
            for p in range(people):
                wins = highest[:, p] >= bid
                bid = np.where(wins, highest[:, p], bid)
                target = np.where(wins[:, None], wished[:, p], target)
            actions = worlds.toward(target[:, None])
        total += worlds.advance(actions)
    return total


class Plain:
    """One world in pure Python."""

    def __init__(self, s: State) -> None:
        self.height, self.width = s.height, s.width
        self.people = [divmod(c, s.width) for c in s.cells]
        self.objects = [divmod(s.good, s.width), divmod(s.evil, s.width)]
        self.patterns = (s.good_pattern, s.evil_pattern)
        self.seed, self.counter, self.step = s.seed, 0, 0

    def move_place(self, place: Place, move: int) -> Place:
        row, column = place[0] + move // 3 - 1, place[1] + move % 3 - 1
        return row % self.height, column % self.width

    def reward(self, place: Place) -> int:
        total = 0
        for sign, other in zip((1, -1), self.objects, strict=True):
            rows, columns = abs(place[0] - other[0]), abs(place[1] - other[1])
            away = max(min(rows, self.height - rows), min(columns, self.width - columns))
            total += sign * max(2 - away, 0)
        return total

    def best(self, place: Place) -> tuple[int, list[int]]:
        """Return the highest reward that a move from `place` meets, and those moves."""
        seen = [self.reward(self.move_place(place, move)) for move in range(9)]
        highest = max(seen)
        return highest, [move for move in range(9) if seen[move] == highest]

    def toward(self, place: Place, goal: Place) -> int:
        """Return the first move of a shortest way."""
        signs = []
        for here, there, size in zip(place, goal, (self.height, self.width), strict=True):
            way = there - here
            way = way - size if 2 * way > size else way + size if -2 * way > size else way
            signs.append((way > 0) - (way < 0))
        return 3 * signs[0] + signs[1] + STAY

    def advance(self, actions: Sequence[int]) -> list[int]:
        """Move all on by one step; return the rewards."""
        self.people = [
            self.move_place(place, m) for place, m in zip(self.people, actions, strict=True)
        ]
        going = [
            self.move_place(o, p[self.step % len(p)])
            for o, p in zip(self.objects, self.patterns, strict=True)
        ]
        if going[0] == going[1]:
            if going[0] in self.objects:
                going = self.objects
            else:
                first = _word(self.seed, self.counter) & 1 == 0
                going = [going[0], self.objects[1]] if first else [self.objects[0], going[1]]
                self.counter += 1
        self.objects = going
        self.step += 1
        return [self.reward(place) for place in self.people]


def in_python(name: str, s: State, stream: int, steps: int) -> list[int]:
    """Return what each player of one episode receives in all."""
    world = Plain(s)
    total = [0] * len(world.people)
    bid, target = _NO_BID, (0, 0)
    for t in range(steps):
        first, actions = t * len(total) * _DRAWS.get(name, 2), []
        for p, place in enumerate(world.people):
            if name == "random":
                actions.append(int(uniform(stream, first + 2 * p) * 9))
            elif name == "local-search":
                best = world.best(place)[1]
                actions.append(best[int(uniform(stream, first + 2 * p) * len(best))])
            else:
                own, best = world.best(place)
                if own >= bid:
                    move = best[int(uniform(stream, first + 3 * p + 2) * len(best))]
                    bid, target = own, world.move_place(place, move)
        if name == "bidding":
            actions = [world.toward(place, target) for place in world.people]
        total = [a + b for a, b in zip(total, world.advance(actions), strict=True)]
    return total


def learn_with_numpy(
    worlds: Stacked, streams: NDArray[np.uint64], steps: int, rehearsals: int
) -> NDArray[np.int64]:
    """Return what each player receives after rehearsing, int64[B, P]."""
    batch, people = worlds.people.shape[:2]
    cells, width = int(worlds.size.prod()), worlds.size[1]
    values = np.full((steps, batch, people, cells, 9), INITIAL_VALUE)
    b, p = np.arange(batch)[:, None], np.arange(people)
    total = np.zeros((batch, people), np.int64)
    for k in range(rehearsals + 1):
        world = copy.copy(worlds)
        for t in range(steps):
            cell = world.people @ (width, 1)
            here = values[t, b, p, cell]
            u = uniforms(streams, ((k * steps + t) * people + p) * 2)
            actions = picked(here == here.max(-1, keepdims=True), u)
            rewards = world.advance(actions)
            if k == rehearsals:
                total += rewards
                continue
            there = world.people @ (width, 1)
            ahead = values[t + 1, b, p, there].max(-1) if t + 1 < steps else 0.0
            old = values[t, b, p, cell, actions]
            values[t, b, p, cell, actions] = old + ALPHA * (0.5 * rewards + GAMMA * ahead - old)
    return total


def learn_in_python(s: State, stream: int, steps: int, rehearsals: int) -> list[int]:
    """Return what each player of one episode receives after rehearsing."""
    people = len(s.cells)
    total = [0] * people
    values: dict[Any, list[float]] = defaultdict(lambda: [INITIAL_VALUE] * 9)
    for k in range(rehearsals + 1):
        world = Plain(s)
        for t in range(steps):
            here = [values[p, t, place] for p, place in enumerate(world.people)]
            actions = []
            for p, row in enumerate(here):
                best = [move for move in range(9) if row[move] == max(row)]
                u = uniform(stream, ((k * steps + t) * people + p) * 2)
                actions.append(best[int(u * len(best))])
            rewards = world.advance(actions)
            if k == rehearsals:
                total = [a + r for a, r in zip(total, rewards, strict=True)]
                continue
            for p, place in enumerate(world.people):
                ahead = max(values[p, t + 1, place]) if t + 1 < steps else 0.0
                old = here[p][actions[p]]
                here[p][actions[p]] = old + ALPHA * (0.5 * rewards[p] + GAMMA * ahead - old)
    return total
