"""Validation and sampling of policy outputs: one action for each player of an agent.

Actions are sampled from a random stream per episode, so sampling never affects the environment,
and no episode depends on which others share its batch. At each step a player uses `ENGINE_DRAWS`
draws for sampling, followed by the agent's own `draws`.

Axes: B episodes, R roles of a team, A actions.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, PolicyOutput
from sts.domains import Domain, action_space, are_valid_utterances, silent_utterances
from sts.domains.actions import MAX_UTTERANCE_CHARS, TEXT
from sts.errors import StsError
from sts.numerics.compiled import jit
from sts.numerics.draws import random_uniform

UNIFORM_SHARE = 0.01
ENGINE_DRAWS = 2


class StepDraws(NamedTuple):
    """The random draws of one step of one team: positions in its episodes' streams."""

    streams: NDArray[np.uint64]  # uint64[B]
    first: int  # the counter of the first player's first draw
    stride: int  # the number of draws per player
    players: int  # R

    def agent_draws(self) -> NDArray[np.float64]:
        """Return the random numbers for the agent's own planning, float64[B, R, draws]."""
        out = np.empty((self.streams.size, self.players, self.stride - ENGINE_DRAWS))
        if out.size:
            _fill_uniform(self.streams, self.first + ENGINE_DRAWS, self.stride, out)
        return out


class Sample(NamedTuple):
    """The sampled actions of a team, with their distributions."""

    actions: NDArray[Any]  # [B, R, ...], actions of the domain
    utterances: NDArray[Any]  # [B, R], tokens or texts
    # float64[B, R, A] of the actions; None if the agent returned actions
    move_weights: NDArray[np.float64] | None
    # float64[B, R, A] of the tokens; None if the agent returned utterances or none
    say_weights: NDArray[np.float64] | None
    # float64[B, R], reported by an agent that returned actions; else None
    log_probs: NDArray[np.float64] | None = None


def make_step_draws(
    agent: Agent, players: int, streams: NDArray[np.uint64], step: int
) -> StepDraws:
    """Return the draws of a team with `players` players at its step number `step`."""
    stride = ENGINE_DRAWS + agent.draws
    return StepDraws(streams, step * players * stride, stride, players)


def sample_output(
    domain: Domain, agent: Agent, choice: PolicyOutput, draws: StepDraws, step: int
) -> Sample:
    """Validate a policy output and sample an action for each player.

    Raises:
      StsError: the output is invalid; names the agent and the `step`.
    """
    if choice.actions is None:
        raise _invalid_output(agent, step, _EXPECTED_WEIGHTS, "no moves")
    if count := len(domain.action_names):
        actions, move_weights = _sample_indices(agent, choice.actions, count, draws, 0, step)
    else:
        actions, move_weights = _validate_actions(domain, agent, choice.actions, draws, step), None
    utterances, say_weights = silent_utterances(domain, actions.shape[:2]), None
    if choice.utterances is not None and not domain.tokens:
        utterances = _validate_texts(domain, agent, choice.utterances, draws, step)
    elif choice.utterances is not None:
        utterances, say_weights = _sample_indices(
            agent, choice.utterances, len(domain.tokens), draws, 1, step
        )
    log_probs = None
    if choice.log_probs is not None and move_weights is None:
        raw = np.asarray(choice.log_probs)
        is_number = raw.shape == utterances.shape and raw.dtype.kind in "iuf"
        if not (is_number and np.isfinite(raw).all()):
            expected = f"finite log-probabilities, float{list(utterances.shape)}"
            raise _invalid_output(agent, step, expected, f"{raw.dtype}{list(raw.shape)}")
        log_probs = raw.astype(np.float64)
    return Sample(actions, utterances, move_weights, say_weights, log_probs)


def _sample_indices(
    agent: Agent, raw: Any, count: int, draws: StepDraws, slot: int, step: int
) -> tuple[NDArray[np.int8], NDArray[np.float64] | None]:
    """Return indices int8[B, R] of `count` moves or tokens, and the weights if any were given."""
    shape = (draws.streams.size, draws.players)
    values = np.asarray(raw)
    if values.shape == shape and values.dtype.kind in "iu":
        if not ((values >= 0) & (values < count)).all():
            raise _invalid_output(
                agent, step, _EXPECTED_WEIGHTS, f"an action outside 0..{count - 1}"
            )
        return values.astype(np.int8), None
    if values.shape != (*shape, count) or values.dtype.kind not in "fiub":
        expected = f"{_EXPECTED_WEIGHTS}, of {shape[0]} episodes"
        raise _invalid_output(agent, step, expected, f"{values.dtype}{list(values.shape)}")
    floats = np.ascontiguousarray(values, np.float64)
    picked = np.empty(shape, np.int8)
    bad = _sample_all(floats, draws.streams, draws.first + slot, draws.stride, picked)
    if bad >= 0:
        weights = floats.reshape(-1, count)[bad].tolist()
        raise _invalid_output(agent, step, _EXPECTED_WEIGHTS, f"weights {weights}")
    if agent.deterministic and (np.count_nonzero(floats, axis=-1) > 1).any():
        raise StsError(
            f"agent {agent.name!r} at step {step}: expected a single action with positive weight, "
            "since the agent declares deterministic = True; found several"
        )
    return picked, floats


