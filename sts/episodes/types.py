"""What happened in one world: the record that trajectories, scenarios and continuations share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.errors import DamagedData
from sts.storage.files import content_hash

_FIELDS = (("moves", np.int8), ("says", np.int8), ("rewards", np.int8), ("scene", np.uint16))


@dataclass(frozen=True, eq=False)
class Episode:
    """T steps of P participants, and the state they began in. Arrays are read-only.

    Attributes:
      domain: the name of the world's domain.
      state: the serialised state before step 0.
      moves: int8[T, P]; row t acts on state t.
      says: int8[T, P], tokens said; 0 is silence.
      rewards: int8[T, P], received after each step, in the domain's reward unit.
      scene: uint16[T + 1, K], what is where; row t is before step t.
    """

    domain: str
    state: bytes
    moves: NDArray[np.int8]
    says: NDArray[np.int8]
    rewards: NDArray[np.int8]
    scene: NDArray[np.uint16]

    def __post_init__(self) -> None:
        """Makes the arrays read-only.

        Raises:
          DamagedData: their shapes or types do not agree.
        """
        for name, dtype in _FIELDS:
            array = np.ascontiguousarray(getattr(self, name))
            if array.ndim != 2 or array.dtype != dtype:
                raise DamagedData(f"episode: {name} must be {np.dtype(dtype)}[steps, ...]")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        same = self.moves.shape == self.says.shape == self.rewards.shape
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
        shape = f"{self.domain}:{self.moves.shape}:{self.scene.shape}".encode()
        arrays = (getattr(self, name).tobytes() for name, _ in _FIELDS)
        return content_hash(shape, self.state, *arrays)

    def part(self, state: bytes, start: int, stop: int) -> Episode:
        """Returns steps `start` to `stop`; `state` is the one before step `start`."""
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
        """Raises DamagedData where a field is of another type, as in a file made elsewhere."""
        texts = (self.text, self.category, self.source)
        if type(self.given_at) is not int or not all(isinstance(t, str) for t in texts):
            raise DamagedData(f"expected an instruction of texts and a step, found {self.view()}")

    def view(self) -> dict[str, Any]:
        """Returns it as JSON values."""
        return {
            "text": self.text,
            "category": self.category,
            "given_at": self.given_at,
            "source": self.source,
        }
