"""Playing B episodes step by step together: observe, decide, sample, step, record.

The engine draws everything: an agent's weights are sampled from its episode's stream, so an agent's
draws never move the world and no episode depends on which others share its batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice, Instructions
from sts.domains import Domain, Worlds
from sts.errors import ArgumentError, DamagedData, StsError
from sts.jobs.deadlines import quiet
from sts.numerics.compiled import compiled
from sts.numerics.draws import uniform

MIXTURE = 0.01
_SLOTS = 2


class Team(NamedTuple):
    """An agent and the participants it plays.

    Attributes:
      agent: who plays.
      roles: its participants.
      streams: uint64[B], each episode's stream of draws.
      memory: what it goes on with, as `Played.memories` left it; None asks it to begin.
      since: how many steps' draws of its streams are used up already.
    """

    agent: Agent
    roles: tuple[int, ...]
    streams: NDArray[np.uint64]
    memory: dict[str, NDArray[Any]] | None = None
    since: int = 0


class Script(NamedTuple):
    """What participants are made to do whatever their agents say.

    Attributes:
      moves: int8[B, T, P].
      says: int8[B, T, P].
      forced: bool[T, P], where the script holds.
    """

    moves: NDArray[np.int8]
    says: NDArray[np.int8]
    forced: NDArray[np.bool_]


class Told(NamedTuple):
    """The instruction of each of B episodes, and the step from which its team knows it."""

    texts: Sequence[str]
    given_at: Sequence[int]


class Played(NamedTuple):
    """What happened in B episodes of T steps.

    Attributes:
      moves: int8[B, T, P].
      says: int8[B, T, P].
      rewards: int8[B, T, P].
      scene: uint16[B, T + 1, K], row t is the scene before step t.
      log_probs: float32[B, T, P], of the executed move and token under the agent that plays the
        participant, forced ones too; NaN where no agent plays or it gives no probabilities.
      memories: what each team remembers after the last step.
    """

    moves: NDArray[np.int8]
    says: NDArray[np.int8]
    rewards: NDArray[np.int8]
    scene: NDArray[np.uint16]
    log_probs: NDArray[np.float32]
    memories: tuple[dict[str, NDArray[Any]], ...] = ()


def play(
    domain: Domain,
    worlds: Worlds,
    teams: Sequence[Team],
    *,
    steps: int,
    script: Script | None = None,
    told: Told | None = None,
    watch: Callable[[int, Worlds], None] | None = None,
) -> Played:
    """Plays `steps` steps and returns what happened; `worlds` is then where the episodes ended.

    Args:
      domain: whose worlds they are.
      worlds: B worlds.
      teams: no two play one participant; participants in no team do nothing.
      steps: T.
      script: forces actions; a forced participant's agent observes all the same.
      told: what the first team is told; the others are told nothing.
      watch: called after each step with its number and the worlds; may raise to stop.

    Raises:
      ArgumentError: an agent plays the worlds of another domain.
      StsError: an agent failed, or returned something that is no choice; names the agent and the
        step.
      DamagedData: the script holds what is no move or token of the domain.
    """
    for team in teams:
        _at_home(team.agent, domain)
    scene = worlds.scene
    batch, participants = worlds.rewards.shape
    out = Played(
        moves=np.full((batch, steps, participants), domain.noop, np.int8),
        says=np.zeros((batch, steps, participants), np.int8),
        rewards=np.zeros((batch, steps, participants), np.int8),
        scene=np.empty((batch, steps + 1, scene.shape[1]), np.uint16),
        log_probs=np.full((batch, steps, participants), np.nan, np.float32),
    )
    out.scene[:, 0] = scene
    everyone = [p for team in teams for p in team.roles]
    if len(set(everyone)) < len(everyone):
        raise StsError("two teams play one participant")
    if script is not None and not known(domain, script.moves, script.says):
        raise DamagedData("what is replayed holds a move or a token that the domain has not")
    memories = [_begin(team, batch) for team in teams]
    silent = Instructions(("",), np.zeros(batch, np.int32))
    tell = _teller(told, batch) if told is not None else lambda _: silent
    for t in range(steps):
        decided = []
        for i, team in enumerate(teams):
            observation = worlds.observe(
                team.roles, team=team.roles, world=team.agent.sees == "world"
            )
            heard = tell(t) if i == 0 else silent
            draws = _draws(team, t)
            given = (observation, heard, memories[i], draws)
            choice, memories[i] = _act(domain, team.agent, given, t)
            decided.append(_sampled(domain, team, choice, t))
        for team, sample in zip(teams, decided, strict=True):
            out.moves[:, t, team.roles] = sample.moves
            out.says[:, t, team.roles] = sample.says
        if script is not None:
            held = script.forced[t]
            out.moves[:, t, held] = script.moves[:, t, held]
            out.says[:, t, held] = script.says[:, t, held]
        for team, sample in zip(teams, decided, strict=True):
            out.log_probs[:, t, team.roles] = _log_probs(
                sample, out.moves[:, t, team.roles], out.says[:, t, team.roles]
            )
        worlds.step(out.moves[:, t], out.says[:, t])
        out.rewards[:, t] = worlds.rewards
        out.scene[:, t + 1] = worlds.scene
        if watch is not None:
            watch(t, worlds)
    return out._replace(memories=tuple(memories))


def _at_home(agent: Agent, domain: Domain) -> None:
    """Refuses an agent that plays the worlds of another domain."""
    own = getattr(agent, "domain", "")
    if own and own != domain.name:
        raise ArgumentError(
            f"agent {agent.name!r} plays the worlds of {own}, and these are of {domain.name}; "
            "choose an agent for them"
        )


def known(domain: Domain, moves: NDArray[np.int8], says: NDArray[np.int8]) -> bool:
    """Whether kernels, which check no bounds, can take all of these."""
    sound = ((moves >= 0) & (moves < len(domain.moves))).all()
    return bool(sound and ((says >= 0) & (says < len(domain.tokens))).all())


def _begin(team: Team, batch: int) -> dict[str, NDArray[Any]]:
    """Returns the memory to go on with, or asks the agent for one; as `_act`."""
    if team.memory is not None:
        return team.memory
    try:
        with quiet:
            return team.agent.begin(batch, len(team.roles))
    except (Exception, SystemExit) as error:
        raise StsError(
            f"agent {team.agent.name!r} failed to begin: {type(error).__name__}: {error}"
        ) from error


def _act(
    domain: Domain, agent: Agent, given: tuple[Any, ...], t: int
) -> tuple[Choice, dict[str, NDArray[Any]]]:
    """Asks the agent, whose code may be anybody's: whatever it raises becomes one line."""
    try:
        with quiet:
            answer = agent.act(*given)
    except (Exception, SystemExit) as error:
        asked = isinstance(error, AttributeError) and error.obj is given[0]
        hint = f"; {domain.name} shows no such thing, is it another's agent?" if asked else ""
        raise StsError(
            f"agent {agent.name!r} failed at step {t}: {type(error).__name__}: {error}{hint}"
        ) from error
    if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], Choice)):
        raise StsError(f"agent {agent.name!r}: act must return (Choice, memory)")
    return answer