def _validate_actions(
    domain: Domain, agent: Agent, raw: Any, draws: StepDraws, step: int
) -> NDArray[Any]:
    """Validate actions [B, R, ...] of a domain without named moves."""
    space = action_space(domain)
    size = (draws.streams.size, draws.players, *space.shape)
    expected = f"actions {space.dtype}{list(size)} within the bounds of {domain.name}"
    values = np.asarray(raw)
    if values.shape != size or not np.can_cast(values.dtype, space.dtype, "same_kind"):
        raise _invalid_output(agent, step, expected, f"{values.dtype}{list(values.shape)}")
    if not space.is_within_bounds(values):
        actions = values.reshape(-1, *space.shape)
        outside = [action for action in actions if not space.is_within_bounds(action)]
        raise _invalid_output(agent, step, expected, f"{outside[0].tolist()!r:.80}")
    return values.astype(space.dtype)


def _validate_texts(
    domain: Domain, agent: Agent, raw: Any, draws: StepDraws, step: int
) -> NDArray[Any]:
    """Validate texts [B, R] of a domain without tokens."""
    size = (draws.streams.size, draws.players)
    expected = f"texts {list(size)} of one line and {MAX_UTTERANCE_CHARS} printable characters"
    values = np.asarray(raw)
    if values.shape != size or not are_valid_utterances(domain, values):
        raise _invalid_output(agent, step, expected, f"{values.tolist()!r:.80}")
    return values.astype(TEXT)


_EXPECTED_WEIGHTS = (
    "weights at least 0 and not all 0, [episodes, roles, actions], or integer actions "
    "[episodes, roles]"
)


def _invalid_output(agent: Agent, step: int, expected: str, found: str) -> StsError:
    return StsError(f"agent {agent.name!r} at step {step}: expected {expected}; found {found}")


def compute_log_probs(
    sample: Sample, actions: NDArray[Any], utterances: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the log-probabilities of executed actions and utterances, float64[B, R].

    Weights are mixed with a share `UNIFORM_SHARE` of the uniform distribution. If the agent
    returned actions, the result is its own `log_probs`, unmixed, and NaN if another was executed.
    """
    if sample.move_weights is not None:
        total = _log_prob(sample.move_weights, actions)
    elif sample.log_probs is not None:
        is_executed = (sample.actions == actions).reshape(*utterances.shape, -1).all(-1)
        total = np.where(is_executed, sample.log_probs, np.nan)
    else:
        return np.full(utterances.shape, np.nan)
    if sample.say_weights is not None:
        total = total + _log_prob(sample.say_weights, utterances)
    return total


@jit
def _log_prob(weights: NDArray[np.float64], actions: NDArray[np.int8]) -> NDArray[np.float64]:
    batch, players, count = weights.shape
    out = np.empty((batch, players))
    known, log_prob = np.nan, np.nan  # a batch has few different probabilities
    for b in range(batch):
        for r in range(players):
            total = 0.0
            for a in range(count):
                total += weights[b, r, a]
            p = weights[b, r, actions[b, r]] / total
            if p != known:
                known, log_prob = p, np.log((1.0 - UNIFORM_SHARE) * p + UNIFORM_SHARE / count)
            out[b, r] = log_prob
    return out


@jit
def sample_index(weights: NDArray[np.float64], total: float, u: float) -> int:
    """Return the first index whose cumulative weight exceeds u * total, for u in [0, 1).

    Weights are at least 0, and `total`, their sum in this order, is above 0.
    """
    threshold, cumulative, index = u * total, 0.0, 0
    for a in range(weights.size):
        cumulative += weights[a]
        index += cumulative <= threshold
    while index == weights.size or weights[index] <= 0.0:  # if rounding left u * total unexceeded
        index -= 1
    return index


@jit
def _sample_all(
    weights: NDArray[np.float64],
    streams: NDArray[np.uint64],
    first: int,
    stride: int,
    out: NDArray[np.int8],
) -> int:
    """Sample an action per player; return the first row with invalid weights, else -1."""
    batch, players, count = weights.shape
    for b in range(batch):
        for r in range(players):
            total, valid = 0.0, True
            for a in range(count):
                valid &= weights[b, r, a] >= 0.0
                total += weights[b, r, a]
            if not (valid and total > 0.0 and total < np.inf):
                return int(b * players + r)
            out[b, r] = sample_index(
                weights[b, r], total, random_uniform(streams[b], first + r * stride)
            )
    return -1


@jit
def _fill_uniform(
    streams: NDArray[np.uint64], first: int, stride: int, out: NDArray[np.float64]
) -> None:
    batch, players, draws = out.shape
    for b in range(batch):
        for r in range(players):
            for d in range(draws):
                out[b, r, d] = random_uniform(streams[b], first + r * stride + d)
