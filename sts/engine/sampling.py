"""What an agent answers, checked and sampled: one action for each of its roles.

An agent's weights are sampled from its episode's stream, so an agent's draws never move the world
and no episode depends on which others share its batch. Of each step's draws a role uses `SLOTS` for
what it does and the agent's own `draws` after them.

Axes: B episodes, R roles of a team, A actions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Choice
from sts.domains import Domain
from sts.errors import StsError
from sts.numerics.compiled import compiled
from sts.numerics.draws import uniform

MIXTURE = 0.01
SLOTS = 2


class Draws(NamedTuple):
    """Where one step of one team stands in its episodes' streams.

    Attributes:
      streams: uint64[B].
      first: the counter of the first role's first draw.
      stride: how far apart its roles are.
      roles: R.
    """

    streams: NDArray[np.uint64]
    first: int
    stride: int
    roles: int

    def own(self) -> NDArray[np.float64]:
        """Returns float64[B, R, draws]: what the agent is given for its own planning."""
        out = np.empty((self.streams.size, self.roles, self.stride - SLOTS))
        if out.size:
            _fill(self.streams, self.first + SLOTS, self.stride, out)
        return out


class Sample(NamedTuple):
    """What a team chooses: int8[B, R] each, and the weights float64[B, R, A] it was drawn from."""

    moves: NDArray[np.int8]
    says: NDArray[np.int8]
    move_weights: NDArray[np.float64] | None
    say_weights: NDArray[np.float64] | None


def draws_of(agent: Agent, roles: int, streams: NDArray[np.uint64], step: int) -> Draws:
    """Returns the draws that a team of `roles` has at its `step`."""
    stride = SLOTS + agent.draws
    return Draws(streams, step * roles * stride, stride, roles)


def sampled(domain: Domain, agent: Agent, choice: Choice, draws: Draws, step: int) -> Sample:
    """Returns one action for each role.

    Raises:
      StsError: the choice is none; names the agent and the `step`.
    """
    shape = (draws.streams.size, draws.roles)
    chosen: list[NDArray[np.int8]] = []
    weights: list[NDArray[np.float64] | None] = []
    for slot, (given, count) in enumerate(
        ((choice.moves, len(domain.moves)), (choice.says, len(domain.tokens)))
    ):
        if given is None:
            if slot == 0:
                raise _no_choice(agent, step, "no moves")
            chosen.append(np.zeros(shape, np.int8))
            weights.append(None)
            continue
        values = np.asarray(given)
        if values.shape == shape and values.dtype.kind in "iu":
            if not ((values >= 0) & (values < count)).all():
                raise _no_choice(agent, step, f"an action outside 0..{count - 1}")
            chosen.append(values.astype(np.int8))
            weights.append(None)
            continue
        if values.shape != (*shape, count) or values.dtype.kind not in "fiub":
            raise _no_choice(agent, step, f"{values.dtype}{list(values.shape)}")
        floats = np.ascontiguousarray(values, np.float64)
        picked = np.empty(shape, np.int8)
        bad = _choose(floats, draws.streams, draws.first + slot, draws.stride, picked)
        if bad >= 0:
            raise _no_choice(agent, step, f"weights {floats.reshape(-1, count)[bad].tolist()}")
        if agent.deterministic and (np.count_nonzero(floats, axis=-1) > 1).any():
            raise StsError(
                f"agent {agent.name!r} says that it is deterministic, so that one "
                f"continuation is enough, and at step {step} it weighs more than one action"
            )
        chosen.append(picked)
        weights.append(floats)
    return Sample(chosen[0], chosen[1], weights[0], weights[1])


def _no_choice(agent: Agent, step: int, found: str) -> StsError:
    return StsError(
        f"agent {agent.name!r} at step {step}: expected weights at least 0 and not all 0, "
        f"[episodes, roles, actions], or integer actions [episodes, roles]; found {found}"
    )


def log_probs(
    sample: Sample, moves: NDArray[np.int8], says: NDArray[np.int8]
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
