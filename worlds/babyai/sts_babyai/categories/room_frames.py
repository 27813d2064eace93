"""State snapshots of open BabyAI levels, and automatic labels based on them.

Open levels have no mission of their own. Cells are (x, y), x to the right and y down. Nothing here
imports minigrid until an episode is replayed.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Episode
from sts_scenarios.plugin import NOT_DONE, Label, iter_environments, make_label

if TYPE_CHECKING:
    from sts_babyai.environment import BabyAI

DOMAIN = "babyai"
VIEW = 7
DIRECTIONS = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""Unit vectors of the directions: right, down, left, up."""
STEPS_TO_STAY = 3
"""Consecutive steps of facing a thing that count as staying in front of it."""
Place = tuple[int, int]


class Thing(NamedTuple):
    """Ball, box, key or door of a colour."""

    colour: str
    type: str

    def __str__(self) -> str:
        """Return its name in instructions."""
        return f"the {self.colour} {self.type}"


class Frame(NamedTuple):
    """State snapshot before a step."""

    me: Place  # the player's cell
    facing: int  # index of DIRECTIONS
    held: Thing | None  # the thing carried; None for nothing
    things: Mapping[Place, Thing]  # the thing in each occupied cell
    doors: Mapping[Place, str]  # "open", "closed" or "locked" for the cell of each door
    visible: frozenset[Place]  # the cells in view

    @property
    def front(self) -> Place:
        """Cell that the player faces."""
        return neighbour(self.me, self.facing)

    @property
    def faced(self) -> Thing | None:
        """Thing in the cell that the player faces; None for nothing."""
        return self.things.get(self.front)

    def find_place(self, thing: Thing) -> Place | None:
        """Return the cell of a unique thing; None if it is carried or gone."""
        return next((at for at, present in self.things.items() if present == thing), None)

    def offset_right(self, place: Place) -> int:
        """Return how far to the right of the player a cell is; negative is to the left."""
        right, down = DIRECTIONS[(self.facing + 1) % 4]
        return (place[0] - self.me[0]) * right + (place[1] - self.me[1]) * down


def neighbour(place: Place, facing: int) -> Place:
    """Return the cell next to another, in a direction of DIRECTIONS."""
    right, down = DIRECTIONS[facing]
    return place[0] + right, place[1] + down


def is_adjacent(place: Place | None, other: Place | None) -> bool:
    """Return True if two cells share a side; False if either is None."""
    if place is None or other is None:
        return False
    return abs(place[0] - other[0]) + abs(place[1] - other[1]) == 1


@functools.cache
def view_offsets(facing: int) -> NDArray[np.int64]:
    """Return int64[7, 7, 2], the offset of each cell of a view from the player."""
    ahead, right = np.array(DIRECTIONS[facing]), np.array(DIRECTIONS[(facing + 1) % 4])
    across, back = np.mgrid[:VIEW, :VIEW]
    distance, aside = VIEW - 1 - back, across - VIEW // 2
    return distance[..., None] * ahead + aside[..., None] * right  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=16)
def replay_frames(episode: Episode, first: int = 0, stop: int | None = None) -> tuple[Frame, ...]:
    """Return the T + 1 frames of an episode, before each step and after the last.

    `first` and `stop` select some, as in a slice; what comes later is not replayed.
    """
    worlds = islice(iter_environments(episode), first, stop)
    return tuple(capture_frame(cast("BabyAI", world)) for world in worlds)


def capture_frame(world: BabyAI) -> Frame:
    """Return a snapshot of a live environment."""
    live, things, doors = world.minigrid_env, {}, {}
    me = (int(live.agent_pos[0]), int(live.agent_pos[1]))
    for n, cell in world.cells.objects.items():
        if cell.type not in ("ball", "box", "key", "door"):
            continue
        place = (n % live.grid.width, n // live.grid.width)
        things[place] = Thing(cell.color, cell.type)
        if cell.type == "door":
            doors[place] = "open" if cell.is_open else "locked" if cell.is_locked else "closed"
    facing, image = int(live.agent_dir), world.observe(0)["image"]
    cells = (view_offsets(facing) + me)[image[..., 0] != 0]
    held = Thing(live.carrying.color, live.carrying.type) if live.carrying else None
    return Frame(me, facing, held, things, doors, frozenset(map(tuple, cells.tolist())))


def find_stays(frames: Sequence[Frame], steps: int = STEPS_TO_STAY) -> list[tuple[int, Thing]]:
    """Return the steps at which the player completes a stay, with the thing it faces.

    A stay is complete at every step that ends `steps` consecutive steps of facing one thing, all
    after the takeover.
    """
    faced = [frame.faced for frame in frames]
    return [
        (n, thing)
        for n in range(steps, len(faced))
        if (thing := faced[n]) is not None and set(faced[n - steps + 1 : n + 1]) == {thing}
    ]


def first_pickup(frames: Sequence[Frame]) -> tuple[int, Thing] | None:
    """Return the step of the first pickup after the takeover, with the thing; None for none."""
    return next(
        (
            (n, frame.held)
            for n, frame in enumerate(frames)
            if n and frame.held is not None and frames[n - 1].held is None
        ),
        None,
    )


def label_first_stay(
    frames: Sequence[Frame],
    player: int,
    parameters: Mapping[str, Any],
    steps: int = STEPS_TO_STAY,
) -> Label:
    """Judge the first thing that the player stays in front of: it must be `thing`."""
    stay = next(iter(find_stays(frames, steps)), None)
    return make_label(stay[0], stay[1] == Thing(*parameters["thing"])) if stay else NOT_DONE


def label_first_pickup(
    frames: Sequence[Frame], player: int, parameters: Mapping[str, Any]
) -> Label:
    """Judge the first thing that is picked up: it must be `thing`."""
    first = first_pickup(frames)
    return make_label(first[0], first[1] == Thing(*parameters["thing"])) if first else NOT_DONE


def things_seen(frames: Sequence[Frame]) -> dict[Place, Thing]:
    """Return the present things, by cell, of all cells that were in view in any of the frames."""
    cells = frozenset[Place]().union(*(frame.visible for frame in frames))
    return {at: thing for at, thing in frames[-1].things.items() if at in cells}


def unique_things(
    frame: Frame, types: Sequence[str] = ("ball", "box", "key")
) -> dict[Place, Thing]:
    """Return the things of these types that exist only once, by cell."""
    present = [*frame.things.values(), frame.held]
    return {
        at: thing
        for at, thing in frame.things.items()
        if thing.type in types and present.count(thing) == 1
    }
