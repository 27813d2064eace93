"""Category babyai-unlock."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_scenarios.plugin import NOT_DONE, Label, Proposal, Rubric

from .level_category import LevelCategory
from .policies import DROP, TOGGLE, History, encode_thing, go_to, parse_things, pick_up
from .room_frames import Frame, Thing, things_seen, unique_things


class Unlock(LevelCategory):
    """Open a locked door with its key.

    Asked if the door and a key of its colour have been seen.
    """

    name = "babyai-unlock"
    templates = (
        "Unlock {a}: fetch the key of the same colour and open {a} with it.",
        "Open {a}. It is locked, so pick up the key of the same colour first.",
        "Pick up the key that fits {a}, then go to {a} and open it.",
    )
    earlier_templates = ("Unlock {a}.", "Open {a}; it is locked.", "Get {a} open, by its key.")
    horizon = 28
    rubric = Rubric(
        "After the takeover, the triangle opens {a}.",
        "A locked door is filled; an open door is a thin bar at the side of its cell. Only the key "
        "of the same colour opens it. It counts as soon as the door is open.",
        version="2",
    )

    def propose(self, frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
        """Yield each locked door whose key has been seen."""
        now, seen_things = frames[-1], things_seen(frames)
        for place, door in unique_things(now, ("door",)).items():
            locked = place in seen_things and now.doors[place] == "locked"
            if locked and Thing(door.colour, "key") in seen_things.values():
                yield (Proposal({"thing": [*door]}, {"a": str(door)}, door.colour),)

    def label(self, frames: Sequence[Frame], player: int, parameters: Mapping[str, Any]) -> Label:
        """Return success at the first frame with the door open."""
        door = Thing(*parameters["thing"])
        opened = (n for n, frame in enumerate(frames) if n and _is_open(frame, door))
        return next((Label("success", n) for n in opened), NOT_DONE)

    def solver(self, history: History) -> int:
        """Carry the key of the door's colour to the door."""
        door = parse_things(history.instruction)[0]
        key = Thing(door.colour, "key")
        if history.held[-1] == encode_thing(key):
            return go_to(history, history.find_thing(door), TOGGLE)
        return DROP if history.is_carrying else pick_up(history, history.find_thing(key))

    def shortcut(self, history: History) -> int:
        """Go to the door and try to open it without a key."""
        return go_to(history, history.find_thing(parse_things(history.instruction)[0]), TOGGLE)


def _is_open(frame: Frame, door: Thing) -> bool:
    return any(frame.things[at] == door and state == "open" for at, state in frame.doors.items())


CATEGORY = Unlock().build()
