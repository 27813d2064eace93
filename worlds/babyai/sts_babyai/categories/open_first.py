"""Category babyai-open-first."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_scenarios.plugin import NOT_DONE, Label, Proposal, Rubric, make_label

from .level_category import LevelCategory
from .policies import CLOSED, TOGGLE, History, go_to, parse_things
from .room_frames import Frame, Place, Thing, things_seen, unique_things


class OpenFirst(LevelCategory):
    """Open one door, and no other before it.

    Asked if two closed doors have been seen.
    """

    name = "babyai-open-first"
    templates = (
        "Open {a} before you open any other door.",
        "The first door you open must be {a}.",
        "Go to {a} and open it. Do not open any other door first.",
    )
    earlier_templates = (
        "Open {a} before any other.",
        "Of the doors, have {a} open first.",
        "Let the first one that you open now be {a}.",
    )
    horizon = 15
    rubric = Rubric(
        "After the takeover, the first door that the triangle opens is {a}.",
        "An open door is a thin bar at the side of its cell. It does not matter which doors are "
        "open at the takeover, or which doors the triangle closes.",
        version="2",
    )

    def propose(self, frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
        """Yield each closed door."""
        now, seen_things = frames[-1], things_seen(frames)
        shut = {
            at: door
            for at, door in unique_things(now, ("door",)).items()
            if now.doors[at] == "closed"
        }
        seen_doors = {at: door for at, door in shut.items() if at in seen_things}
        for door in seen_doors.values() if len(seen_doors) > 1 else ():
            yield (Proposal({"thing": [*door]}, {"a": str(door)}, door.colour),)

    def label(self, frames: Sequence[Frame], player: int, parameters: Mapping[str, Any]) -> Label:
        """Judge the first door that is opened."""
        for n in range(1, len(frames)):
            before, now = frames[n - 1].doors, frames[n].doors
            opened = [at for at in now if now[at] == "open" != before[at]]
            if opened:
                return make_label(n, frames[n].things[opened[0]] == Thing(*parameters["thing"]))
        return NOT_DONE

    def solver(self, history: History) -> int:
        """Open the named door."""
        return _open_nearest(history, history.find_thing(parse_things(history.instruction)[0]))

    def shortcut(self, history: History) -> int:
        """Open the nearest closed door."""
        return _open_nearest(history, history.find_types("door"))


def _open_nearest(history: History, doors: list[Place]) -> int:
    """Return the next action to open the nearest closed door of these."""
    return go_to(history, [at for at in doors if history.map[at][2] == CLOSED], TOGGLE)


CATEGORY = OpenFirst().build()
