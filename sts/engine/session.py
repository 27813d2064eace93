"""Sessions: B worlds of one domain, played by agents together with other controllers.

    game = session.open_session(domain, worlds, [Team(agent, (1, 2), streams)])
    game.observe((0,))
    game.step(Actions(actions, utterances), held=(0,))
    later = session.open_session(domain, game.state(), [Team(agent, (1, 2), streams)])

All code that steps worlds with agents uses a session. Each player is controlled by a team's agent,
or by the caller of `step`, such as a person, a learner or a script (a held player); any other
player takes the no-op. The cost of a step does not grow with their number.

The worlds can differ in their players and lengths. `Session.keep` drops those that have ended, and
agents then see no rows of them.

Axes: B worlds, P players, R players of a team.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sts.agents.info import AgentInfo
from sts.agents.protocol import Agent, Instructions, Memory, PolicyOutput
from sts.domains import (
    Domain,
    Worlds,
    action_space,
    are_valid_utterances,
    index_players,
    silent_utterances,
)
from sts.domains.random import Random
from sts.engine import sampling
from sts.episodes import Instruction
from sts.errors import ArgumentError, DamagedData, StsError
from sts.jobs.deadlines import report_progress, stdout_to_stderr


class Team(NamedTuple):
    """An agent and the players it controls."""

    agent: Agent  # of the team
    players: ArrayLike  # its players, int[R], or int[B, R] of each world
    streams: NDArray[np.uint64]  # uint64[B], each episode's random stream
    # its state so far, from `Session.memories`; None to start with its initial state
    memory: Memory | None = None
    since: int = 0  # the number of steps whose random draws were already used


class Actions(NamedTuple):
    """The actions, [B, P, ...], and utterances, [B, P], of P players at one step."""

    actions: NDArray[Any]
    utterances: NDArray[Any]


class StepResult(NamedTuple):
    """The executed actions of one step."""

    actions: NDArray[Any]  # [B, P, ...]
    utterances: NDArray[Any]  # [B, P], tokens or texts
    # float32[B, P], of the executed move and token under the player's agent, also if the player was
    # held; NaN if there is no agent, it gives no probabilities, or it returned an action other than
    # the executed one
    log_probs: NDArray[np.float32]


class SessionState(NamedTuple):
    """The state of a session; with its teams, it can be resumed."""

    step: int
    worlds: tuple[bytes, ...]
    agent_states: tuple[Memory, ...]
    instructions: tuple[Instructions, ...]  # that each team has heard


def open_session(
    domain: Domain,
    begun: Worlds | SessionState,
    teams: Sequence[Team] = (),
    *,
    instructions: Sequence[Sequence[Instruction]] | None = None,
) -> Session:
    """Start a session, or resume one from its state.

    `begun` is B worlds of `domain`, which are stepped in place, or the state of a session of the
    same `teams`, which have disjoint sets of players in each world. `instructions` are those of
    the first team in each world, of which the latest is current; `Session.tell` gives others, to
    any team. A resumed session ignores those of earlier steps, which it has heard.

    Raises:
      ArgumentError: an agent does not fit the domain; see `bind_agent`.
      StsError: two teams share a player, an agent failed to start, or the number of instruction
        lists is not B.
      DamagedState: a world cannot be restored.
    """
    teams = [team._replace(agent=bind_agent(team.agent, domain)) for team in teams]
    if isinstance(begun, SessionState):
        resumed = zip(teams, begun.agent_states, strict=True)
        teams = [team._replace(memory=memory) for team, memory in resumed]
        return Session(
            domain,
            domain.restore(begun.worlds),
            teams,
            instructions,
            begun.step,
            begun.instructions,
        )
    return Session(domain, begun, teams, instructions)


class Session:
    """B worlds that are stepped with agents in them; created by `open_session`.

    Attributes:
      domain: of the worlds.
      worlds: in their current state.
      steps: the number of steps taken.
      memories: the current state of each team's agent.
    """

    def __init__(
        self,
        domain: Domain,
        worlds: Worlds,
        teams: Sequence[Team],
        instructions: Sequence[Sequence[Instruction]] | None,
        steps: int = 0,
        heard: Sequence[Instructions] | None = None,
    ) -> None:
        self.domain, self.worlds, self.steps = domain, worlds, steps
        batch = len(worlds.rewards)
        self._teams = tuple(teams)
        self._players = [index_players(team.players, batch) for team in teams]
        _check_players(self._players)
        self._indices = [_index_team(players, worlds.rewards.shape[1]) for players in self._players]
        if instructions is not None and len(instructions) != batch:
            raise StsError(
                f"expected an instruction for each of {batch} episodes, found {len(instructions)}"
            )
        before = [Instructions(("",), np.zeros(batch, np.int32))] * len(teams)
        self._hearing = [_Hearing(known) for known in (before if heard is None else heard)]
        if instructions is not None and teams:
            self._hearing[0].plan(instructions, -1 if heard is None else steps)
        self.memories = [
            _initial_state(team, players)
            for team, players in zip(teams, self._players, strict=True)
        ]
        self._samples: list[sampling.Sample] | None = None  # of the present step, once chosen

    def observe(self, players: ArrayLike, *, world: bool = False) -> Any:
        """Return the observations of `players` as a team; see `Worlds.observe`."""
        return self.worlds.observe(players, team=players, world=world)

    def choose(self) -> Actions:
        """Let the agents observe the step and choose; return their choices, still to be executed.

        `step` does so itself, unless they have chosen; until then the session has no state that can
        be resumed. Players without an agent choose the no-op. Errors are those of `step`.
        """
        size = self.worlds.rewards.shape
        actions = action_space(self.domain).fill(size, self.domain.noop)
        utterances = silent_utterances(self.domain, size)
        if self._samples is None:
            self._samples = [self._decide(i, team) for i, team in enumerate(self._teams)]
        for i, sample in enumerate(self._samples):
            own = self._indices[i]
            actions[own], utterances[own] = sample.actions, sample.utterances
        return Actions(actions, utterances)

    def step(
        self, given: Actions | None = None, held: Sequence[int] | NDArray[np.bool_] = ()
    ) -> StepResult:
        """Take one step and return the executed actions; `worlds` has the rewards and scenes.

        The caller controls the `held` players, indices, bool[P] or bool[B, P], by the `given`
        actions, whose values for others are ignored. Their agents still observe the step and update
        their state.

        Raises:
          StsError: an agent failed, or returned an invalid output; names the agent and the step.
          DamagedData: a given action or utterance is invalid in the domain.
        """
        actions, utterances = self.choose()
        log_probs = np.full(utterances.shape, np.nan, np.float32)
        if given is not None:
            each = np.ndim(held) == 2  # held players of each world
            whose: Any = held if each else (slice(None), held)
            held_actions = Actions(given.actions[whose], given.utterances[whose])
            check_actions(self.domain, held_actions)
            actions[whose], utterances[whose] = held_actions
        for i, sample in enumerate(self._samples or ()):
            own = self._indices[i]
            log_probs[own] = sampling.compute_log_probs(sample, actions[own], utterances[own])
        self._samples = None
        self.worlds.step(actions, utterances)
        self.steps += 1
        report_progress()
        return StepResult(actions, utterances, log_probs)

    def repeat(self, actions: Actions) -> None:
        """Take one step without agents, by actions of all players that have been checked.

        They have the domain's dtypes; see `check_actions`.
        """
        self.worlds.step(*actions)
        self.steps += 1
        report_progress()

    def keep(self, count: int) -> None:
        """Drop all worlds but the first `count`, and what their agents remember of the others.

        Raises:
          StsError: an agent's memory has not one row for each episode.
        """
        batch = len(self.worlds.rewards)
        for team, memory in zip(self._teams, self.memories, strict=True):
            for name, values in memory.items():
                if np.shape(values)[:1] != (batch,):
                    raise StsError(
                        f"agent {team.agent.name!r} at step {self.steps}: expected memory of "
                        f"{batch} episodes, found {name!r} of shape {list(np.shape(values))}"
                    )
        self.worlds = self.worlds.select(np.arange(count))
        self._teams = tuple(team._replace(streams=team.streams[:count]) for team in self._teams)
        self._players = [players[:count] for players in self._players]
        n_players = self.worlds.rewards.shape[1]
        self._indices = [_index_team(players, n_players) for players in self._players]
        self.memories = [
            {name: values[:count] for name, values in memory.items()} for memory in self.memories
        ]
        for hearing in self._hearing:
            hearing.keep(count)

    def tell(self, world: int, text: str, team: int = 0) -> None:
        """Give a team of one world an instruction, which its agent reads from this step on.

        It may be any text, any number of times. `world` and `team` are indices.
        """
        self._hearing[team].tell(self.steps, world, text)

    def state(self) -> SessionState:
        """Return the session's state; `open_session` can resume it, also in another process."""
        heard = tuple(hearing.at(self.steps) for hearing in self._hearing)
        return SessionState(self.steps, tuple(self.worlds.states()), tuple(self.memories), heard)

    def _decide(self, i: int, team: Team) -> sampling.Sample:
        """Sample the next actions of team i and update its agent's state."""
        agent, players = team.agent, self._players[i]
        draws = sampling.make_step_draws(
            agent, players.shape[1], team.streams, team.since + self.steps
        )
        observation = self.observe(players, world=agent.sees == "world")
        if getattr(agent, "sees_frame", False):
            observation = dataclasses.replace(observation, frame=self._render(agent, players))
        heard = self._hearing[i].at(self.steps)
        arguments = (observation, heard, self.memories[i], draws.agent_draws())
        choice, self.memories[i] = self._call_agent(agent, arguments)
        return sampling.sample_output(self.domain, agent, choice, draws, self.steps)

    def _render(self, agent: Agent, players: NDArray[np.intp]) -> NDArray[np.uint8]:
        """Return each player's picture, uint8[B, R, H, W, 3].

        Raises:
          StsError: the domain has no pictures, or they show more than the agent may see.
        """
        render: Any = getattr(self.worlds, "frames", None)
        if render is None:
            raise StsError(f"agent {agent.name!r} sees frames, which {self.domain.name} has not")
        if self.domain.sees == "world" and agent.sees == "observation":
            raise StsError(
                f"agent {agent.name!r} sees frames of {self.domain.name}, which may show what a "
                "player does not see; give the environment a render_player_view(player), or "
                "declare sees = 'world' for an agent outside the ranking"
            )
        by_player = {player: render(player) for player in np.unique(players).tolist()}
        try:
            return np.array(
                [[by_player[player][b] for player in row] for b, row in enumerate(players.tolist())]
            )
        except ValueError:
            raise StsError(f"{self.domain.name}: expected frames of one size in a batch") from None

    def _call_agent(self, agent: Agent, arguments: tuple[Any, ...]) -> tuple[PolicyOutput, Memory]:
        """Call the agent; turn any exception of its code into an StsError."""
        try:
            with stdout_to_stderr:
                answer = agent.act(*arguments)
        except (Exception, SystemExit) as error:
            is_observation = isinstance(error, AttributeError) and error.obj is arguments[0]
            hint = f"; is it an agent for {self.domain.name}?" if is_observation else ""
            raise StsError(
                f"agent {agent.name!r} failed at step {self.steps}: "
                f"{type(error).__name__}: {error}{hint}"
            ) from error
        if not (
            isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], PolicyOutput)
        ):
            raise StsError(
                f"agent {agent.name!r}: expected (PolicyOutput, memory) from act, found "
                f"{type(answer).__name__}"
            )
        return answer


