"""BabyAI as its categories see it that ask in hindsight: an episode frame by frame, and its rules.

These ask of an open level, which has no mission of its own. Places are (x, y), x to the right and y
down. What stands *before* the participant is in the cell that it faces. Nothing here needs minigrid
until an episode of it is at hand.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from sts.episodes import Episode
from sts_scenarios.categories.tried import NOT_DONE, make_label
from sts_scenarios.category import Label
from sts_scenarios.replayed import environments

if TYPE_CHECKING:
    from sts.worlds.babyai.environment import BabyAI

DOMAIN = "babyai"
VIEW = 7
DIRECTIONS = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""Where each direction leads: right, down, left, up."""
SIDES = DIRECTIONS
STEPS_TO_STAY = 3
"""Steps in a row for which one stays before a thing that one goes to."""
Place = tuple[int, int]


class Thing(NamedTuple):
    """A ball, a box, a key or a door, by colour."""

    colour: str
    type: str

    def __str__(self) -> str:
        """Return what instructions call it."""
        return f"the {self.colour} {self.type}"


class Frame(NamedTuple):
    """What is so before a step.

    Attributes:
      me: where the participant is.
      facing: an index of AHEAD.
      held: what it carries; None for nothing.
      things: what stands where.
      doors: of each door, "open", "closed" or "locked".
      sight: the cells that it sees.
    """

    me: Place
    facing: int
    held: Thing | None
    things: Mapping[Place, Thing]
    doors: Mapping[Place, str]
    sight: frozenset[Place]

    @property
    def front(self) -> Place:
        """The cell that it faces."""
        return neighbour(self.me, self.facing)

    @property
    def faced(self) -> Thing | None:
        """What stands before it."""
        return self.things.get(self.front)

    def place(self, thing: Thing) -> Place | None:
        """Return where a thing stands that is there once; None where it does not any more."""
        return next((at for at, one in self.things.items() if one == thing), None)

    def aside(self, place: Place) -> int:
        """Return how far to the right of the participant a place is; less than 0 is left."""
        right, down = DIRECTIONS[(self.facing + 1) % 4]
        return (place[0] - self.me[0]) * right + (place[1] - self.me[1]) * down


LabelRule = Callable[[Sequence[Frame], Mapping[str, Any]], Label]
"""Of the frames from the takeover on and a candidate's parameters."""


def neighbour(place: Place, facing: int) -> Place:
    """Return the cell next to a place, in a direction of AHEAD."""
    right, down = DIRECTIONS[facing]
    return place[0] + right, place[1] + down


def is_adjacent(place: Place | None, other: Place | None) -> bool:
    """Says whether two cells are side by side; None is nowhere."""
    if place is None or other is None:
        return False
    return abs(place[0] - other[0]) + abs(place[1] - other[1]) == 1


@functools.cache
def view_offsets(facing: int) -> NDArray[np.int64]:
    """Return int64[7, 7, 2], where the cells of a view lie from who sees them."""
    ahead, right = np.array(DIRECTIONS[facing]), np.array(DIRECTIONS[(facing + 1) % 4])
    across, back = np.mgrid[:VIEW, :VIEW]
    away, aside = VIEW - 1 - back, across - VIEW // 2
    return away[..., None] * ahead + aside[..., None] * right  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=16)
def replay_frames(episode: Episode) -> tuple[Frame, ...]:
    """Return the frame before each of an episode's steps and after the last: T + 1."""
    return tuple(capture_frame(cast("BabyAI", world)) for world in environments(episode))


def capture_frame(world: BabyAI) -> Frame:
    """Return what is so in a live world."""
    live, things, doors = world.live, {}, {}
    me = (int(live.agent_pos[0]), int(live.agent_pos[1]))
    for n, it in enumerate(live.grid.grid):
        if it is None or it.type not in ("ball", "box", "key", "door"):
            continue
        place = (n % live.grid.width, n // live.grid.width)
        things[place] = Thing(it.color, it.type)
        if it.type == "door":
            doors[place] = "open" if it.is_open else "locked" if it.is_locked else "closed"
    facing, image = int(live.agent_dir), world.observe(0)["image"]
    cells = (view_offsets(facing) + me)[image[..., 0] != 0]
    held = Thing(live.carrying.color, live.carrying.type) if live.carrying else None
    sight = frozenset((int(x), int(y)) for x, y in cells)
    return Frame(me, facing, held, things, doors, sight)


def make_labeller(
    rule: LabelRule,
) -> Callable[[Episode, int, tuple[int, ...], dict[str, Any]], Label]:
    """Return a category's label by a rule over the frames from the takeover on."""

    def label(
        episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
    ) -> Label:
        return rule(replay_frames(episode)[takeover:], parameters)

    return label


def parse_thing(given: Iterable[str]) -> Thing:
    """Return the thing that stands in a candidate's parameters."""
    return Thing(*given)


def find_stays(frames: Sequence[Frame], steps: int = STEPS_TO_STAY) -> list[tuple[int, Thing]]:
    """Return before what the participant stayed, and the step at which it had done so.

    Every step counts at which it has been before the same thing for `steps` steps in a row after
    the takeover.
    """
    faced = [one.faced for one in frames]
    return [
        (n, found)
        for n in range(steps, len(faced))
        if (found := faced[n]) is not None and set(faced[n - steps + 1 : n + 1]) == {found}
    ]


def first_pickup(frames: Sequence[Frame]) -> tuple[int, Thing] | None:
    """Return what was first taken up after the takeover, and at which step; None for nothing."""
    return next(
        (
            (n, one.held)
            for n, one in enumerate(frames)
            if n and one.held is not None and frames[n - 1].held is None
        ),
        None,
    )


def label_first_stay(
    frames: Sequence[Frame], parameters: Mapping[str, Any], steps: int = STEPS_TO_STAY
) -> Label:
    """The first thing that one stays before decides: it must be `thing`."""
    there = next(iter(find_stays(frames, steps)), None)
    return make_label(there[0], there[1] == parse_thing(parameters["thing"])) if there else NOT_DONE


def label_first_pickup(frames: Sequence[Frame], parameters: Mapping[str, Any]) -> Label:
    """The first thing that is taken up decides: it must be `thing`."""
    first = first_pickup(frames)
    return make_label(first[0], first[1] == parse_thing(parameters["thing"])) if first else NOT_DONE


def things_seen(frames: Sequence[Frame]) -> dict[Place, Thing]:
    """Return what stands where, of what was in sight in one of some frames."""
    seen = frozenset[Place]().union(*(one.sight for one in frames))
    return {at: it for at, it in frames[-1].things.items() if at in seen}


def unique_things(
    frame: Frame, types: Sequence[str] = ("ball", "box", "key")
) -> dict[Place, Thing]:
    """Return the things of these types of which there is only one, by place."""
    every = [*frame.things.values(), frame.held]
    return {at: it for at, it in frame.things.items() if it.type in types and every.count(it) == 1}
