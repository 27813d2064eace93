"""What the rest of the suite asks of a world: restore many, observe, step, serialise.

A domain is known by name alone; everything here is a batch of B worlds in lock-step. T counts
steps, P participants, R the roles that one agent plays, K the objects that a scene shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sts import registry
from sts.episodes import Episode
from sts.errors import DamagedData, StsError


@dataclass(frozen=True)
class Picture:
    """How a scene is drawn: `kind` names a drawing that the player and the terminal know.

    Attributes:
      kind: "torus" is a grid of `height` x `width` cells whose edges meet.
      names: one for each of the K objects of a scene row.
      glyphs: one letter for each of them.
      participants: the scene index of each participant.
      auras: (scene index, sign) of each object that gives (+1) or takes (-1) reward in the cells
        around it.
    """

    kind: str
    height: int
    width: int
    names: tuple[str, ...]
    glyphs: tuple[str, ...]
    participants: tuple[int, ...]
    auras: tuple[tuple[int, int], ...] = ()


class Worlds(Protocol):
    """B worlds of one domain, stepped together."""

    @property
    def rewards(self) -> NDArray[np.int8]:
        """int8[B, P], of the last step, in units of the domain's `reward_unit`."""

    @property
    def scene(self) -> NDArray[np.uint16]:
        """uint16[B, K], what is where now."""

    def observe(self, roles: Sequence[int], *, team: Sequence[int], world: bool) -> Any:
        """Returns what `roles` may see now; draws nothing and changes nothing.

        Args:
          roles: the participants that observe.
          team: the participants that count as team-mates.
          world: True adds what only a `world` agent may know.
        """

    def step(self, moves: NDArray[np.int8], says: NDArray[np.int8]) -> None:
        """Moves every world on by one step; both arrays are int8[B, P]."""

    def states(self) -> list[bytes]:
        """Returns each world's state, serialised."""


class Domain(Protocol):
    """A world that can be restored exactly.

    Attributes:
      name: what recordings and suites call it.
      moves: the names of the moves; index `noop` does nothing.
      tokens: what can be said; index 0 is silence.
      reward_unit: what a recorded reward of 1 is worth.
    """

    name: str
    moves: tuple[str, ...]
    tokens: tuple[str, ...]
    noop: int
    reward_unit: float

    def restore(self, states: Sequence[bytes]) -> Worlds:
        """Returns the worlds in `states`, ready to step.

        Raises:
          DamagedState: one is truncated, altered or no state of this domain.
          NewerFormat: one was written by a later version.
        """

    def generate(self, count: int, *, seed: int, **settings: Any) -> list[bytes]:
        """Returns the serialised states of `count` new worlds; the same for the same seed."""

    def world(self, state: bytes) -> str:
        """Returns the hash of what makes this world itself, whoever takes part in it."""

    def view(self, state: bytes) -> dict[str, Any]:
        """Returns the state as JSON that a person can read."""

    def picture(self, state: bytes) -> Picture:
        """Returns how scenes of this world are drawn."""

    def sight(self, worlds: Worlds, role: int) -> dict[str, Any]:
        """Returns what participant `role` of the first world may see now, as JSON for a page."""

    def draw(self, picture: Picture, scene: NDArray[np.uint16], judged: Sequence[int]) -> list[str]:
        """Returns one scene (uint16[K]) as lines of text of equal width for a terminal."""


def domain(name: str) -> Domain:
    """Returns the installed domain called `name`.

    Raises:
      UnknownName: there is none.
    """
    found: Domain = registry.load("sts.domains", "domain", name)()
    return found


def checked(episodes: Sequence[Episode]) -> Sequence[Episode]:
    """Returns `episodes`, which come from a file, when each can be replayed, drawn and labelled.

    Raises:
      DamagedData: one does not fit the domain or the state that it names; says which row.
      NewerFormat: a state was written by a later version.
    """
    pictures: dict[bytes, Picture] = {}
    for i, one in enumerate(episodes):
        try:
            world = domain(one.domain)
        except StsError as error:
            raise DamagedData(f"row {i}: {error}") from None
        if one.state not in pictures:
            pictures[one.state] = world.picture(one.state)
        picture = pictures[one.state]
        people, objects = len(picture.participants), len(picture.names)
        checks = (
            (one.participants == people, f"{people} participants"),
            (one.scene.shape[1] == objects, f"{objects} objects"),
            (_within(one.moves, len(world.moves)), f"moves under {len(world.moves)}"),
            (_within(one.says, len(world.tokens)), f"tokens under {len(world.tokens)}"),
            (_within(one.scene, picture.height * picture.width), "cells that are on the grid"),
        )
        for good, expected in checks:
            if not good:
                raise DamagedData(f"row {i}: expected {expected}, found others")
    return episodes


def _within(values: NDArray[Any], bound: int) -> bool:
    return not values.size or bool(0 <= values.min() and values.max() < bound)
