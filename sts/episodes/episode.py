"""Episode and instruction types, shared by trajectories, scenarios and continuations."""

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
"""Dtypes of actions; float64 represents all their values exactly, except integers above 2^53."""
MARKS = ("success", "failure", "cannot_tell")
"""Marks of a setter: whether an instruction was carried out."""
_INT8 = np.dtype(np.int8)
_FIELDS = {
    "actions": ACTION_DTYPES,
    "utterances": ("int8", "text"),
    "rewards": ("int8", "float64"),
    "scene": ("uint16",),
}


@cache
def dtype_name(dtype: np.dtype[Any]) -> str:
    """Return a type's name in files, "int8", "float32" or "text"; `dtype.name` is slow."""
    return "text" if dtype.kind == "T" else dtype.name


def _array_bytes(array: NDArray[Any]) -> bytes:
    return canonical_json(array.tolist()) if array.dtype.kind == "T" else array.tobytes()


@dataclass(frozen=True, eq=False)
class Episode:
    """T steps of P players, with their initial state. Arrays are read-only.

    Attributes:
      domain: the name of the domain.
      state: the serialised state before step 0.
      actions: [T, P, ...], actions of the domain; int8[T, P] if they have names. Row t acts on
        state t.
      utterances: [T, P], the utterances: int8 tokens, 0 being silence; or texts, "" being silence.
      rewards: [T, P], received after each step: int8, in the domain's reward unit, or float64
        without a unit.
      scene: uint16[T + 1, K], the scenes; row t is before step t.
    """

    domain: str
    state: bytes
    actions: NDArray[Any]
    utterances: NDArray[Any]
    rewards: NDArray[Any]
    scene: NDArray[np.uint16]

    def __post_init__(self) -> None:
        """Validate the arrays and make them read-only.

        Raises:
          DamagedData: shapes or types do not agree, or a number is NaN or infinite.
        """
        for name, dtypes in _FIELDS.items():
            array = np.ascontiguousarray(getattr(self, name))
            if array.ndim < 2 or (array.ndim > 2 and name != "actions"):
                raise DamagedData(f"episode: {name} must be [steps, ...], found {array.shape}")
            if array.dtype.kind == "U":
                array = array.astype(np.dtypes.StringDType())
            if dtype_name(array.dtype) not in dtypes:
                raise DamagedData(
                    f"episode: {name} must be {' or '.join(dtypes)}, found {array.dtype}"
                )
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise DamagedData(f"episode: expected finite {name}, found NaN or infinity")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        same = self.actions.shape[:2] == self.utterances.shape == self.rewards.shape
        if not same or len(self.scene) != len(self.actions) + 1:
            raise DamagedData("episode: its arrays differ in the number of steps or players")

    @property
    def steps(self) -> int:
        """T."""
        return len(self.actions)

    @property
    def n_players(self) -> int:
        """P."""
        return int(self.actions.shape[1])

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of the whole content."""
        shape = f"{self.domain}:{self.actions.shape}:{self.scene.shape}"
        for array in (self.actions, self.rewards, self.utterances):
            # int8 hashes as in earlier formats
            shape += "" if array.dtype == _INT8 else f":{dtype_name(array.dtype)}"
        arrays = self.actions, self.utterances, self.rewards, self.scene
        return content_hash(shape.encode(), self.state, *map(_array_bytes, arrays))

    @property
    def appearance_hash(self) -> str:
        """SHA-256 of everything that annotators can see and hear: scenes and utterances."""
        kind = dtype_name(self.utterances.dtype)
        shape = f"{self.domain}:{self.utterances.shape}:{self.scene.shape}:{kind}"
        return content_hash(shape.encode(), _array_bytes(self.utterances), _array_bytes(self.scene))

    def slice_steps(self, state: bytes, start: int, stop: int) -> Episode:
        """Return steps `start` to `stop` as an episode; `state` is the state before `start`."""
        return Episode(
            self.domain,
            state,
            self.actions[start:stop],
            self.utterances[start:stop],
            self.rewards[start:stop],
            self.scene[start : stop + 1],
        )


@dataclass(frozen=True)
class Instruction:
    """An instruction: something to do, or a question to answer."""

    text: str  # the wording
    category: str  # its prompt category
    given_at: int  # the first step at which the agent can read it
    source: str  # "setter" if given during the recording, "curator" if written afterwards
    player: int | None = None  # the player who hears it; None for every player
    mark: str = ""  # the setter's verdict on how it was carried out, one of `MARKS`; "" for none
    # the number of steps that were taken before the mark; None without a mark
    marked_at: int | None = None

    def __post_init__(self) -> None:
        """Raise DamagedData if a field has the wrong type, as may happen in imported files."""
        texts = (self.text, self.category, self.source)
        if type(self.given_at) is not int or not all(isinstance(t, str) for t in texts):
            raise DamagedData(
                f"expected an instruction of texts and a step, found {self.to_json()}"
            )
        if self.player is not None and not (type(self.player) is int and self.player >= 0):
            raise DamagedData(f"expected the player of an instruction, found {self.player!r:.40}")
        is_marked = self.mark in MARKS and type(self.marked_at) is int and self.marked_at >= 0
        if not is_marked and (self.mark, self.marked_at) != ("", None):
            raise DamagedData(
                f"expected a mark of {', '.join(MARKS)} and its step, found {self.to_json()!s:.200}"
            )

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a JSON object, without optional ones that are not set."""
        unset = {"player": None, "mark": "", "marked_at": None}
        return {k: v for k, v in vars(self).items() if k not in unset or v != unset[k]}

    def is_heard_by(self, player: int) -> bool:
        """Return True if a player hears it."""
        return self.player in (None, player)


def sort_instructions(
    judged: Instruction, earlier: Sequence[Instruction]
) -> tuple[Instruction, ...]:
    """Sort instructions by step; at the same step, `judged` comes last."""
    return tuple(sorted((*earlier, judged), key=lambda instruction: instruction.given_at))
