"""Recording: agents play new worlds, and their episodes become trajectories."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from sts import agents
from sts.agents.info import AgentInfo, isolation_key
from sts.domains import Domain, is_third_party, load_domain
from sts.engine.lockstep import play_episodes
from sts.engine.replay import verify
from sts.engine.session import Team
from sts.episodes import Episode, Instruction
from sts.errors import ArgumentError, ReplayMismatch, StsError
from sts.jobs.pool import create_pool
from sts.jobs.tasks import run_tasks
from sts.numerics.streams import streams
from sts.provenance import collect_provenance
from sts.storage import arrow
from sts.trajectories.trajectory import Player, Trajectory

EPISODES_PER_TASK = 100


class Task(NamedTuple):
    """Consecutive worlds that one agent, with this fingerprint, plays in one batch.

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
    """Trajectories of one agent's consecutive episodes, the first of which has this number."""

    agent: str
    first: int
    trajectories: list[Trajectory]


class Failure(NamedTuple):
    """An episode of an agent that was not recorded, and the error."""

    agent: str
    episode: int
    error: StsError


def record_all(
    infos: Mapping[str, AgentInfo],
    *,
    domain: str,
    count: int,
    steps: int,
    seed: int,
    settings: dict[str, Any],
    workers: int,
    on_recovery: Callable[[str, StsError], None] = lambda agent, error: None,
) -> Iterator[Batch | Failure]:
    """Yield batches of trajectories of each agent in the same `count` worlds.

    The trajectories are the same whatever the number of processes, and come in any order.
    An episode that fails does not stop the others, until an agent has failed too often
    (`sts.jobs.tasks.MIN_FAILURES`).

    `settings` are passed to the domain's `generate`. One worker is this process, unless the worlds
    are `is_third_party` or an agent a user's. `on_recovery` is called with an agent and an error
    that a retry recovered from.

    Raises:
      ArgumentError: no work is asked for, the settings are invalid, or an agent does not play these
        worlds.
      Died: the process that generates the worlds ended.
      ReplayMismatch: an agent's first episode does not replay.
    """
    if workers < 1:
        raise ArgumentError(f"expected 1 worker or more, found {workers}")
    parts = [
        slice(first, first + EPISODES_PER_TASK) for first in range(0, count, EPISODES_PER_TASK)
    ]
    with create_pool(workers, len(infos) * len(parts), isolated=is_third_party(domain)) as pool:
        # Generating a world may crash its process, too.
        states = pool.run_task(generate_states, domain, count, steps, seed, settings)
        tasks = [
            Task(name, facts.fingerprint, domain, part.start, tuple(states[part]), steps, seed)
            for name, facts in infos.items()
            for part in parts
        ]

        def mention_failure(task: Task, error: StsError) -> None:
            if not isinstance(error, ReplayMismatch):  # raised below
                on_recovery(task.agent, error)

        done = run_tasks(
            tasks,
            record_task,
            split=lambda task: [
                task._replace(first=task.first + i, states=(state,))
                for i, state in enumerate(task.states)
            ],
            owner=lambda task: task.agent,
            executor=pool,
            isolation_key=lambda task: isolation_key(task.agent),
            on_recovery=mention_failure,
        )
        for task, outcome in done:
            if isinstance(outcome, ReplayMismatch | ArgumentError):
                raise outcome  # other episodes would fail as well
            if isinstance(outcome, StsError):
                for number in range(task.first, task.first + len(task.states)):
                    yield Failure(task.agent, number, outcome)
            else:
                yield Batch(task.agent, task.first, outcome)


def record_task(task: Task) -> list[Trajectory]:
    """Play the worlds of a task; return their trajectories."""
    return play_task(agents.load_planned(task.agent, task.fingerprint), task)


def generate_states(
    domain: str, count: int, steps: int, seed: int, settings: dict[str, Any]
) -> list[bytes]:
    """Generate the initial states of `count` worlds that are to be played for `steps` each.

    Errors are those of `record_all`; too much for one file is an ArgumentError, too.
    """
    if count < 1 or steps < 1:
        raise ArgumentError(f"expected at least 1 episode of 1 step, found {count} of {steps}")
    world = load_domain(domain)
    try:
        (first,) = world.generate(1, seed=seed, **settings)
    except TypeError as error:  # an unknown keyword
        raise ArgumentError(f"domain {domain!r} refuses its settings: {error}") from error
    size = count * (steps + 1) * world.scene_format(first).objects
    if size > arrow.MAX_LIST_VALUES:
        raise ArgumentError(
            f"{count} episodes of {steps} steps are too many for one recording; record "
            f"{max(1, count * arrow.MAX_LIST_VALUES // size)} at a time, each with another --seed"
        )
    return world.generate(count, seed=seed, **settings)


def play_task(agent: agents.Agent, task: Task) -> list[Trajectory]:
    """Return the trajectories of a team of `agent` in the worlds of a task.

    An instruction that belongs to the world is given at the start and recorded as a setter's. The
    first episode of all is replayed as a check: if it does not replay, the others would not either.
    """
    states, seed = task.states, task.seed
    domain = load_domain(task.domain)
    worlds = domain.restore(states)
    players = tuple(range(worlds.rewards.shape[1]))
    numbers = range(task.first, task.first + len(states))
    hashes = [domain.world_id(state) for state in states]
    pairs = zip(hashes, numbers, strict=True)
    agent_streams = streams((), [("record", hash, agent.name, seed, i) for hash, i in pairs])
    schedules = [list_missions(domain, state) for state in states]
    run = play_episodes(
        domain,
        worlds,
        [Team(agent, players, agent_streams)],
        steps=task.steps,
        instructions=schedules,
    )
    agents.check_unchanged(agent)
    shared = collect_provenance() | {"seed": seed, "fingerprint": agents.fingerprint(agent)}
    episodes = [
        Episode(task.domain, state, run.actions[i], run.utterances[i], run.rewards[i], run.scene[i])
        for i, state in enumerate(states)
    ]
    if task.first == 0:
        check_replays(episodes[0])
    return [
        Trajectory(
            episode,
            tuple(Player("agent", agent.name) for _ in players),
            instructions=instructions,
            world=hash,
            source=f"sts record {agent.name} seed {seed} episode {number}",
            provenance=shared | {"index": number},
        )
        for number, hash, episode, instructions in zip(
            numbers, hashes, episodes, schedules, strict=True
        )
    ]


def list_missions(domain: Domain, state: bytes) -> tuple[Instruction, ...]:
    """Return the instruction that belongs to a world, given at the start, or ()."""
    instruct = getattr(domain, "instruction", None)
    mission = instruct(state) if instruct else ""
    return (Instruction(mission, domain.name, given_at=0, source="setter"),) if mission else ()


def check_replays(episode: Episode) -> None:
    """Raise ReplayMismatch if a recording of this domain does not replay."""
    (mismatch,) = verify([episode])
    if mismatch is not None:
        raise ReplayMismatch(
            f"domain {episode.domain!r} does not replay its own recording: {mismatch.description}; "
            f"run sts domain check {episode.domain}",
            step=mismatch.step,
        )
