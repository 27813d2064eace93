"""A session: B worlds of one domain, open for everybody who takes part in them.

    begun = session.open(domain, worlds, [Team(agent, (1, 2), streams)])
    begun.observe((0,))
    begun.step(Actions(moves, says), held=(0,))
    later = session.open(domain, begun.state(), [Team(agent, (1, 2), streams)])

This is the one place where worlds are stepped with agents in them. Those who act from outside, be
they people, learners or a script, hold their participants at each step and say what these do; teams
of agents decide for theirs, and whoever is neither does nothing. A step costs the same however many
came before it.

Axes: B worlds, P participants, R roles of a team.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.agents.facts import Facts
from sts.agents.protocol import Agent, Choice, Instructions
from sts.domains import Domain, Worlds, action_space, are_sayable, silence
from sts.domains.random import Random
from sts.engine import sampling
from sts.episodes import Instruction
from sts.errors import ArgumentError, DamagedData, StsError
from sts.jobs.deadlines import report_progress, stdout_to_stderr

Memory = dict[str, NDArray[Any]]


class Team(NamedTuple):
    """An agent and the participants it plays.

    Attributes:
      agent: who plays.
      roles: its participants.
      streams: uint64[B], each episode's stream of draws.
      memory: what it goes on with, as `Session.memories` left it; None asks it to begin.
      since: how many steps' draws of its streams are used up already.
    """

    agent: Agent
    roles: tuple[int, ...]
    streams: NDArray[np.uint64]
    memory: Memory | None = None
    since: int = 0


class Actions(NamedTuple):
    """What P participants do and say at one step, as the domain's arrays: [B, P, ...], [B, P]."""

    moves: NDArray[Any]
    says: NDArray[Any]


class StepResult(NamedTuple):
    """What was done at one step.

    Attributes:
      moves: [B, P, ...].
      says: [B, P], tokens or texts.
      log_probs: float32[B, P], of the executed move and token under the agent that plays the
        participant, held ones too; NaN where no agent plays or it gives no probabilities. Of an
        agent that returns actions and their densities it is known where these were executed.
    """

    moves: NDArray[Any]
    says: NDArray[Any]
    log_probs: NDArray[np.float32]


class SessionState(NamedTuple):
    """Where a session stands: all that its future depends on except the teams and their texts."""

    step: int
    worlds: tuple[bytes, ...]
    agent_states: tuple[Memory, ...]


def open(  # as files are: it is held, and goes on where it was
    domain: Domain,
    begun: Worlds | SessionState,
    teams: Sequence[Team] = (),
    *,
    told: Sequence[Sequence[Instruction]] | None = None,
) -> Session:
    """Return a session of worlds that are ready to step, or of one that stood where `begun` says.

    Args:
      domain: whose worlds they are.
      begun: B worlds, which are stepped in place; or the state of a session of the same teams.
      teams: no two play one participant.
      told: what the first team is told in each world; of several instructions the last that was
        given is in force. The others are told nothing.

    Raises:
      ArgumentError: an agent does not `fit` the domain.
      StsError: two teams play one participant, an agent failed to begin, or there are not as many
        instructions as worlds.
      DamagedState: a world cannot be restored.
    """
    teams = [team._replace(agent=fit(team.agent, domain)) for team in teams]
    everyone = [p for team in teams for p in team.roles]
    if len(set(everyone)) < len(everyone):
        raise StsError("two teams play one participant")
    if isinstance(begun, SessionState):
        kept = zip(teams, begun.agent_states, strict=True)
        teams = [team._replace(memory=memory) for team, memory in kept]
        return Session(domain, domain.restore(begun.worlds), teams, told, begun.step)
    return Session(domain, begun, teams, told, 0)


