"""Category babyai-other-colour."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_scenarios.plugin import NOT_DONE, Label, Proposal, Rubric, make_label

from .fetch import GUIDELINE
from .level_category import LevelCategory
from .policies import COLOURS, TYPES, History, pick_up
from .room_frames import Frame, Thing, first_pickup, things_seen


class OtherColour(LevelCategory):
    """Pick up something of a type, in any colour but the named one.

    Asked if things of the type have been seen in that colour and in another.
    """

    name = "babyai-other-colour"
    templates = (
        "Pick up a {type} that is not {colour}. Do not pick up anything else first.",
        "Pick up a {type} of any colour except {colour}, before anything else.",
        "The first thing you pick up must be a {type}, but not a {colour} one.",
    )
    earlier_templates = (
        "Get a {type} that is not {colour}.",
        "Take up a {type} of any colour but {colour}.",
        "Not the {colour} one, but another {type}: fetch that.",
    )
    horizon = 15
    rubric = Rubric(
        "After the takeover, the first thing that the triangle picks up is a {type}, and it is not "
        "{colour}.",
        GUIDELINE,
        version="2",
    )

    def propose(self, frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
        """Yield each type and colour that was also seen in another colour."""
        things = [thing for thing in things_seen(frames).values() if thing.type != "door"]
        if frames[-1].held is not None:
            return
        for thing in sorted(set(things)):
            if any(other.type == thing.type and other.colour != thing.colour for other in things):
                words = {"type": thing.type, "colour": thing.colour}
                yield (Proposal({"thing": [*thing]}, words, thing.type),)

    def label(self, frames: Sequence[Frame], player: int, parameters: Mapping[str, Any]) -> Label:
        """Judge the first thing that is picked up."""
        first, (colour, type) = first_pickup(frames), parameters["thing"]
        if first is None:
            return NOT_DONE
        return make_label(first[0], first[1].type == type and first[1].colour != colour)

    def solver(self, history: History) -> int:
        """Pick up the nearest thing of the type in another colour."""
        colour, type = _parse_thing(history.instruction)
        places = history.find_types(type)
        return pick_up(history, [at for at in places if history.map[at][1] != COLOURS[colour]])

    def shortcut(self, history: History) -> int:
        """Pick up the nearest thing of the type."""
        return pick_up(history, history.find_types(_parse_thing(history.instruction).type))


def _parse_thing(instruction: str) -> Thing:
    words = re.findall("[a-z]+", instruction.lower())
    return Thing(
        next(word for word in words if word in COLOURS),
        next(word for word in words if word in TYPES),
    )


CATEGORY = OtherColour().build()
