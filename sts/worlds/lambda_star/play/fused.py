"""Whole episodes compiled, for the published behaviours under their default parameters.

They draw the very numbers that the general protocol path draws, so both give the same episodes.

Axes: B episodes, T steps, P participants, all played by one agent as a team in their own order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from sts.errors import ArgumentError, UnknownName
from sts.worlds.lambda_star.agents.q_learning import CooperativeQLearning, QLearning
from sts.worlds.lambda_star.agents.sarsa import CooperativeSarsa, Sarsa
from sts.worlds.lambda_star.agents.table import FIRST
from sts.worlds.lambda_star.kernels import Arrays
from sts.worlds.lambda_star.play import loop, memory, practice
from sts.worlds.lambda_star.play.loop import AGENTS, STIGMERGY, Outcome
from sts.worlds.lambda_star.play.tables import tables

__all__ = ["AGENTS", "LEARNERS", "Outcome", "check", "play", "plays"]
_CLASSES = {c.name: c for c in (QLearning, CooperativeQLearning, Sarsa, CooperativeSarsa)}
LEARNERS = tuple(_CLASSES)


def plays(name: str, radius: int) -> bool:
    """Whether agents of that name can be played here; the rest is left to the general path.

    Args:
      name: of a behaviour.
      radius: k of the neighbourhood that it sees. Behaviours that tell each other what they see
        are played at 1 alone; what the others do is the same at any.
    """
    if name in LEARNERS:
        return True
    return name in AGENTS and (radius == 1 or AGENTS.index(name) < STIGMERGY)


def play(
    name: str,
    worlds: Arrays,
    streams: NDArray[np.uint64],
    *,
    steps: int,
    rehearsals: int = 0,
    threads: int = 1,
    bootstrap: str = "next",
    recorded: bool = True,
) -> Outcome:
    """Plays `steps` steps of the agent `name` in every role, as the general path does.

    The kernels hold no lock of Python's, so threads share the episodes.

    Args:
      name: one of `AGENTS` or `LEARNERS`.
      worlds: B worlds; afterwards they are where the episodes ended.
      streams: uint64[B], each episode's stream of draws.
      steps: T, at least 1.
      rehearsals: how many passes of learners come before the one that counts.
      threads: how many share the episodes; changes no result.
      bootstrap: as learners take it.
      recorded: False leaves the totals alone, and memory does not grow with the steps of all
        episodes.

    Raises:
      UnknownName: no behaviour that can be played here is called that.
      ArgumentError: another argument is none of these, or the tables do not fit the memory.
    """
    if threads < 1:
        raise ArgumentError(f"expected 1 thread or more, found {threads}")
    totals = np.zeros(worlds.cells.shape, np.int64)
    out = loop.room(streams.size if recorded else 0, steps, totals)
    part: Callable[[int, int], None]
    if name in AGENTS:
        code = AGENTS.index(name)
        part = functools.partial(loop.episodes, worlds, streams, code, tables(), out)
    elif name in LEARNERS:
        plan = _plan(name, worlds, rehearsals, bootstrap)
        if not totals.size:
            return out
        height, width = worlds.size.max(0).tolist()
        check(name, height=height, width=width, steps=steps, threads=threads)
        part = functools.partial(practice.episodes, worlds, streams, plan, out)
    else:
        raise UnknownName("compiled behaviour", name, (*AGENTS, *LEARNERS))
    edges = np.linspace(0, streams.size, threads + 1).astype(np.int64).tolist()
    if threads == 1:
        part(*edges)
        return out
    with ThreadPoolExecutor(threads) as executor:
        list(executor.map(part, edges[:-1], edges[1:]))
    return out


def _plan(name: str, worlds: Arrays, rehearsals: int, bootstrap: str) -> practice.Plan:
    """Returns how a learner learns in these worlds, if it can."""
    if rehearsals < 0:
        raise ArgumentError(f"expected 0 rehearsals or more, found {rehearsals}")
    learner = _CLASSES[name](bootstrap)
    if learner.ahead == FIRST and worlds.step.any():
        raise ArgumentError(
            "bootstrap published values moves by the first iteration: expected worlds at step 0, "
            f"found one at step {worlds.step.max()}"
        )
    return practice.Plan(learner.shared, learner.ahead, rehearsals)


def check(name: str, *, height: int, width: int, steps: int, threads: int) -> None:
    """Raise ArgumentError when a learner's tables do not fit the memory; say what to lower.

    Every learner of a thread takes its turn at one table, so a team needs no more.
    """
    cells = height * width
    memory.check(
        name,
        threads * cells * (steps * practice.STATE_BYTES + practice.CELL_BYTES),
        f"{height}x{width} cells, {steps} steps and {threads} at once",
        "the size, the steps or the workers",
    )
