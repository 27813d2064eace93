"""Who plays a team, and its way through its episodes.

A team of one agent plays every participant. In a team of n agents, member i plays participants i,
i + n, ...; members do not share a memory, and see each other as others.

Two paths give the same episodes: `practice` compiles an installed learner with the world, and the
general path of `lockstep` plays all other agents and mixed teams.

Learning behaviours rehearse: they practise an episode before the pass that counts, as the published
program lets its learners play each episode a hundred times before it tests them on the same one.
This exists in the intelligence test alone; see `Tabular` for what learners do in an episode that is
new to them. Every pass begins where the episode begins, Good and Evil take the same paths in each,
and pass k, step t draws what step k * T + t of one long episode would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sts import agents
from sts.agents.protocol import Agent, Choice, Draws, Instructions, Memory
from sts.agents.registry import made
from sts.domains import Worlds
from sts.engine import lockstep
from sts.engine.lockstep import Played, Script
from sts.engine.session import Team
from sts.errors import ArgumentError, StsError
from sts.numerics.streams import streams as named_streams
from sts.storage.memory import allowance
from sts.worlds.lambda_star.agents.learner import Tabular
from sts.worlds.lambda_star.domain import Batch, LambdaStar, Observation
from sts.worlds.lambda_star.generation.environments import Environments
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.play import practice

_RECORD_BYTES = 9  # of `lockstep.Played`, for a participant's step: what was done, and its cell
_OBJECT_BYTES = 4  # likewise, for the cells of Good and Evil
_MIB = 2**20
Watch: TypeAlias = Callable[[int, Worlds], None]


class Policy(Agent):
    """A function from observations to moves or weights, as an agent without a memory."""

    name = "policy"
    version = "1"

    def __init__(self, function: Callable[[Observation], Any]) -> None:
        self._function = function

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[Choice, Memory]:
        """Return what the function returns."""
        return Choice(self._function(observation)), memory


def team_of(agent: Any) -> tuple[Agent, ...]:
    """Return the agents that `agent` names or is, in any form that `rollout` takes.

    Raises:
      UnknownName: no agent of that name is installed.
      ArgumentError: it is no agent, or there is none.
    """
    if isinstance(agent, str):
        return tuple(agents.load(name.strip()) for name in agent.split(","))
    if isinstance(agent, Sequence):
        if not agent:
            raise ArgumentError("expected one agent or more, found none")
        return tuple(member for one in agent for member in team_of(one))
    if callable(agent) and not hasattr(agent, "act"):
        return (Policy(agent),)
    return (made(agent, getattr(agent, "__qualname__", repr(agent))),)


def called(members: Sequence[Agent]) -> str:
    """Return the name of a team: its members' names between commas."""
    return ",".join(member.name for member in members)


def sums(
    agent: Any, environments: Environments, *, seed: int, rehearsals: int = 100
) -> NDArray[np.int64]:
    """Return int64[E, P]: what each participant received over each episode, in halves.

    Arguments and errors are those of `rollout`.
    """
    members = team_for(agent, environments.settings)
    check(rehearsals)
    play = _practised if built_in(members) else episodes
    received: NDArray[np.int64] = play(
        members, environments, seed=seed, rehearsals=rehearsals
    ).rewards.sum(1, np.int64)
    return received


def episodes(
    members: Sequence[Agent],
    environments: Environments,
    *,
    seed: int,
    rehearsals: int = 100,
    threads: int = 1,
    watch: Watch | None = None,
) -> Played:
    """Return the episodes that `sums` adds up; arguments and errors as there.

    Log-probabilities of built-in learners are NaN: their moves come from the compiled path,
    which uses `threads`. `watch` is called after each step with its number and the worlds.
    """
    settings = environments.settings

    def fresh() -> Batch:
        return Batch.of(environments.fresh(), settings.radius)

    steps = settings.horizon
    if built_in(members):
        moves = _practised(
            members, environments, seed=seed, rehearsals=rehearsals, threads=threads
        ).moves
        script = Script(moves, np.zeros_like(moves), np.ones(moves.shape[1:], np.bool_))
        return lockstep.play(LambdaStar(), fresh(), (), steps=steps, script=script, watch=watch)
    count, own = len(environments.index), streams(members, environments, seed)
    check_memory(members, settings, episodes=count, rehearsals=rehearsals)
    teams = [Team(member, _roles(members, settings, i), own[i]) for i, member in enumerate(members)]
    return rehearse(fresh, teams, steps=steps, rehearsals=rehearsals, watch=watch)


def _practised(
    members: Sequence[Agent],
    environments: Environments,
    *,
    seed: int,
    rehearsals: int,
    threads: int = 1,
) -> practice.Outcome:
    """Return what a built-in learner does, by the compiled path."""
    settings, count = environments.settings, len(environments.index)
    check_memory(members, settings, episodes=count, rehearsals=rehearsals, threads=threads)
    return practice.play(
        members[0].name,
        environments.fresh(),
        *streams(members, environments, seed),
        steps=settings.horizon,
        rehearsals=rehearsals,
        threads=threads,
    )


