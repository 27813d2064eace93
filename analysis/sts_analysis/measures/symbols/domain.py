"""Environments with one player, who observes one symbol and the last reward at each step.

Axes: B environments of one kind, E environments of a class.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence, Set
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sts.errors import ArgumentError, DamagedState
from sts.numerics.streams import stream
from sts.storage.files import canonical_json
from sts_analysis.measures.classes import Chosen

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


class Observation(NamedTuple):
    """Observations of the players of B environments."""

    step: Ints  # int64[B], the number of steps taken
    symbol: Ints  # int64[B, 1], from 0 to `n_symbols` - 1
    last_reward: Floats  # float64[B, 1], from -1 to 1; 0 before the first step
    last_move: Ints  # int64[B, 1], the last action; -1 before the first step
    n_symbols: int
    n_actions: int


class Field(NamedTuple):
    """A whole number in a state, or an array of them."""

    low: int
    high: int
    shape: tuple[int, ...] = ()

    def contains(self, values: NDArray[Any]) -> bool:
        """Return True if these are values of the field in B states, int64[B, *shape]."""
        fits = values.dtype == np.int64 and values.shape[1:] == self.shape
        return fits and bool(((self.low <= values) & (values <= self.high)).all())


class Batch(ABC):
    """B environments of one kind, stepped together; the class is their domain, `symbols`.

    It has what the engine needs to play. Its states are not recorded or drawn, so it is not a whole
    `sts.domains.Domain` and not an entry point; classes of environments refer to it. `fields` are
    those of a state, next to the step and the last action; `values` are int64[B, *shape] by field.
    """

    name, tokens, reward_unit, noop = "symbols", ("silence",), None, 0
    kind: ClassVar[str]
    action_names: ClassVar[tuple[str, ...]]
    n_symbols: ClassVar[int]
    fields: ClassVar[dict[str, Field]]

    def __init__(self, values: dict[str, Any]) -> None:
        """Take the fields; without the step and the last action, the states are initial ones."""
        batch = len(next(iter(values.values())))
        first = {"step": [0] * batch, "last_move": [-1] * batch}
        self.values: dict[str, Ints] = {k: np.array(own) for k, own in (first | values).items()}
        self._last: Floats | None = None  # the rewards of the last step, once they were asked for

    @classmethod
    def restore(cls, states: Sequence[bytes]) -> Self:
        """Restore environments; raise DamagedState if one is not of this kind."""
        last = {"step": Field(0, 2**53), "last_move": Field(-1, len(cls.action_names) - 1)}
        fields = cls.fields | last
        try:
            number = {state: i for i, state in enumerate(dict.fromkeys(states))}
            decoded = [json.loads(state) for state in number]
            values = {name: np.array([one.pop(name) for one in decoded]) for name in fields}
            if all(one == {"kind": cls.kind} for one in decoded) and all(
                field.contains(values[name]) for name, field in fields.items()
            ):
                return cls(values).select(np.array([number[state] for state in states]))
        except (ValueError, TypeError, LookupError, AttributeError):
            pass
        raise DamagedState(f"expected states of {cls.kind}, found others")

    def states(self) -> list[bytes]:
        """Return the serialised state of each environment, as JSON."""
        names, lists = self.values.keys(), [array.tolist() for array in self.values.values()]
        rows = (dict(zip(names, row, strict=True)) for row in zip(*lists, strict=True))
        return [canonical_json({"kind": self.kind} | row) for row in rows]

    def select(self, rows: NDArray[Any]) -> Self:
        """Return the environments of these `rows`."""
        return type(self)({name: array[rows] for name, array in self.values.items()})

    @property
    def rewards(self) -> Floats:
        """float64[B, 1], the rewards of the last step; 0 before the first."""
        if self._last is None:
            self._last = np.where(self.values["step"] > 0, self._rewards(), 0.0)[:, None]
        return self._last

    @property
    def scene(self) -> NDArray[np.uint16]:
        """uint16[B, 1], the symbols."""
        return self._symbols()[:, None].astype(np.uint16)

    def observe(self, players: ArrayLike, *, team: ArrayLike, world: bool) -> Observation:
        """Return the observations of the players, one in each environment."""
        step, last_move = (self.values[name].copy() for name in ("step", "last_move"))
        symbol, sizes = self._symbols()[:, None], (self.n_symbols, len(self.action_names))
        return Observation(step, symbol, self.rewards.copy(), last_move[:, None], *sizes)

    def step(self, actions: NDArray[np.int8], utterances: NDArray[np.int8]) -> None:
        """Advance every environment by one step."""
        moves = actions[:, 0].astype(np.int64)
        self._advance(moves)
        self.values |= {"step": self.values["step"] + 1, "last_move": moves}
        self._last = None

    @abstractmethod
    def _advance(self, moves: Ints) -> None:
        """Replace `values`, except the step and the last action, after actions int64[B]."""

    @abstractmethod
    def _rewards(self) -> Floats:
        """Return float64[B], the rewards of being in the present states."""

    @abstractmethod
    def _symbols(self) -> Ints:
        """Return int64[B], the symbols of the present states."""


class ListedClass:
    """A class of environments that can be listed; see `classes.EnvironmentClass`."""

    name: ClassVar[str]

    def __init__(self, environments: Batch, complexities: Floats) -> None:
        """Take the initial environments and their complexities, float64[E]."""
        self.domain, self.highest = type(environments), float(complexities.max())
        self._complexities, self._states = complexities, environments.states()
        self._rows = {state: row for row, state in enumerate(self._states)}

    def list_environments(self) -> list[bytes]:
        """Return the E initial states, always in the same order."""
        return self._states.copy()

    def choose(
        self, low: float, high: float, *, n_players: int, key: Sequence[int], used: Set[bytes]
    ) -> Chosen | None:
        """Return an environment, of which each that is left has the same chance."""
        if n_players != 1:
            raise ArgumentError(f"class {self.name}: expected a team of 1, found {n_players}")
        fits = (low <= self._complexities) & (self._complexities <= high)
        fits[[self._rows[state] for state in used]] = False
        left = np.flatnonzero(fits).tolist()
        row = left[int(stream("class", *key)) % len(left)] if left else 0
        return Chosen(self._states[row], float(self._complexities[row])) if left else None
