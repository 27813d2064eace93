"""What a participant can do at a step: one of several moves, several numbers at once, or real ones.

An action is an array of a dtype and a shape; `()` is a single number. All that a domain allows lies
between two bounds, so one type holds Gymnasium's Discrete, MultiDiscrete, MultiBinary and Box.

What it can say besides is one of the domain's tokens, or, where a domain names none, any text.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sts.errors import ArgumentError
from sts.names import one_line

if TYPE_CHECKING:
    from sts.domains.protocol import Domain

MOST_NUMBERS = 2**10
"""Numbers of one action."""
LETTERS = 2000
"""Letters of an utterance."""
TEXT = np.dtypes.StringDType()
_EXACT = 2**53
"""Files keep actions as float64, which holds every whole number up to this one."""


@dataclass(frozen=True, eq=False)
class ActionSpace:
    """The actions of one participant. Arrays are read-only.

    Attributes:
      dtype: of its numbers, whole or real.
      low: the least that each may be, of the shape of an action; -inf where there is no bound.
      high: the most; no action is infinite all the same.
    """

    dtype: np.dtype[Any]
    low: NDArray[Any]
    high: NDArray[Any]

    def __post_init__(self) -> None:
        """Make the bounds arrays of the dtype.

        Raises:
          ArgumentError: they are no bounds, or of numbers that no file keeps exactly.
        """
        kind = np.dtype(self.dtype).newbyteorder("=")
        if kind.kind not in "iuf" or kind.itemsize > 8:
            raise ArgumentError(f"expected actions of whole or real numbers, found {kind}")
        low, high = (np.asarray(one).astype(kind) for one in (self.low, self.high))
        if low.shape != high.shape or not (low <= high).all() or low.size > MOST_NUMBERS:
            raise ArgumentError(
                f"expected actions of at most {MOST_NUMBERS} numbers, each between a lower and an "
                f"upper bound; found bounds of shapes {low.shape} and {high.shape}"
            )
        if kind.kind in "iu" and max(-int(low.min()), int(high.max()), 0) > _EXACT:
            raise ArgumentError(f"expected whole actions up to 2^53, found {kind} without bounds")
        for name, value in (("dtype", kind), ("low", low), ("high", high)):
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one action."""
        return self.low.shape

    def within(self, values: NDArray[Any]) -> bool:
        """Whether actions [..., *shape] of any type of number are finite and within the bounds."""
        if not values.size:
            return True
        if self.shape == () and self.dtype.kind != "f":  # the usual case, at every step
            return bool(self.low <= values.min() and values.max() <= self.high)
        inside = np.isfinite(values) & (self.low <= values) & (values <= self.high)
        return bool(inside.all())

    def holds(self, values: NDArray[Any]) -> bool:
        """Whether `values` are actions [..., *shape] of this very type."""
        inner = values.shape[values.ndim - len(self.shape) :]
        return values.dtype == self.dtype and inner == self.shape and self.within(values)

    def same(self, other: ActionSpace) -> bool:
        """Whether it allows the same actions, of the same dtype."""
        bounds = ((self.low, other.low), (self.high, other.high))
        return self.dtype == other.dtype and all(np.array_equal(a, b) for a, b in bounds)

    def full(self, leading: tuple[int, ...], action: ArrayLike) -> NDArray[Any]:
        """Return [*leading, *shape], the one action everywhere."""
        return np.full((*leading, *self.shape), action, self.dtype)

    def drawn(self, generator: np.random.Generator, leading: tuple[int, ...]) -> NDArray[Any]:
        """Return [*leading, *shape] at random; where there is no bound, near to the other or 0."""
        size = (*leading, *self.shape)
        if self.dtype.kind in "iu":
            return generator.integers(self.low, self.high, size, self.dtype, endpoint=True)
        low, high = self.low.astype(float), self.high.astype(float)
        least = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2, -1))
        most = np.where(np.isfinite(high), high, least + 2)
        return ActionSpace(self.dtype, least, most).interpolate(generator.random(size))

    @property
    def is_bounded(self) -> bool:
        """True if each number has a lower and an upper bound."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())

    def interpolate(self, shares: NDArray[np.float64]) -> NDArray[Any]:
        """Return the actions that lie `shares`, [..., *shape] in [0, 1), of the way up the bounds.

        Uniform shares give uniform actions. The space must be bounded.
        """
        low, high = self.low.astype(float), self.high.astype(float)
        if self.dtype.kind in "iu":
            mixed = low + np.floor(shares * (high - low + 1))
        else:
            mixed = low * (1 - shares) + high * shares  # high - low may be beyond float64
        actions: NDArray[Any] = np.clip(mixed, low, high).astype(self.dtype)
        return actions

    @property
    def log_volume(self) -> float:
        """The log of how many actions there are; of real numbers, of the volume they fill.

        A real number with one possible value counts as 1.
        """
        if self.dtype.kind in "iu":
            return float(np.log(self.high.astype(float) - self.low + 1).sum())
        half = np.atleast_1d(self.high.astype(float) / 2 - self.low.astype(float) / 2)
        return float(np.log(half[half > 0]).sum() + np.log(2) * np.count_nonzero(half))

    def text(self) -> str:
        """Return its type in a few letters, such as float32[3] or int8."""
        return f"{self.dtype}{list(self.shape) if self.shape else ''}"


@functools.cache
def discrete(count: int) -> ActionSpace:
    """Return the choice of one of `count` moves, of which there are 1 to 127."""
    if not 1 <= count <= 127:
        raise ArgumentError(f"expected 1 to 127 moves, found {count}")
    return ActionSpace(np.dtype(np.int8), np.array(0), np.array(count - 1))


def action_space(domain: Domain) -> ActionSpace:
    """Return what a participant of a domain can do: its `actions`, or one of its `moves`."""
    own: ActionSpace | None = getattr(domain, "actions", None)
    return discrete(len(domain.moves)) if own is None else own


def silence(domain: Domain, size: tuple[int, ...]) -> NDArray[Any]:
    """Return `size` utterances of nothing: token 0, or the empty text."""
    return np.zeros(size, np.int8 if domain.tokens else TEXT)


def sayable(domain: Domain, says: NDArray[Any]) -> bool:
    """Whether all of `says` are tokens of a domain, or texts of one line where it names none."""
    if domain.tokens:
        whole = says.dtype.kind in "iu"
        return whole and (not says.size or 0 <= says.min() <= says.max() < len(domain.tokens))
    if says.dtype.kind not in "TU":
        return False
    return all(one_line(one, LETTERS) for one in set(says.ravel().tolist()) - {""})


def reward_values(domain: Domain, rewards: NDArray[Any]) -> NDArray[np.float64]:
    """Return recorded rewards as numbers: as they are, or so many of the domain's units."""
    return rewards * (1.0 if domain.reward_unit is None else domain.reward_unit)
