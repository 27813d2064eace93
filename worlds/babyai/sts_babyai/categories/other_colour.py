"""babyai-other-colour: pick up something of a type, in any colour but the named one.

Asked if things of the type have been seen in that colour and in another.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_scenarios.plugin import NOT_DONE, Label, Proposal, Rubric, Task, make_label

from .builders import build_category
from .fetch import GUIDELINE
from .policies import COLOURS, TYPES, History, pick_up
from .room_frames import Frame, Thing, first_pickup, things_seen


def propose(frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
    """Yield each type and colour that was also seen in another colour."""
    seen_things = [other for other in things_seen(frames).values() if other.type != "door"]
    if frames[-1].held is not None:
        return
    for thing in sorted(set(seen_things)):
        if any(other.type == thing.type and other.colour != thing.colour for other in seen_things):
            words = {"type": thing.type, "colour": thing.colour}
            yield (Proposal({"thing": [*thing]}, words, thing.type),)


def label_frames(frames: Sequence[Frame], parameters: Mapping[str, Any]) -> Label:
    """Judge the first thing that is picked up."""
    first, (colour, type) = first_pickup(frames), parameters["thing"]
    if first is None:
        return NOT_DONE
    return make_label(first[0], first[1].type == type and first[1].colour != colour)


def _parse_thing(instruction: str) -> Thing:
    words = re.findall("[a-z]+", instruction.lower())
    return Thing(
        next(word for word in words if word in COLOURS),
        next(word for word in words if word in TYPES),
    )


def solver_policy(history: History) -> int:
    """Pick up the nearest thing of the type in another colour."""
    colour, type = _parse_thing(history.instruction)
    places = history.find_types(type)
    return pick_up(history, [at for at in places if history.map[at][1] != COLOURS[colour]])


def shortcut_policy(history: History) -> int:
    """Pick up the nearest thing of the type."""
    return pick_up(history, history.find_types(_parse_thing(history.instruction).type))


CATEGORY = build_category(
    "other-colour",
    (
        "Pick up a {type} that is not {colour}. Do not pick up anything else first.",
        "Pick up a {type} of any colour except {colour}, before anything else.",
        "The first thing you pick up must be a {type}, but not a {colour} one.",
    ),
    Task(propose, label_frames, solver_policy, shortcut_policy),
    earlier_templates=(
        "Get a {type} that is not {colour}.",
        "Take up a {type} of any colour but {colour}.",
        "Not the {colour} one, but another {type}: fetch that.",
    ),
    horizon=15,
    rubric=Rubric(
        "After the takeover, the first thing that the triangle picks up is a {type}, and it is not "
        "{colour}.",
        GUIDELINE,
        version="2",
    ),
)