class Session:
    """B worlds in which teams of agents play beside those who act from outside; `open` makes one.

    Attributes:
      domain: whose worlds they are.
      worlds: as they are now.
      steps: how many have been taken.
      memories: what each team remembers.
    """

    def __init__(
        self,
        domain: Domain,
        worlds: Worlds,
        teams: Sequence[Team],
        told: Sequence[Sequence[Instruction]] | None,
        steps: int,
    ) -> None:
        self.domain, self.worlds, self.steps = domain, worlds, steps
        batch = len(worlds.rewards)
        self._teams = tuple(teams)
        self._no_instructions = Instructions(("",), np.zeros(batch, np.int32))
        self._instructions_at = (
            _schedule_instructions(told, batch)
            if told is not None
            else lambda step: self._no_instructions
        )
        self.memories = [_initial_state(team, batch) for team in teams]

    def observe(
        self, roles: Sequence[int], *, team: Sequence[int] | None = None, world: bool = False
    ) -> Any:
        """Return what `roles` may see now, as of `Worlds.observe`; they are the team by default."""
        return self.worlds.observe(roles, team=roles if team is None else team, world=world)

    def step(
        self, given: Actions | None = None, held: Sequence[int] | NDArray[np.bool_] = ()
    ) -> StepResult:
        """Take one step and return what was done; rewards and scene are those of `worlds`.

        Args:
          given: what the held participants do; what it has for others is not looked at.
          held: who acts from outside, by number or bool[P]. The agent of one who also has a team
            observes and remembers all the same.

        Raises:
          StsError: an agent failed, or returned something that is no choice; names the agent and
            the step.
          DamagedData: a move or a token that is given is none of the domain.
        """
        size = self.worlds.rewards.shape
        moves = action_space(self.domain).full(size, self.domain.noop)
        says, log_probs = silence(self.domain, size), np.full(size, np.nan, np.float32)
        samples = [self._decide(i, team) for i, team in enumerate(self._teams)]
        for team, sample in zip(self._teams, samples, strict=True):
            moves[:, team.roles], says[:, team.roles] = sample.moves, sample.says
        if given is not None:
            own = Actions(given.moves[:, held], given.says[:, held])
            check_actions(self.domain, own)
            moves[:, held], says[:, held] = own
        for team, sample in zip(self._teams, samples, strict=True):
            log_probs[:, team.roles] = sampling.log_probs(
                sample, moves[:, team.roles], says[:, team.roles]
            )
        self.worlds.step(moves, says)
        self.steps += 1
        report_progress()
        return StepResult(moves, says, log_probs)

    def state(self) -> SessionState:
        """Return where it stands, for `open` to go on from, in another process too."""
        return SessionState(self.steps, tuple(self.worlds.states()), tuple(self.memories))

    def _decide(self, i: int, team: Team) -> sampling.Sample:
        """Return what team i chooses now, and keeps what it remembers."""
        agent = team.agent
        draws = sampling.locate_draws(agent, len(team.roles), team.streams, team.since + self.steps)
        seen = self.observe(team.roles, world=agent.sees == "world")
        heard = self._instructions_at(self.steps) if i == 0 else self._no_instructions
        given = (seen, heard, self.memories[i], draws.agent_draws())
        choice, self.memories[i] = self._call_agent(agent, given)
        return sampling.sample_output(self.domain, agent, choice, draws, self.steps)

    def _call_agent(self, agent: Agent, given: tuple[Any, ...]) -> tuple[Choice, Memory]:
        """Asks the agent, whose code may be anybody's: whatever it raises becomes one line."""
        try:
            with stdout_to_stderr:
                answer = agent.act(*given)
        except (Exception, SystemExit) as error:
            asked = isinstance(error, AttributeError) and error.obj is given[0]
            name = self.domain.name
            hint = f"; {name} shows no such thing, is it another's agent?" if asked else ""
            raise StsError(
                f"agent {agent.name!r} failed at step {self.steps}: "
                f"{type(error).__name__}: {error}{hint}"
            ) from error
        if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], Choice)):
            raise StsError(f"agent {agent.name!r}: act must return (Choice, memory)")
        return answer


def check_actions(domain: Domain, given: Actions) -> None:
    """Raise DamagedData if a move or a token is none of the domain: kernels check no bounds."""
    moves, says = given
    space = action_space(domain)
    fits = moves.shape[says.ndim :] == space.shape and space.within(moves)
    if (
        not fits
        or not np.can_cast(moves.dtype, space.dtype, "same_kind")
        or not are_sayable(domain, says)
    ):
        raise DamagedData("what is to be done holds a move or a token that the domain has not")


def fit(agent: Agent, domain: Domain) -> Agent:
    """Return the agent as it plays in the worlds of `domain`; errors as of `check_domain`."""
    check_domain(agent, domain.name)
    return agent.bind_domain(domain) if isinstance(agent, Random) else agent


def check_domain(agent: Agent | Facts, name: str) -> None:
    """Raise ArgumentError if an agent plays the worlds of a domain that is not called `name`."""
    own = getattr(agent, "domain", "")
    if own and own != name:
        raise ArgumentError(
            f"agent {agent.name!r} plays the worlds of {own}, and these are of {name}; "
            "choose an agent for them"
        )


def _initial_state(team: Team, batch: int) -> Memory:
    """Return the memory to go on with, or asks the agent for one; as `Session._asked`."""
    if team.memory is not None:
        return team.memory
    try:
        with stdout_to_stderr:
            return team.agent.begin(batch, len(team.roles))
    except (Exception, SystemExit) as error:
        raise StsError(
            f"agent {team.agent.name!r} failed to begin: {type(error).__name__}: {error}"
        ) from error


def _schedule_instructions(
    told: Sequence[Sequence[Instruction]], batch: int
) -> Callable[[int], Instructions]:
    if len(told) != batch:
        raise StsError(f"expected an instruction for each of {batch} episodes, found {len(told)}")
    given = sorted(
        ((one.given_at, b, one.text) for b, own in enumerate(told) for one in own),
        key=lambda one: one[0],
    )
    texts = ("", *dict.fromkeys(one.text for own in told for one in own))
    numbers = {text: i for i, text in enumerate(texts)}
    steps: list[int] = []
    known = [np.zeros(batch, np.int32)]  # before the first of `steps`, and from each of them on
    for step, b, text in given:
        if not steps or step > steps[-1]:
            steps.append(step)
            known.append(known[-1].copy())
        known[-1][b] = numbers[text]
    return lambda step: Instructions(texts, known[bisect_right(steps, step)].copy())