def rehearse(
    fresh: Callable[[], Worlds],
    teams: Sequence[Team],
    *,
    steps: int,
    rehearsals: int,
    watch: Watch | None = None,
) -> Played:
    """Return the pass that counts, after the teams' learners have rehearsed its episodes together.

    Agents that cannot `finish` play along and start every pass afresh; where none can, nothing is
    rehearsed. Learners go on learning in the pass that counts, which none of its choices shows: a
    state is met once in a pass. `fresh` returns the worlds at the start of their episodes, each
    time again; the rest is as `lockstep.play` takes it, and `watch` is called in the last pass.
    """
    if not any(_finishes(team.agent) for team in teams):
        rehearsals = 0
    for k in range(rehearsals):
        worlds = fresh()
        memories = lockstep.play(LambdaStar(), worlds, teams, steps=steps).memories
        teams = [
            team._replace(memory=_finished(team, worlds, kept), since=(k + 1) * steps)
            for team, kept in zip(teams, memories, strict=True)
        ]
    return lockstep.play(LambdaStar(), fresh(), teams, steps=steps, watch=watch)


def _finishes(agent: Any) -> bool:
    return callable(getattr(agent, "finish", None))


def _finished(team: Team, worlds: Worlds, kept: Memory) -> Memory | None:
    """Return what a learner goes on with; whatever it raises becomes one line."""
    agent: Any = team.agent
    if not _finishes(agent):
        return None
    seen = worlds.observe(team.roles, team=team.roles, world=agent.sees == "world")
    try:
        memory: Memory = agent.finish(seen, kept)
    except Exception as error:
        raise StsError(
            f"agent {agent.name!r} failed to finish: {type(error).__name__}: {error}"
        ) from error
    return memory


def check_memory(
    members: Sequence[Agent],
    settings: Settings,
    *,
    episodes: int,
    rehearsals: int,
    at_once: int = 1,
    threads: int = 1,
) -> None:
    """Raise ArgumentError when what a team keeps does not fit the memory; say what to lower.

    What a user's learner remembers is not known before, and not counted. `at_once` processes play
    `episodes` together each, on so many threads.
    """
    s, cells = settings, settings.height * settings.width
    needed = episodes * (s.horizon + 1) * (_RECORD_BYTES * s.participants + _OBJECT_BYTES)
    if built_in(members):
        needed += threads * practice.table_bytes(cells, s.horizon)
    else:
        for i, member in enumerate(members):
            if isinstance(member, Tabular):
                roles = len(_roles(members, s, i))
                needed += episodes * member.footprint(roles, cells, s.horizon, rehearsals)
    most = allowance()
    if at_once * needed > most:
        raise ArgumentError(
            f"{called(members)} needs {-(-at_once * needed // _MIB)} MiB of memory for {at_once} "
            f"times {episodes} episodes of {s.participants} participants and {s.horizon} steps on "
            f"{s.height}x{s.width} cells, found {most // _MIB} MiB, half of what this machine has; "
            "lower the episodes, the size, the team, the steps, the rehearsals or the workers"
        )


def _roles(members: Sequence[Agent], settings: Settings, i: int) -> tuple[int, ...]:
    """Return the participants that member i plays."""
    return tuple(range(i, settings.participants, len(members)))


def check(rehearsals: int, threads: int = 1) -> None:
    """Raise ArgumentError where there are fewer than 0 rehearsals or fewer than 1 thread."""
    if rehearsals < 0 or threads < 1:
        raise ArgumentError(
            f"expected 0 rehearsals and 1 thread or more, found {rehearsals} and {threads}"
        )


def team_for(agent: Any, settings: Settings) -> tuple[Agent, ...]:
    """Return the team, when each of its members has a participant to play."""
    members, participants = team_of(agent), settings.participants
    if len(members) > participants:
        raise ArgumentError(
            f"{called(members)}: expected at most as many agents as participants, "
            f"found {len(members)} for {participants}"
        )
    return members


def built_in(members: Sequence[Agent]) -> bool:
    """Return whether a team is one installed learner with nothing changed."""
    agent = members[0]
    if len(members) > 1 or agent.name not in practice.LEARNERS:
        return False
    installed = agents.load(agent.name)
    return type(agent) is type(installed) and vars(agent) == vars(installed)


def streams(
    members: Sequence[Agent], environments: Environments, seed: int
) -> list[NDArray[np.uint64]]:
    """Return uint64[E], each episode's stream of draws, for each member."""
    name, mixed = called(members), len(members) > 1
    indices = [(int(index),) for index in environments.index]
    return [
        named_streams(("lambda-star score", name, *([i] if mixed else []), int(seed)), indices)
        for i in range(len(members))
    ]
