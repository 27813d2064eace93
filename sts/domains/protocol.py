"""What the rest of the suite asks of a domain: restore many worlds, observe, step, serialise.

A domain is known by name alone; everything here is a batch of B worlds in lock-step. T counts
steps, P participants, R the roles that one agent plays, K the objects that a scene shows.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

DIGEST = 4
"""How many numbers of 16 bits the scene of a domain has that is drawn as frames."""


class Form(NamedTuple):
    """What a world's scenes are like, which is known without drawing one.

    Attributes:
      kind: of their `Picture`.
      participants: P.
      objects: K, how many numbers a scene has.
      bound: what every number of a scene is below.
    """

    kind: str
    participants: int
    objects: int
    bound: int


def framed(participants: int) -> Form:
    """Return the form of scenes that are digests of what is to be seen."""
    return Form("frames", participants, DIGEST, 2**16)


@dataclass(frozen=True)
class Picture:
    """What there is to know of a world to draw its scenes.

    Attributes:
      kind: "drawn" where a scene says in which of `height` x `width` cells each object is, which
        the domain's own drawing draws; "frames" where the world renders pictures of `height` x
        `width` pixels, and a scene is the digest of what they show.
      names: of the objects; for frames, of the participants.
      glyphs: one letter for each of them.
      participants: the index of each participant in these.
      details: whatever else the domain's drawing needs, as JSON; walls, for example.
    """

    kind: Literal["drawn", "frames"]
    height: int
    width: int
    names: tuple[str, ...]
    glyphs: tuple[str, ...]
    participants: tuple[int, ...]
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def form(self) -> Form:
        """What its scenes are like."""
        if self.kind == "frames":
            return framed(len(self.participants))
        return Form(self.kind, len(self.participants), len(self.names), self.height * self.width)


class Focus(NamedTuple):
    """What is looked at in an episode, for pictures that say so.

    Attributes:
      roles: the participants that are judged.
      takeover: the frame at which an agent took over, or None.
      text: what was asked, or "".
      cells: places that are marked, as a scene counts them.
      sight: what the judged see around them is marked too.
    """

    roles: tuple[int, ...] = ()
    takeover: int | None = None
    text: str = ""
    cells: tuple[int, ...] = ()
    sight: bool = False


class Worlds(Protocol):
    """B worlds of one domain, stepped together."""

    @property
    def rewards(self) -> NDArray[Any]:
        """[B, P], of the last step: int8 in the domain's `reward_unit`, else float64."""

    @property
    def scene(self) -> NDArray[np.uint16]:
        """uint16[B, K], what is where now."""

    def observe(self, roles: Sequence[int], *, team: Sequence[int], world: bool) -> Any:
        """Return what `roles` may see now; draws nothing and changes nothing.

        Args:
          roles: the participants that observe.
          team: the participants that count as team-mates.
          world: True adds what only a `world` agent may know.
        """

    def step(self, moves: NDArray[Any], says: NDArray[Any]) -> None:
        """Move every world on by one step.

        Args:
          moves: [B, P, ...], of the domain's `actions`; int8[B, P] where its moves have names.
          says: int8[B, P], tokens; or texts [B, P] where the domain names no tokens.
        """

    def states(self) -> list[bytes]:
        """Return each world's state, serialised."""


class Framed(Worlds, Protocol):
    """Worlds whose pictures are frames."""

    def frames(self, role: int | None = None) -> list[NDArray[np.uint8]]:
        """Return each world as it looks, uint8[H, W, 3].

        Args:
          role: the participant to whom it looks so; None is a judge. Where the domain's `sees` is
            "world", participants see what a judge sees.
        """


class Domain(Protocol):
    """A world that can be restored exactly.

    Attributes:
      name: what recordings and suites call it.
      moves: the names of the moves; () where actions are no choice of one of several.
      tokens: what can be said; index 0 is silence. () where any text can be, "" being silence.
      guide: what is to be seen in its pictures, for annotators; a few sentences of Markdown, or "".
      sees: what a person who plays in it is shown: "observation", what an agent may know; or
        "world", more than that.

    One whose actions are several numbers or real ones also has an attribute `actions`, their
    `ActionSpace`. One whose scenes are drawn also has an attribute `drawing`: the name of a file
    beside the module of its class, the ES module that draws them in a browser; see
    `sts.domains.drawing`; and may have a method `frames`, of an episode and a `Focus`, that returns
    them as pictures, uint8[H, W, 3] each, for films. One that has more to say of steps of a
    recording than what `sts.trajectories.steps` says of all has `step_columns`, a function of an
    episode and a role that returns arrays [T] by name, and an int `step_columns_version`.
    """

    name: str
    moves: tuple[str, ...]
    tokens: tuple[str, ...]
    guide: str
    sees: Literal["observation", "world"]

    @property
    def noop(self) -> int | NDArray[Any]:
        """The action that does nothing: the index of a move, or an action of `actions`."""

    @property
    def reward_unit(self) -> float | None:
        """What a recorded reward of 1 is worth; None has no unit, and rewards are float64."""

    def restore(self, states: Sequence[bytes]) -> Worlds:
        """Return the worlds in `states`, ready to step.

        Raises:
          DamagedState: one is truncated, altered or no state of this domain.
          NewerFormat: one was written by a later version.
        """

    def generate(self, count: int, *, seed: int, **settings: Any) -> list[bytes]:
        """Return the serialised states of `count` new worlds; the same for the same seed."""

    def world(self, state: bytes) -> str:
        """Return the hash of what makes this world itself, whoever takes part in it."""

    def view(self, state: bytes) -> dict[str, Any]:
        """Return the state as JSON that a person can read."""

    def form(self, state: bytes) -> Form:
        """Return what scenes of this world are like; cheap, since every file that is read asks.

        Raises:
          DamagedState: as `restore`.
        """

    def picture(self, state: bytes) -> Picture:
        """Return how scenes of this world are drawn."""

    def shapes(self, state: bytes) -> Hashable:
        """Return the shapes of what is seen in this world; equal ones can be observed together."""

    def sight(self, worlds: Worlds, role: int) -> dict[str, Any]:
        """Return what participant `role` of the first world may see now, as JSON for a page."""

    def draw(self, picture: Picture, scene: NDArray[np.uint16], judged: Sequence[int]) -> list[str]:
        """Return one scene (uint16[K]) as lines of text of equal width for a terminal."""
