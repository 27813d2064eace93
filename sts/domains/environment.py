"""What a world of somebody's own must offer: the one file that a new domain is.

A class that offers this can be recorded, mined, continued, judged and ranked, by its entry point in
the group `sts.domains` or as `module:Class`. `sts domain check module:Class` says whether it keeps
what is promised here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

ENVIRONMENT = (
    *("name", "version", "moves", "noop", "participants"),
    *("reset", "step", "state", "restore", "digest", "observe", "render"),
)
"""What a class must have to be taken for an `Environment`."""


class Environment(Protocol):
    """One world with P participants, made without arguments; many live side by side.

    It is deterministic: a state and the moves that follow decide everything. What is random in it
    comes from the seed it was reset with, and is part of its state.

    Optional, and looked for by these names:

    - `actions`, a `sts.domains.ActionSpace`: what a participant can do where that is several
      numbers at once or real ones.
    - `reward_unit`, a number: what a reward of 1 is worth; without it, 1. None says that there is
      no unit: rewards are any finite numbers.
    - `tokens`: what participants can say, the first being silence; () lets them say any text.
      Saying moves nothing; what each has said is observed by all in the next step. Without it
      nobody can say anything.
    - `instruction()`: the text of what the world itself asks for; "" for nothing.
    - `guide`, text: what is to be seen in its pictures, for annotators; a few sentences of
      Markdown.
    - `sight(role)`: what that participant may see and nothing else, as a picture, uint8[H, W, 3] of
      one size. People who play in it are then shown this, and ranked among the agents. Without it
      they are shown what a judge sees, and what they play is a baseline outside the ranking.
    - `ended`, a bool: whether it has come to its end. What is exported then says so, and
      `sts domain check` can say more.
    - `truncated`, a bool: whether it has ended only because its time had run out.
    - `step_columns(episode, role)` and an int `step_columns_version`: what there is to say of each
      step of a recording, arrays [T] by name, by which moments can be chosen; no state of the
      environment is at hand.
    """

    @property
    def name(self) -> str:
        """What recordings call it; this and the next four are attributes of its class."""

    @property
    def version(self) -> str:
        """Of its rules and of what it is built on; a state of another version is refused."""

    @property
    def moves(self) -> tuple[str, ...]:
        """The names of the moves that a participant can make, at most 127; () with `actions`."""

    @property
    def noop(self) -> Any:
        """The index of the move that does nothing, or such an action."""

    @property
    def participants(self) -> tuple[str, ...]:
        """The name of each."""

    def reset(self, seed: int, *args: Any, **settings: Any) -> None:
        """Begins the world that a seed below 2**31 names; the same for the same seed.

        It takes what settings it has, none perhaps; they are given by name.

        Raises:
          ValueError: a setting that it has not, or that cannot be met.
        """

    def step(self, moves: Sequence[Any]) -> Sequence[float]:
        """Move on by one step and return each participant's reward, -128 to 127 whole units.

        Each of `moves` is the index of a move, or an array of `actions`. Where there is no unit, a
        reward is any finite number.

        A world that has come to its end stays as it is, whatever is done, and rewards nothing.
        """

    def state(self) -> bytes:
        """Return all that its future depends on; never a pickle, which would run code on load."""

    def restore(self, state: bytes) -> None:
        """Goes on from `state`, in whichever process and however long ago it was taken.

        Raises:
          ValueError: it is no state.
        """

    def digest(self) -> bytes:
        """Return what tells this moment from others, for holding a replay to its recording.

        It is asked for at every step, so it must be quick: a hash of what can be seen will do, and
        is taken as it is where it has 8 bytes.
        """

    def observe(self, role: int) -> Mapping[str, Any]:
        """Return what a participant sees, arrays or numbers of fixed shapes and types by name.

        Every participant sees the same names, shapes and types. It draws nothing and changes
        nothing.
        """

    def render(self) -> NDArray[np.uint8]:
        """Return what a judge sees, uint8[H, W, 3], always of one size; it changes nothing."""
