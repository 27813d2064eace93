"""What happened in one world: the record that trajectories, scenarios and continuations share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.errors import DamagedData
from sts.storage.files import canonical_json, content_hash

ACTION_DTYPES = tuple(
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
)
"""Dtypes of actions, each of whose values float64 holds, but for whole numbers beyond 2^53."""
_FIELDS = {
    "moves": ACTION_DTYPES,
    "says": ("int8", "text"),
    "rewards": ("int8", "float64"),
    "scene": ("uint16",),
}


def dtype_name(array: NDArray[Any]) -> str:
    """Return what files call the type of an array: "int8", "float32", "text"."""
    return _name(array.dtype)


@cache
def _name(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype, which NumPy makes anew each time."""
    return "text" if dtype.kind == "T" else dtype.name


def _raw(array: NDArray[Any]) -> bytes:
    return canonical_json(array.tolist()) if array.dtype.kind == "T" else array.tobytes()


@dataclass(frozen=True, eq=False)
class Episode:
    """T steps of P participants, and the state they began in. Arrays are read-only.

    Attributes:
      domain: the name of the world's domain.
      state: the serialised state before step 0.
      moves: [T, P, ...], of the dtype and shape of the domain's actions; int8[T, P] where it has
        named moves. Row t acts on state t.
      says: [T, P], what was said: int8, tokens, of which 0 is silence; or texts, where "" is.
      rewards: [T, P], received after each step: int8, in the domain's reward unit, or float64
        where it has none.
      scene: uint16[T + 1, K], what is where; row t is before step t.
    """

    domain: str
    state: bytes
    moves: NDArray[Any]
    says: NDArray[Any]
    rewards: NDArray[Any]
    scene: NDArray[np.uint16]

    def __post_init__(self) -> None:
        """Make the arrays read-only.

        Raises:
          DamagedData: their shapes or types do not agree, or a number is none.
        """
        for name, dtypes in _FIELDS.items():
            array = np.ascontiguousarray(getattr(self, name))
            if array.ndim < 2 or (array.ndim > 2 and name != "moves"):
                raise DamagedData(f"episode: {name} must be [steps, ...], found {array.shape}")
            if array.dtype.kind == "U":
                array = array.astype(np.dtypes.StringDType())
            if dtype_name(array) not in dtypes:
                raise DamagedData(
                    f"episode: {name} must be {' or '.join(dtypes)}, found {array.dtype}"
                )
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise DamagedData(f"episode: expected finite {name}, found NaN or infinity")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        same = self.moves.shape[:2] == self.says.shape == self.rewards.shape
        if not same or len(self.scene) != len(self.moves) + 1:
            raise DamagedData("episode: its step columns differ in length")

    @property
    def steps(self) -> int:
        """T."""
        return len(self.moves)

    @property
    def participants(self) -> int:
        """P."""
        return int(self.moves.shape[1])

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 over everything in it."""
        shape = f"{self.domain}:{self.moves.shape}:{self.scene.shape}"
        for array in (self.moves, self.rewards, self.says):  # what is int8 keeps its hash
            shape += "" if array.dtype == np.int8 else f":{dtype_name(array)}"
        return content_hash(shape.encode(), self.state, *map(_raw, self._arrays))

    @property
    def appearance(self) -> str:
        """SHA-256 over what can be seen and heard of it: its scenes, and what was said."""
        shape = f"{self.domain}:{self.says.shape}:{self.scene.shape}:{dtype_name(self.says)}"
        return content_hash(shape.encode(), _raw(self.says), _raw(self.scene))

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.moves, self.says, self.rewards, self.scene

    def part(self, state: bytes, start: int, stop: int) -> Episode:
        """Return steps `start` to `stop`; `state` is the one before step `start`."""
        return Episode(
            self.domain,
            state,
            self.moves[start:stop],
            self.says[start:stop],
            self.rewards[start:stop],
            self.scene[start : stop + 1],
        )


@dataclass(frozen=True)
class Instruction:
    """What somebody is asked to do or to answer.

    Attributes:
      text: as it is read.
      category: the prompt category it came from.
      given_at: the step from which it is known; it is invisible before.
      source: "setter", given during the recording, or "curator", written in hindsight.
    """

    text: str
    category: str
    given_at: int
    source: str

    def __post_init__(self) -> None:
        """Raise DamagedData where a field is of another type, as in a file made elsewhere."""
        texts = (self.text, self.category, self.source)
        if type(self.given_at) is not int or not all(isinstance(t, str) for t in texts):
            raise DamagedData(f"expected an instruction of texts and a step, found {self.view()}")

    def view(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return dict(vars(self))


def in_order(judged: Instruction, heard: Sequence[Instruction]) -> tuple[Instruction, ...]:
    """Return instructions in the order of their steps; of one step the judged one is the last."""
    return tuple(sorted((*heard, judged), key=lambda one: one.given_at))
