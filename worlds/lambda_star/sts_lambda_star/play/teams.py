"""Teams of agents, and the episodes that they practise and play.

A team of one agent plays every player. In a team of n agents, member i plays players i,
i + n, ...; members do not share a memory, and observe each other as others.

Two paths give the same episodes: `practice` compiles an installed learner with the world, and the
general path of `lockstep` plays all other agents and mixed teams.

Learners practise (rehearse) an episode before the scored pass, as the published program lets its
learners play each episode a hundred times before it tests them on the same one. This happens only
in the intelligence test; see `TabularLearner` on learners in an unpractised episode. Every pass
starts from the same state with the same paths of Good and Evil, and pass k, step t has the draws of
step k * T + t of one long episode.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sts.plugin import (
    Agent,
    ArgumentError,
    Draws,
    Instructions,
    Memory,
    PolicyOutput,
    Rollouts,
    Script,
    StsError,
    Team,
    Worlds,
    build_agent,
    load_agent,
    memory_limit,
)
from sts.plugin import play_episodes as play_in_lockstep
from sts.plugin import streams as named_streams
from sts_lambda_star.agents.learner import TabularLearner
from sts_lambda_star.domain import Batch, LambdaStar, Observation
from sts_lambda_star.generation.environments import Environments
from sts_lambda_star.generation.patterns import Settings
from sts_lambda_star.play import episodes, practice

_RECORD_BYTES = 9  # of `lockstep.Rollouts` per player and step: action, reward and cell
_OBJECT_BYTES = 4  # of `lockstep.Rollouts` per step: the cells of Good and Evil
_MIB = 2**20
Watch: TypeAlias = Callable[[int, Worlds], None]


class Policy(Agent):
    """Agent without memory from a function of observations to moves or weights."""

    name = "policy"
    version = "1"

    def __init__(self, function: Callable[[Observation], Any]) -> None:
        self._function = function

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the function's moves or weights as a choice."""
        return PolicyOutput(self._function(observation)), memory


def load_team(agent: Any) -> tuple[Agent, ...]:
    """Return the agents of a team, from names, instances, classes, functions, or a list of these.

    Raises:
      UnknownName: no agent of that name is installed.
      ArgumentError: the object is not an agent, or the sequence is empty.
    """
    if isinstance(agent, str):
        return tuple(load_agent(name.strip()) for name in agent.split(","))
    if isinstance(agent, Sequence):
        if not agent:
            raise ArgumentError("expected one agent or more, found none")
        return tuple(member for item in agent for member in load_team(item))
    if callable(agent) and not hasattr(agent, "act"):
        return (Policy(agent),)
    return (build_agent(agent, getattr(agent, "__qualname__", repr(agent))),)


def team_name(members: Sequence[Agent]) -> str:
    """Return the name of a team: its members' names joined by commas."""
    return ",".join(member.name for member in members)


def total_rewards(
    agent: Any, environments: Environments, *, seed: int, rehearsals: int = 100
) -> NDArray[np.int64]:
    """Return int64[E, P], each player's total reward in each episode, in halves.

    Arguments and errors are those of `rollout`.
    """
    settings = environments.settings
    members = load_team_for(agent, settings)
    if is_built_in(members, episodes.BEHAVIOURS, settings.needs):
        (team,) = make_teams(members, environments, seed)
        return episodes.play_reactive(
            members[0],
            environments.copy_arrays(),
            team.streams,
            radius=settings.radius,
            steps=settings.horizon,
        )
    play = _play_compiled if is_built_in_learner(members, settings.needs) else play_episodes
    received: NDArray[np.int64] = play(
        members, environments, seed=seed, rehearsals=rehearsals
    ).rewards.sum(1, np.int64)
    return received


def play_episodes(
    members: Sequence[Agent],
    environments: Environments,
    *,
    seed: int,
    rehearsals: int = 100,
    threads: int = 1,
    watch: Watch | None = None,
) -> Rollouts:
    """Play the environments and return the episodes; arguments and errors as in `rollout`.

    Log-probabilities of built-in learners are NaN: their moves come from the compiled path,
    which uses `threads`. `watch` is called after each step with its number and the worlds.
    """
    settings, steps = environments.settings, environments.settings.horizon

    def start_worlds() -> Batch:
        return Batch(environments.copy_arrays(), settings.radius)

    if is_built_in_learner(members, settings.needs):
        options = {"seed": seed, "rehearsals": rehearsals, "threads": threads}
        actions = _play_compiled(members, environments, **options).actions
        script = Script(actions, np.zeros_like(actions), np.ones(actions.shape[1:], np.bool_))
        world, worlds = LambdaStar(), start_worlds()
        return play_in_lockstep(world, worlds, (), steps=steps, script=script, watch=watch)
    check_memory(members, settings, episodes=len(environments.index), rehearsals=rehearsals)
    teams = make_teams(members, environments, seed)
    return play_after_practice(start_worlds, teams, steps=steps, rehearsals=rehearsals, watch=watch)


