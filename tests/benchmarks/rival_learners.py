"""Q-learning rehearsed on an episode, written plainly with NumPy and in pure Python.

Both draw the numbers that the engine draws and keep a value for every move in every state, so that
both give the rewards that ours gives.
"""

from __future__ import annotations

import copy
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from sts.worlds.lambda_star.agents.table import ALPHA, GAMMA, INITIAL_VALUE
from sts.worlds.lambda_star.state import State
from tests.benchmarks.rivals import Plain, Stacked, picked, uniform, uniforms


def with_numpy(
    worlds: Stacked, streams: NDArray[np.uint64], steps: int, rehearsals: int
) -> NDArray[np.int64]:
    """Return int64[B, P], what each participant receives after rehearsing, in halves."""
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
            moves = picked(here == here.max(-1, keepdims=True), u)
            rewards = world.advance(moves)
            if k == rehearsals:
                total += rewards
                continue
            there = world.people @ (width, 1)
            ahead = values[t + 1, b, p, there].max(-1) if t + 1 < steps else 0.0
            old = values[t, b, p, cell, moves]
            values[t, b, p, cell, moves] = old + ALPHA * (0.5 * rewards + GAMMA * ahead - old)
    return total


def in_python(s: State, stream: int, steps: int, rehearsals: int) -> list[int]:
    """Return what each participant of one episode receives after rehearsing, in halves."""
    people = len(s.cells)
    total = [0] * people
    values: dict[tuple[int, int, tuple[int, int]], list[float]] = defaultdict(
        lambda: [INITIAL_VALUE] * 9
    )
    for k in range(rehearsals + 1):
        world = Plain(s)
        for t in range(steps):
            here = [values[p, t, place] for p, place in enumerate(world.people)]
            moves = []
            for p, row in enumerate(here):
                best = [move for move in range(9) if row[move] == max(row)]
                u = uniform(stream, ((k * steps + t) * people + p) * 2)
                moves.append(best[int(u * len(best))])
            rewards = world.advance(moves)
            if k == rehearsals:
                total = [a + r for a, r in zip(total, rewards, strict=True)]
                continue
            for p, place in enumerate(world.people):
                ahead = max(values[p, t + 1, place]) if t + 1 < steps else 0.0
                old = here[p][moves[p]]
                here[p][moves[p]] = old + ALPHA * (0.5 * rewards[p] + GAMMA * ahead - old)
    return total