def _teller(told: Told, batch: int) -> Callable[[int], Instructions]:
    texts = ("", *dict.fromkeys(told.texts))
    numbers = {text: i for i, text in enumerate(texts)}
    ids = np.array([numbers[text] for text in told.texts], np.int32)
    given = np.array(told.given_at)
    if ids.shape != (batch,) or given.shape != (batch,):
        raise StsError(f"expected an instruction for each of {batch} episodes")
    return lambda t: Instructions(texts, np.where(given <= t, ids, 0).astype(np.int32))


def _first_counter(team: Team, t: int) -> tuple[int, int]:
    """Returns where step `t` begins in a team's streams, and how far apart its roles are."""
    stride = _SLOTS + team.agent.draws
    return (team.since + t) * len(team.roles) * stride, stride


def _draws(team: Team, t: int) -> NDArray[np.float64]:
    first, stride = _first_counter(team, t)
    out = np.empty((team.streams.size, len(team.roles), team.agent.draws))
    if out.size:
        _fill(team.streams, first + _SLOTS, stride, out)
    return out


class _Sample(NamedTuple):
    moves: NDArray[np.int8]
    says: NDArray[np.int8]
    move_weights: NDArray[np.float64] | None
    say_weights: NDArray[np.float64] | None


def _sampled(domain: Domain, team: Team, choice: Choice, t: int) -> _Sample:
    first, stride = _first_counter(team, t)
    shape = (team.streams.size, len(team.roles))
    chosen: list[NDArray[np.int8]] = []
    weights: list[NDArray[np.float64] | None] = []
    for slot, (given, count) in enumerate(
        ((choice.moves, len(domain.moves)), (choice.says, len(domain.tokens)))
    ):
        if given is None:
            if slot == 0:
                raise _no_choice(team, t, "no moves")
            chosen.append(np.zeros(shape, np.int8))
            weights.append(None)
            continue
        values = np.asarray(given)
        if values.shape == shape and values.dtype.kind in "iu":
            if not ((values >= 0) & (values < count)).all():
                raise _no_choice(team, t, f"an action outside 0..{count - 1}")
            chosen.append(values.astype(np.int8))
            weights.append(None)
            continue
        if values.shape != (*shape, count) or values.dtype.kind not in "fiub":
            raise _no_choice(team, t, f"{values.dtype}{list(values.shape)}")
        floats = np.ascontiguousarray(values, np.float64)
        picked = np.empty(shape, np.int8)
        bad = _choose(floats, team.streams, first + slot, stride, picked)
        if bad >= 0:
            raise _no_choice(team, t, f"weights {floats.reshape(-1, count)[bad].tolist()}")
        if team.agent.deterministic and (np.count_nonzero(floats, axis=-1) > 1).any():
            raise StsError(
                f"agent {team.agent.name!r} says that it is deterministic, so that one "
                f"continuation is enough, and at step {t} it weighs more than one action"
            )
        chosen.append(picked)
        weights.append(floats)
    return _Sample(chosen[0], chosen[1], weights[0], weights[1])


