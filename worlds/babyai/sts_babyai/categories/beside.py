"""Category babyai-beside."""

from collections.abc import Iterator, Sequence

from sts_scenarios.plugin import Proposal, Rubric

from . import room_frames
from .bring import NEXT_TO
from .fetch import GUIDELINE
from .level_category import LevelCategory
from .policies import History, parse_things, pick_up, pick_up_named
from .room_frames import Frame, label_first_pickup, things_seen, unique_things


class Beside(LevelCategory):
    """Pick up the thing next to a named one.

    Asked if exactly one thing is next to the named one and both have been seen.
    """

    name = "babyai-beside"
    templates = (
        "Pick up the thing directly next to {b}. Do not pick up anything else first.",
        "One thing is directly next to {b}. Pick up that thing, not {b}.",
        "The first thing you pick up must be the one directly next to {b}.",
    )
    earlier_templates = (
        "Get the thing that lies next to {b}.",
        "Something is right beside {b}: take that up.",
        "Fetch what stands side by side with {b}, not {b} itself.",
    )
    horizon = 15
    rubric = Rubric(
        "After the takeover, the first thing that the triangle picks up is the one that was next "
        "to {b} at the takeover.",
        f"{GUIDELINE} {NEXT_TO}",
        version="2",
    )
    label = staticmethod(label_first_pickup)
    shortcut = staticmethod(pick_up_named)

    def propose(self, frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
        """Yield each thing that has exactly one neighbour."""
        now, seen_things = frames[-1], things_seen(frames)
        if now.held is not None:
            return
        single = unique_things(now, ("ball", "box", "key", "door"))
        for place, thing in single.items():
            near = [
                at
                for at, other in now.things.items()
                if room_frames.is_adjacent(at, place) and other.type != "door"
            ]
            if len(near) == 1 and near[0] in single and {place, near[0]} <= seen_things.keys():
                parameters = {"thing": [*single[near[0]]], "beside": [*thing]}
                yield (Proposal(parameters, {"b": str(thing)}, single[near[0]].type),)

    def solver(self, history: History) -> int:
        """Pick up the neighbour of the named thing."""
        (place,) = history.find_thing(parse_things(history.instruction)[0]) or [(0, 0)]
        places = history.find_types("ball", "box", "key")
        return pick_up(history, [at for at in places if room_frames.is_adjacent(at, place)])


CATEGORY = Beside().build()
