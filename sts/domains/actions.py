"""Action spaces of domains: one of several named moves, or an array of integers or real numbers.

An action is an array of one dtype and shape, `()` for a single number, between two bounds. So one
class represents Gymnasium's Discrete, MultiDiscrete, MultiBinary and Box.

A player can also say something at each step: one of the domain's tokens, or any text if it has
none.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sts.errors import ArgumentError
from sts.names import is_one_line

if TYPE_CHECKING:
    from sts.domains.protocol import Domain

MAX_MOVES = 127
"""Named moves of a domain; recordings keep their index as int8."""
MAX_ACTION_SIZE = 2**10
"""Maximum number of elements in one action."""
MAX_UTTERANCE_CHARS = 2000
"""Maximum length of an utterance."""
TEXT = np.dtypes.StringDType()
_MAX_EXACT = 2**53
"""Files store actions as float64, which represents every integer up to this one."""


@dataclass(frozen=True, eq=False)
class ActionSpace:
    """The set of actions of one player. Arrays are read-only."""

    dtype: np.dtype[Any]  # an integer or float type
    low: NDArray[Any]  # lower bounds, of the shape of an action; -inf if unbounded
    high: NDArray[Any]  # upper bounds; inf if unbounded. Actions themselves are always finite

    def __post_init__(self) -> None:
        """Convert the bounds to read-only arrays of the dtype.

        Raises:
          ArgumentError: the bounds are invalid, or allow integers that float64 cannot represent.
        """
        kind = np.dtype(self.dtype).newbyteorder("=")
        if kind.kind not in "iuf" or kind.itemsize > 8:
            raise ArgumentError(f"expected actions of integers or real numbers, found {kind}")
        low, high = (np.asarray(bound).astype(kind) for bound in (self.low, self.high))
        if low.shape != high.shape or not (low <= high).all() or low.size > MAX_ACTION_SIZE:
            raise ArgumentError(
                f"expected actions of at most {MAX_ACTION_SIZE} numbers, each between a lower and "
                f"an upper bound; found bounds of shapes {low.shape} and {high.shape}"
            )
        if kind.kind in "iu" and max(-int(low.min()), int(high.max()), 0) > _MAX_EXACT:
            raise ArgumentError(f"expected integer actions up to 2^53, found unbounded {kind}")
        for name, value in (("dtype", kind), ("low", low), ("high", high)):
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one action."""
        return self.low.shape

    def is_within_bounds(self, values: NDArray[Any]) -> bool:
        """Return True if actions [..., *shape] of any numeric type are finite and within bounds."""
        if values.dtype.kind in "iu" and not self.shape:  # quicker than a mask
            return not values.size or bool(self.low <= values.min() <= values.max() <= self.high)
        inside = np.isfinite(values) & (self.low <= values) & (values <= self.high)
        return bool(inside.all())

    def contains(self, values: NDArray[Any]) -> bool:
        """Return True if `values` are valid actions [..., *shape] of the same dtype."""
        inner = values.shape[values.ndim - len(self.shape) :]
        return values.dtype == self.dtype and inner == self.shape and self.is_within_bounds(values)

    def is_equal(self, other: ActionSpace) -> bool:
        """Return True if the other space has the same dtype and bounds."""
        bounds = ((self.low, other.low), (self.high, other.high))
        return self.dtype == other.dtype and all(np.array_equal(a, b) for a, b in bounds)

    def fill(self, leading: tuple[int, ...], action: ArrayLike) -> NDArray[Any]:
        """Return an array [*leading, *shape] filled with one action."""
        return np.full((*leading, *self.shape), action, self.dtype)

    def sample(self, generator: np.random.Generator, leading: tuple[int, ...]) -> NDArray[Any]:
        """Sample actions [*leading, *shape]; a missing bound is 2 from the other, or -1 and 1."""
        size = (*leading, *self.shape)
        if self.dtype.kind in "iu":
            return generator.integers(self.low, self.high, size, self.dtype, endpoint=True)
        low, high = self.low.astype(float), self.high.astype(float)
        lower = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2, -1))
        upper = np.where(np.isfinite(high), high, lower + 2)
        return ActionSpace(self.dtype, lower, upper).interpolate(generator.random(size))

    @property
    def is_bounded(self) -> bool:
        """True if every element has a lower and an upper bound."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())

    def interpolate(self, fractions: NDArray[np.float64]) -> NDArray[Any]:
        """Map `fractions`, [..., *shape] in [0, 1), linearly onto the range from `low` to `high`.

        Uniform fractions give uniform actions. The space must be bounded.
        """
        low, high = self.low.astype(float), self.high.astype(float)
        if self.dtype.kind in "iu":
            mixed = low + np.floor(fractions * (high - low + 1))
        else:
            mixed = low * (1 - fractions) + high * fractions  # high - low could overflow
        actions: NDArray[Any] = np.clip(mixed, low, high).astype(self.dtype)
        return actions

    @property
    def log_volume(self) -> float:
        """The log of the number of actions, or of the volume if they are real numbers.

        A real number with only one possible value contributes a factor of 1.
        """
        if self.dtype.kind in "iu":
            return float(np.log(self.high.astype(float) - self.low + 1).sum())
        half = np.atleast_1d(self.high.astype(float) / 2 - self.low.astype(float) / 2)
        return float(np.log(half[half > 0]).sum() + np.log(2) * np.count_nonzero(half))

    def describe(self) -> str:
        """Return the dtype and shape as text, such as float32[3] or int8."""
        return f"{self.dtype}{list(self.shape) if self.shape else ''}"


@functools.cache
def make_discrete_space(count: int) -> ActionSpace:
    """Return the space of the indices of `count` moves, of which there are 1 to 127."""
    if not 1 <= count <= MAX_MOVES:
        raise ArgumentError(f"expected 1 to {MAX_MOVES} moves, found {count}")
    return ActionSpace(np.dtype(np.int8), np.array(0), np.array(count - 1))


def action_space(domain: Domain) -> ActionSpace:
    """Return the `action_space` of a domain, or the indices of its `action_names`."""
    declared: ActionSpace | None = getattr(domain, "action_space", None)
    return make_discrete_space(len(domain.action_names)) if declared is None else declared


def silent_utterances(domain: Domain, size: tuple[int, ...]) -> NDArray[Any]:
    """Return an array of silent utterances: token 0, or the empty text."""
    return np.zeros(size, np.int8 if domain.tokens else TEXT)


def are_valid_utterances(domain: Domain, utterances: NDArray[Any]) -> bool:
    """Return True if all are tokens of the domain, or one-line texts if it has no tokens."""
    if domain.tokens:
        is_integer = utterances.dtype.kind in "iu"
        return is_integer and (
            not utterances.size or 0 <= utterances.min() <= utterances.max() < len(domain.tokens)
        )
    if utterances.dtype.kind not in "TU":
        return False
    return all(
        is_one_line(text, MAX_UTTERANCE_CHARS) for text in set(utterances.ravel().tolist()) - {""}
    )


def reward_values(domain: Domain, rewards: NDArray[Any]) -> NDArray[np.float64]:
    """Convert recorded rewards to numbers, multiplying by the domain's reward unit if any."""
    return rewards * (1.0 if domain.reward_unit is None else domain.reward_unit)
