"""Category babyai-go-through."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_scenarios.plugin import NOT_DONE, Label, Proposal, Rubric, make_label

from .level_category import LevelCategory
from .policies import DONE, FORWARD, OPEN, TOGGLE, TYPES, History, parse_things, plan_step
from .room_frames import Frame, Place, Thing, things_seen, unique_things


class GoThrough(LevelCategory):
    """Leave by a named door, into the cell behind it.

    Asked if two doors have been seen that are not locked.
    """

    name = "babyai-go-through"
    templates = (
        "Walk through {a} to the other side. Do not go through any other door first.",
        "The first door you go through must be {a}. Go all the way to the other side.",
        "Go through {a} before you go through any other door.",
    )
    earlier_templates = (
        "Leave through {a}.",
        "Go out by {a}, into what is behind it.",
        "Pass {a}, and no other door before it.",
    )
    horizon = 18
    rubric = Rubric(
        "After the takeover, the first door that the triangle goes through is {a}.",
        "It has gone through when it reaches the cell behind the door. Turning back in the doorway "
        "does not count. It does not matter which doors it opens.",
        version="2",
    )

    def propose(self, frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
        """Yield each door that can be opened."""
        now, seen_things = frames[-1], things_seen(frames)
        doors = [
            (at, door)
            for at, door in unique_things(now, ("door",)).items()
            if at in seen_things and now.doors[at] != "locked" and at != now.me
        ]
        for _, door in doors if len(doors) > 1 else ():
            yield (Proposal({"thing": [*door]}, {"a": str(door)}, door.colour),)

    def label(self, frames: Sequence[Frame], player: int, parameters: Mapping[str, Any]) -> Label:
        """Judge the first door that the player passes through to the cell behind it."""
        entered: Place | None = None
        for n in range(1, len(frames)):
            before, now = frames[n - 1].me, frames[n].me
            if now in frames[n].doors and before not in frames[n].doors:
                entered = before
            elif before in frames[n].doors and now not in (before, entered) and entered is not None:
                return make_label(n, frames[n].things[before] == Thing(*parameters["thing"]))
        return NOT_DONE

    def solver(self, history: History) -> int:
        """Go to the named door, open it and pass through."""
        return _go_through(history, history.find_thing(parse_things(history.instruction)[0]))

    def shortcut(self, history: History) -> int:
        """Pass through the nearest door."""
        return _go_through(history, history.find_types("door"))


def _go_through(history: History, doors: list[Place]) -> int:
    if history.me in doors:
        return FORWARD
    move = plan_step(history, doors)
    if move is not None and move >= 0:
        return move
    shut = history.map[history.front][0] == TYPES["door"] and history.map[history.front][2] != OPEN
    return DONE if move is None else TOGGLE if shut else FORWARD


CATEGORY = GoThrough().build()
