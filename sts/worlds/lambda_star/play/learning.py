"""Rehearsal: learning behaviours practise an episode before the pass that counts.

The published program lets its learners play each episode a hundred times before it tests them on
the same one. This exists in the intelligence test alone; see `Tabular` for what learners do in an
episode that is new to them.

Every pass begins where the episode begins, Good and Evil take the same paths in each, and pass k,
step t draws what step k * T + t of one long episode would. Two ways lead to the same episodes:
`play` and `sums` compile the behaviours with the world, `rehearse` takes any agent that can
`finish`.

Axes: B episodes, T steps, P participants, all played by one agent as a team in their own order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.domains import Domain, Worlds
from sts.engine import lockstep
from sts.engine.lockstep import Played, Team
from sts.errors import ArgumentError, StsError, UnknownName
from sts.worlds.lambda_star.agents.learner import BOOTSTRAPS
from sts.worlds.lambda_star.kernels import Arrays, Ints
from sts.worlds.lambda_star.play import memory, practice
from sts.worlds.lambda_star.play.fused import Outcome
from sts.worlds.lambda_star.play.practice import Plan

AGENTS = ("q-learning", "cooperative-q-learning", "sarsa", "cooperative-sarsa")
_PUBLISHED = (practice.FIRST, practice.FIRST, practice.SAME, practice.SAME)


def play(
    name: str,
    worlds: Arrays,
    streams: NDArray[np.uint64],
    *,
    steps: int,
    rehearsals: int,
    threads: int = 1,
    bootstrap: str = "next",
) -> Outcome:
    """Rehearses, then plays `steps` steps of the agent `name` in every role; records the latter.

    Args:
      name: one of `AGENTS`.
      worlds: B worlds; afterwards they are where the episodes ended.
      streams: uint64[B], each episode's stream of draws.
      steps: T, at least 1.
      rehearsals: how many passes come before; 0 gives what the general path plays.
      threads: how many share the episodes; changes nothing else.
      bootstrap: as the agents take it.

    Raises:
      UnknownName: no learning behaviour is called that.
      ArgumentError: another argument is none of these, or the tables do not fit the memory.
    """
    shape = (streams.size, steps, worlds.cells.shape[1])
    out = Outcome(np.empty(shape, np.int8), np.empty(shape, np.int8))
    _play(name, worlds, streams, out, rehearsals, threads, bootstrap)
    return out


def sums(
    name: str,
    worlds: Arrays,
    streams: NDArray[np.uint64],
    *,
    steps: int,
    rehearsals: int,
    threads: int = 1,
    bootstrap: str = "next",
) -> Ints:
    """Returns int64[B, P], the sum of each participant's rewards in halves; as `play`."""
    shape = (0, steps, worlds.cells.shape[1])
    out = Outcome(np.empty(shape, np.int8), np.empty(shape, np.int8))
    return _play(name, worlds, streams, out, rehearsals, threads, bootstrap)


def _play(
    name: str,
    worlds: Arrays,
    streams: NDArray[np.uint64],
    out: Outcome,
    rehearsals: int,
    threads: int,
    bootstrap: str,
) -> Ints:
    """Plays and records where `out` has room, that is, for no episode or for all; as `sums`."""
    totals = np.zeros(worlds.cells.shape, np.int64)
    if name not in AGENTS:
        raise UnknownName("learning behaviour", name, AGENTS)
    if rehearsals < 0:
        raise ArgumentError(f"expected 0 rehearsals or more, found {rehearsals}")
    plan = Plan(name.startswith("cooperative"), _ahead(name, bootstrap), rehearsals)
    if plan.ahead == practice.FIRST and worlds.step.any():
        raise ArgumentError(
            "bootstrap published values moves by the first iteration: expected worlds at step 0, "
            f"found one at step {worlds.step.max()}"
        )
    if not totals.size:
        return totals
    steps, participants = out.moves.shape[1], out.moves.shape[2]
    check(
        name,
        height=int(worlds.size[:, 0].max()),
        width=int(worlds.size[:, 1].max()),
        participants=participants,
        steps=steps,
        threads=threads,
    )
    work = functools.partial(practice.episodes, worlds, streams, plan, *out, totals)
    edges = np.linspace(0, streams.size, threads + 1).astype(np.int64).tolist()
    if threads == 1:
        work(*edges)
    else:
        with ThreadPoolExecutor(threads) as executor:
            list(executor.map(work, edges[:-1], edges[1:]))
    return totals


def _ahead(name: str, bootstrap: str) -> int:
    if bootstrap not in BOOTSTRAPS:
        raise ArgumentError(f"expected bootstrap next or published, found {bootstrap!r}")
    return practice.NEXT if bootstrap == "next" else _PUBLISHED[AGENTS.index(name)]


def check(
    name: str, *, height: int, width: int, participants: int, steps: int, threads: int
) -> None:
    """Raises ArgumentError when the tables do not fit the memory that there is; says what to lower.

    Args:
      name: one of `AGENTS`.
      height: the largest grid's rows.
      width: its columns.
      participants: P; every learner of a thread takes its turn at one table, so they need no more.
      steps: T.
      threads: how many work at once; processes count alike.
    """
    if threads < 1:
        raise ArgumentError(f"expected 1 thread or more, found {threads}")
    cells = height * width
    needed = threads * cells * (steps * practice.STATE_BYTES + practice.CELL_BYTES)
    memory.check(
        name,
        needed,
        f"{height}x{width} cells, {steps} steps and {threads} at once",
        "the size, the steps or the workers",
    )


def rehearse(
    domain: Domain,
    fresh: Callable[[], Worlds],
    teams: Sequence[Team],
    *,
    steps: int,
    rehearsals: int,
    watch: Callable[[int, Worlds], None] | None = None,
) -> Played:
    """Returns the pass that counts, after the teams' learners have rehearsed its episodes together.

    Agents that cannot `finish` play along and begin every pass anew; where none can, nothing is
    rehearsed. Learners go on learning in the pass that counts, which none of its choices shows: a
    state is met once in a pass.

    Args:
      domain: whose worlds they are.
      fresh: returns the worlds at the start of their episodes, each time anew.
      teams: as `lockstep.play` takes them, without memories.
      steps: T.
      rehearsals: how many passes come before.
      watch: called in the pass that counts; as `lockstep.play` calls it.

    Raises:
      StsError: an agent failed; names it.
    """
    if not any(_finishes(team.agent) for team in teams):
        rehearsals = 0
    for k in range(rehearsals):
        worlds = fresh()
        memories = lockstep.play(domain, worlds, teams, steps=steps).memories
        teams = [
            team._replace(memory=_finished(team, worlds, kept), since=(k + 1) * steps)
            for team, kept in zip(teams, memories, strict=True)
        ]
    return lockstep.play(domain, fresh(), teams, steps=steps, watch=watch)


def _finishes(agent: Any) -> bool:
    return callable(getattr(agent, "finish", None))


def _finished(
    team: Team, worlds: Worlds, kept: dict[str, NDArray[Any]]
) -> dict[str, NDArray[Any]] | None:
    """Returns what a learner goes on with; whatever it raises becomes one line."""
    agent: Any = team.agent
    if not _finishes(agent):
        return None
    seen = worlds.observe(team.roles, team=team.roles, world=agent.sees == "world")
    try:
        memory: dict[str, NDArray[Any]] = agent.finish(seen, kept)
    except Exception as error:
        raise StsError(
            f"agent {agent.name!r} failed to finish: {type(error).__name__}: {error}"
        ) from error
    return memory
