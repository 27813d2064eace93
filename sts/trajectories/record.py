"""Recording: agents play new worlds, and what happens is kept."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from sts import agents
from sts.agents.facts import Facts, apart
from sts.domains import Domain, foreign
from sts.domains import domain as find_domain
from sts.engine.lockstep import play
from sts.engine.replay import verify
from sts.engine.session import Team
from sts.episodes import Episode, Instruction
from sts.errors import ArgumentError, ReplayMismatch, StsError
from sts.jobs.pool import executor
from sts.jobs.tasks import work_off
from sts.numerics.streams import stream
from sts.provenance import provenance
from sts.storage import arrow
from sts.trajectories.types import Participant, Trajectory

BATCH = 100


class Task(NamedTuple):
    """Consecutive worlds that one agent, of this fingerprint, plays in one batch.

    `first` is the number of the first of them among all episodes.
    """

    agent: str
    fingerprint: str
    domain: str
    first: int
    states: tuple[bytes, ...]
    steps: int
    seed: int


class Batch(NamedTuple):
    """Trajectories of one agent's consecutive episodes, and which the first of them is."""

    agent: str
    first: int
    trajectories: list[Trajectory]


class Failure(NamedTuple):
    """Which agent's episode was not recorded, and why."""

    agent: str
    episode: int
    error: StsError


def record_all(
    known: Mapping[str, Facts],
    *,
    domain: str,
    count: int,
    steps: int,
    seed: int,
    settings: dict[str, Any],
    workers: int,
    mention: Callable[[str, StsError], None] = lambda agent, error: None,
) -> Iterator[Batch | Failure]:
    """Yield what each of the agents makes of the same `count` worlds, a batch at a time.

    The trajectories are those of `record`, whatever the number of processes, and come in any order.
    An episode that fails costs no other, until an agent has failed too often
    (`sts.jobs.tasks.ENOUGH`).

    Args:
      known: the facts of agents, by name or `module:Class`.
      domain: whose worlds.
      count: E, at least 1.
      steps: T, at least 1.
      seed: names the worlds and the agents' streams.
      settings: passed to the domain's `generate`.
      workers: processes; 1 works in this one, unless the worlds are `foreign` or an agent a user's.
      mention: called with an agent and an error of it that was made good by another attempt.

    Raises:
      ArgumentError: nothing is asked for, the settings cannot be met, or an agent does not play
        these worlds.
      Died: the process in which the worlds were to begin has ended.
      ReplayMismatch: an agent's first episode does not replay.
    """
    if workers < 1:
        raise ArgumentError(f"expected 1 worker or more, found {workers}")
    parts = [slice(first, first + BATCH) for first in range(0, count, BATCH)]
    begin = functools.partial(begun, domain, count=count, steps=steps, seed=seed, settings=settings)
    with executor(workers, len(known) * len(parts), apart=foreign(domain)) as there:
        states = there.ask(begin)  # a world may end its process where it begins, too
        tasks = [
            Task(name, own.fingerprint, domain, part.start, tuple(states[part]), steps, seed)
            for name, own in known.items()
            for part in parts
        ]

        def told(task: Task, error: StsError) -> None:
            if not isinstance(error, ReplayMismatch):  # which is raised as soon as it is seen
                mention(task.agent, error)

        done = work_off(
            tasks,
            perform,
            parts=_singly,
            owner=_agent_of,
            there=there,
            apart=lambda task: apart(task.agent),
            mention=told,
        )
        for task, found in done:
            if isinstance(found, ReplayMismatch | ArgumentError):  # no other episode is better
                raise found
            if isinstance(found, StsError):
                for number in range(task.first, task.first + len(task.states)):
                    yield Failure(task.agent, number, found)
            else:
                yield Batch(task.agent, task.first, found)


def _agent_of(task: Task) -> str:
    return task.agent


def _singly(task: Task) -> list[Task]:
    return [
        task._replace(first=task.first + i, states=(state,)) for i, state in enumerate(task.states)
    ]


def perform(task: Task) -> list[Trajectory]:
    """Return the trajectories of a task."""
    return played(agents.planned(task.agent, task.fingerprint), task)


def record(
    agent: agents.Agent,
    *,
    domain: str,
    count: int,
    steps: int,
    seed: int,
    settings: dict[str, Any],
) -> list[Trajectory]:
    """Return the trajectories of one agent; arguments and errors as of `record_all`."""
    states = begun(domain, count=count, steps=steps, seed=seed, settings=settings)
    return played(agent, Task(agent.name, "", domain, 0, tuple(states), steps, seed))


def begun(
    domain: str, *, count: int, steps: int, seed: int, settings: dict[str, Any]
) -> list[bytes]:
    """Return the states in which `count` new worlds begin, to be played for `steps` each.

    Errors are those of `record_all`; what is too much for one file is refused, too.
    """
    if count < 1 or steps < 1:
        raise ArgumentError(f"expected at least 1 episode of 1 step, found {count} of {steps}")
    world = find_domain(domain)
    try:
        (first,) = world.generate(1, seed=seed, **settings)
    except TypeError as error:  # a keyword that it does not take
        raise ArgumentError(f"domain {domain!r} refuses its settings: {error}") from error
    size = count * (steps + 1) * world.form(first).objects
    if size > arrow.MOST:
        raise ArgumentError(
            f"{count} episodes of {steps} steps are too many for one recording; record "
            f"{max(1, count * arrow.MOST // size)} at a time, with another --seed each"
        )
    return world.generate(count, seed=seed, **settings)


def played(agent: agents.Agent, task: Task) -> list[Trajectory]:
    """Return the trajectories of a team of `agent` in the worlds of a task.

    What a world itself asks for is told from the start, and kept as a setter's instruction. The
    first episode of all is held to its replay: nothing that follows would replay otherwise.
    """
    states, seed = task.states, task.seed
    world = find_domain(task.domain)
    worlds = world.restore(states)
    roles = tuple(range(worlds.rewards.shape[1]))
    numbers = range(task.first, task.first + len(states))
    hashes = [world.world(state) for state in states]
    streams = np.array(
        [
            stream("record", own, agent.name, seed, number)
            for own, number in zip(hashes, numbers, strict=True)
        ],
        np.uint64,
    )
    asks = getattr(world, "instruction", None)
    told = [
        (Instruction(mission, world.name, given_at=0, source="setter"),)
        if asks is not None and (mission := asks(state))
        else ()
        for state in states
    ]
    moved = play(world, worlds, [Team(agent, roles, streams)], steps=task.steps, told=told)
    agents.check_unchanged(agent)
    made = provenance() | {"seed": seed, "fingerprint": agents.fingerprint(agent)}
    episodes = [
        Episode(task.domain, state, moved.moves[i], moved.says[i], moved.rewards[i], moved.scene[i])
        for i, state in enumerate(states)
    ]
    if task.first == 0:
        _check_replays(world, episodes[0])
    return [
        Trajectory(
            episode,
            tuple(Participant("agent", agent.name) for _ in roles),
            instructions=instructions,
            world=own,
            source=f"sts record {agent.name} seed {seed} episode {number}",
            provenance=made | {"index": number},
        )
        for number, own, episode, instructions in zip(numbers, hashes, episodes, told, strict=True)
    ]


def _check_replays(world: Domain, episode: Episode) -> None:
    (mismatch,) = verify(world, [episode])
    if mismatch is not None:
        raise ReplayMismatch(
            f"domain {episode.domain!r} does not replay what was recorded in it: {mismatch.what}; "
            f"sts domain check {episode.domain} says why",
            step=mismatch.step,
        )