def check_actions(domain: Domain, played: Actions) -> None:
    """Raise DamagedData if an action or utterance is invalid, as kernels do not check bounds."""
    actions, utterances = played
    space = action_space(domain)
    in_space = actions.shape[utterances.ndim :] == space.shape and space.is_within_bounds(actions)
    can_cast = np.can_cast(actions.dtype, space.dtype, "same_kind")
    if not (in_space and can_cast and are_valid_utterances(domain, utterances)):
        raise DamagedData(f"expected actions and utterances of {domain.name}, found others")


def bind_agent(agent: Agent, domain: Domain) -> Agent:
    """Return the agent prepared to play in `domain`; errors as for `check_domain`."""
    check_domain(agent, domain.name)
    return agent.bind_domain(domain) if isinstance(agent, Random) else agent


def check_domain(agent: Agent | AgentInfo, name: str) -> None:
    """Raise ArgumentError if an agent cannot play in the domain `name`."""
    required = getattr(agent, "domain", "")
    if required and required != name:
        raise ArgumentError(
            f"agent {agent.name!r} plays only in {required}, not in {name}; choose another agent"
        )


def _index_team(players: NDArray[np.int64], n_players: int) -> Any:
    """Return an index of a team's players, int64[B, R], in arrays [B, P, ...]."""
    is_everyone = players.shape[1] == n_players and (players == np.arange(n_players)).all()
    return ... if is_everyone else (np.arange(len(players))[:, None], players)


