"""Whole episodes compiled, for the reactive behaviours under their default parameters.

They draw the very numbers that the general protocol path draws, so both give the same episodes.

Axes: B episodes, T steps, P participants, all played by one agent as a team in their own order.
"""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from sts.errors import ArgumentError
from sts.worlds.lambda_star.kernels import Arrays, Ints
from sts.worlds.lambda_star.play.loop import AGENTS, STIGMERGY, Outcome, episodes
from sts.worlds.lambda_star.play.tables import tables

__all__ = ["AGENTS", "Outcome", "play", "plays", "sums"]


def plays(name: str, radius: int) -> bool:
    """Whether agents of that name can be played here; the rest is left to the general path.

    Args:
      name: of a behaviour.
      radius: k of the neighbourhood that it sees. Behaviours that tell each other what they see
        are played at 1 alone; what the others do is the same at any.
    """
    return name in AGENTS and (radius == 1 or AGENTS.index(name) < STIGMERGY)


def play(
    name: str, worlds: Arrays, streams: NDArray[np.uint64], *, steps: int, threads: int = 1
) -> Outcome:
    """Plays `steps` steps of the agent `name` in every role, as the general path does.

    Args:
      name: one of `AGENTS`.
      worlds: B worlds; afterwards they are where the episodes ended.
      streams: uint64[B], each episode's stream of draws.
      steps: T, at least 1.
      threads: how many share the episodes; changes no result.

    Raises:
      ArgumentError: fewer than 1 thread.
    """
    out = _outcome(streams.size, steps, worlds)
    _play(name, worlds, streams, out, threads)
    return out


def sums(
    name: str, worlds: Arrays, streams: NDArray[np.uint64], *, steps: int, threads: int = 1
) -> Ints:
    """Returns int64[B, P], the sum of each participant's rewards in halves; otherwise as `play`.

    No step is recorded, so memory does not grow with the steps of all episodes.
    """
    return _play(name, worlds, streams, _outcome(0, steps, worlds), threads)


def _outcome(batch: int, steps: int, worlds: Arrays) -> Outcome:
    shape = (batch, steps, worlds.cells.shape[1])
    return Outcome(np.empty(shape, np.int8), np.empty(shape, np.int8))


def _play(
    name: str, worlds: Arrays, streams: NDArray[np.uint64], out: Outcome, threads: int
) -> Ints:
    """Shares the episodes among threads; the kernel holds no lock of Python's."""
    if threads < 1:
        raise ArgumentError(f"expected 1 thread or more, found {threads}")
    totals = np.empty(worlds.cells.shape, np.int64)
    code = AGENTS.index(name)
    part = functools.partial(episodes, worlds, streams, code, tables(), out, totals)
    if threads == 1:
        part(0, streams.size)
        return totals
    edges = np.linspace(0, streams.size, threads + 1).astype(np.int64).tolist()
    with ThreadPoolExecutor(threads) as executor:
        list(executor.map(part, edges[:-1], edges[1:]))
    return totals