def _no_choice(team: Team, t: int, found: str) -> StsError:
    return StsError(
        f"agent {team.agent.name!r} at step {t}: expected weights at least 0 and not all 0, "
        f"[episodes, roles, actions], or integer actions [episodes, roles]; found {found}"
    )


def _log_probs(
    sample: _Sample, moves: NDArray[np.int8], says: NDArray[np.int8]
) -> NDArray[np.float64]:
    """Returns float64[B, R]: the log-probability of what was done, a little uniform mixed in."""
    if sample.move_weights is None:
        return np.full(moves.shape, np.nan)
    total = _log_prob(sample.move_weights, moves)
    if sample.say_weights is not None:
        total = total + _log_prob(sample.say_weights, says)
    return total


@compiled
def _log_prob(weights: NDArray[np.float64], actions: NDArray[np.int8]) -> NDArray[np.float64]:
    batch, roles, count = weights.shape
    out = np.empty((batch, roles))
    for b in range(batch):
        for r in range(roles):
            total = 0.0
            for a in range(count):
                total += weights[b, r, a]
            p = weights[b, r, actions[b, r]] / total
            out[b, r] = np.log((1.0 - MIXTURE) * p + MIXTURE / count)
    return out


@compiled
def pick(weights: NDArray[np.float64], total: float, u: float) -> int:
    """Returns the first action whose running sum of weights exceeds u * total, for u in [0, 1)."""
    bar, reached, last = u * total, 0.0, 0
    for a in range(weights.size):
        if weights[a] > 0.0:
            reached += weights[a]
            last = a
            if reached > bar:
                return a
    return last


@compiled
def _choose(
    weights: NDArray[np.float64],
    streams: NDArray[np.uint64],
    first: int,
    stride: int,
    out: NDArray[np.int8],
) -> int:
    """Samples an action a role; returns the first row that is no distribution, else -1."""
    batch, roles, count = weights.shape
    for b in range(batch):
        for r in range(roles):
            total = 0.0
            for a in range(count):
                w = weights[b, r, a]
                if not (w >= 0.0 and w < np.inf):
                    return int(b * roles + r)
                total += w
            if not (total > 0.0 and total < np.inf):
                return int(b * roles + r)
            out[b, r] = pick(weights[b, r], total, uniform(streams[b], first + r * stride))
    return -1


@compiled
def _fill(streams: NDArray[np.uint64], first: int, stride: int, out: NDArray[np.float64]) -> None:
    batch, roles, draws = out.shape
    for b in range(batch):
        for r in range(roles):
            for d in range(draws):
                out[b, r, d] = uniform(streams[b], first + r * stride + d)