def _play_compiled(
    members: Sequence[Agent],
    environments: Environments,
    *,
    seed: int,
    rehearsals: int,
    threads: int = 1,
) -> practice.Outcome:
    """Play a built-in learner by the compiled path."""
    settings, count = environments.settings, len(environments.index)
    check_memory(members, settings, episodes=count, rehearsals=rehearsals, threads=threads)
    (team,) = make_teams(members, environments, seed)
    return practice.play_learner(
        team.agent.name,
        environments.copy_arrays(),
        team.streams,
        steps=settings.horizon,
        rehearsals=rehearsals,
        threads=threads,
    )


def play_after_practice(
    start_worlds: Callable[[], Worlds],
    teams: Sequence[Team],
    *,
    steps: int,
    rehearsals: int,
    watch: Watch | None = None,
) -> Rollouts:
    """Return the final pass, after the teams' learners have practised the same episodes together.

    Agents without a method `finish` take part with an empty memory in every pass; if no agent has
    one, there is no practice. `start_worlds` returns a new copy of the worlds at the start of their
    episodes; `watch` is called in the final pass only; see `lockstep.play` on the rest.
    """
    if not any(_can_finish(team.agent) for team in teams):
        rehearsals = 0
    for k in range(rehearsals):
        worlds = start_worlds()
        memories = play_in_lockstep(LambdaStar(), worlds, teams, steps=steps).memories
        teams = [
            team._replace(memory=_finish_pass(team, worlds, last_memory), since=(k + 1) * steps)
            for team, last_memory in zip(teams, memories, strict=True)
        ]
    return play_in_lockstep(LambdaStar(), start_worlds(), teams, steps=steps, watch=watch)


def _can_finish(agent: Any) -> bool:
    return callable(getattr(agent, "finish", None))


def _finish_pass(team: Team, worlds: Worlds, last_memory: Memory) -> Memory | None:
    """Return a learner's memory for the next pass; turn any exception into an StsError."""
    agent: Any = team.agent
    if not _can_finish(agent):
        return None
    observation = worlds.observe(team.players, team=team.players, world=agent.sees == "world")
    try:
        memory: Memory = agent.finish(observation, last_memory)
    except Exception as error:
        raise StsError(
            f"agent {agent.name!r} failed in finish(): {type(error).__name__}: {error}"
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
    """Raise ArgumentError if a team's records and tables do not fit into memory.

    The memory of a user's learner is unknown in advance and not counted. `at_once` processes play
    `episodes` episodes at a time each, on `threads` threads.
    """
    s, cells = settings, settings.height * settings.width
    needed = episodes * (s.horizon + 1) * (_RECORD_BYTES * s.n_players + _OBJECT_BYTES)
    if is_built_in_learner(members, settings.needs):
        needed += threads * practice.table_bytes(cells, s.horizon)
    else:
        for i, member in enumerate(members):
            if isinstance(member, TabularLearner):
                players = len(range(i, s.n_players, len(members)))
                needed += episodes * member.memory_bytes(players, cells, s.horizon, rehearsals)
    limit = memory_limit()
    if at_once * needed > limit:
        raise ArgumentError(
            f"{team_name(members)} needs {-(-at_once * needed // _MIB)} MiB of memory for "
            f"{at_once} times {episodes} episodes of {s.n_players} players and "
            f"{s.horizon} steps on {s.height}x{s.width} cells, but only {limit // _MIB} MiB, half "
            "of this machine's memory, are allowed; lower the episodes, the size, the team, the "
            "steps, the rehearsals or the workers"
        )


def load_team_for(agent: Any, settings: Settings) -> tuple[Agent, ...]:
    """Return the team's members; raise ArgumentError if there are more than players."""
    members, n_players = load_team(agent), settings.n_players
    if len(members) > n_players:
        raise ArgumentError(
            f"{team_name(members)}: expected at most as many agents as players, "
            f"found {len(members)} for {n_players}"
        )
    return members


def is_built_in_learner(members: Sequence[Agent], needs: int = 1) -> bool:
    """Return True if `practice` plays a team: an installed learner with its default attributes."""
    return is_built_in(members, practice.LEARNERS, needs)


def is_built_in(members: Sequence[Agent], names: Collection[str], needs: int = 1) -> bool:
    """Return True if a team is one installed agent of `names` with its default attributes."""
    agent = members[0]
    if needs > 1 or len(members) > 1 or agent.name not in names:
        return False
    installed = load_agent(agent.name)
    return type(agent) is type(installed) and vars(agent) == vars(installed)


def make_teams(members: Sequence[Agent], environments: Environments, seed: int) -> list[Team]:
    """Return each member with its players and its random streams, one stream per episode."""
    name, count, n_players = team_name(members), len(members), environments.settings.n_players
    indices = [(int(index),) for index in environments.index]
    purpose = "lambda-star score", name
    return [
        Team(
            member,
            tuple(range(i, n_players, count)),
            named_streams((*purpose, *([i] if count > 1 else []), int(seed)), indices),
        )
        for i, member in enumerate(members)
    ]