def _check_players(teams: Sequence[NDArray[np.int64]]) -> None:
    """Raise StsError if teams share a player in a world."""
    if len(teams) > 1:
        together = np.sort(np.concatenate(teams, axis=1), axis=1)
        shared = (together[:, 1:] == together[:, :-1]).any(axis=1)
        if shared.any():
            found = together[shared.argmax()].tolist()
            raise StsError(f"expected each player in one team only, found {found}")


def _initial_state(team: Team, players: NDArray[np.int64]) -> Memory:
    """Return the team's state so far, or the agent's initial state; errors as `_call_agent`."""
    if team.memory is not None:
        return team.memory
    try:
        with stdout_to_stderr:
            return team.agent.initial_state(*players.shape)
    except (Exception, SystemExit) as error:
        raise StsError(
            f"agent {team.agent.name!r} failed in initial_state: {type(error).__name__}: {error}"
        ) from error


class _PlannedInstruction(NamedTuple):
    step: int
    episode: int
    text: str


class _Hearing:
    """The instructions of a team, planned or told during a session.

    Each has an id above all earlier ones; equal texts of one step share it. So an agent that
    compares ids also notices an instruction that is given again.
    """

    def __init__(self, heard: Instructions) -> None:
        self._texts, self._ids = [*heard.texts], heard.ids.copy()
        self._planned: deque[_PlannedInstruction] = deque()
        self._step = -1
        self._new: dict[str, int] = {}  # ids of the texts of `_step`

    def plan(self, instructions: Sequence[Sequence[Instruction]], after: int) -> None:
        """Plan the instructions of each episode that are given after step `after`."""
        later = (
            _PlannedInstruction(instruction.given_at, episode, instruction.text)
            for episode, own in enumerate(instructions)
            for instruction in own
            if instruction.given_at > after
        )
        self._planned.extend(sorted(later, key=lambda planned: planned.step))

    def keep(self, count: int) -> None:
        """Forget all episodes but the first `count`."""
        self._ids = self._ids[:count]
        self._planned = deque(p for p in self._planned if p.episode < count)

    def at(self, step: int) -> Instructions:
        """Return the instructions in force at a step, which is not before an earlier one."""
        while self._planned and self._planned[0].step <= step:
            self._give(*self._planned.popleft())
        return Instructions(tuple(self._texts), self._ids.copy())

    def tell(self, step: int, episode: int, text: str) -> None:
        """Give an instruction now."""
        self.at(step)
        self._give(step, episode, text)

    def _give(self, step: int, episode: int, text: str) -> None:
        if step != self._step:
            self._step, self._new = step, {}
        if text not in self._new:
            self._new[text] = len(self._texts)
            self._texts.append(text)
        self._ids[episode] = self._new[text]
