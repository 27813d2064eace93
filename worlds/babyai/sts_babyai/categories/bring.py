"""Category babyai-bring."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_scenarios.plugin import NOT_DONE, Label, Proposal, Rubric, make_label

from . import room_frames
from .level_category import LevelCategory
from .policies import DROP, History, go_to, parse_things, pick_up_named
from .room_frames import Frame, Thing, first_pickup, things_seen, unique_things

NEXT_TO = "Next to means sharing a side; touching only at a corner does not count."


class Bring(LevelCategory):
    """Carry one thing to another and drop it next to that.

    Asked about two things that have been seen and are not adjacent.
    """

    name = "babyai-bring"
    templates = (
        "Pick up {a}, carry it to {b}, and put it down directly next to {b}.",
        "First pick up {a}. Then put it down directly next to {b}, and nowhere else before that.",
        "Carry {a} to {b}. The first place where you put it down must be directly next to {b}.",
    )
    earlier_templates = (
        "Bring {a} to {b} and lay it down beside it.",
        "Carry {a} over to {b}; leave it there, side by side.",
        "I want {a} right next to {b}: take it there.",
    )
    horizon = 28
    rubric = Rubric(
        "After the takeover, the triangle picks up {a} before anything else, and then first puts "
        "it down on a cell next to {b}.",
        f"{NEXT_TO} Picking up another thing first is a failure. What happens after it was put "
        "down does not matter.",
        version="2",
    )

    def propose(self, frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
        """Yield ordered pairs of things: which to carry, and where to."""
        now, seen_things = frames[-1], things_seen(frames)
        if now.held is not None:
            return
        single = {at: thing for at, thing in unique_things(now).items() if at in seen_things}
        for place, thing in single.items():
            for target_place, target in single.items():
                if target_place != place and not room_frames.is_adjacent(place, target_place):
                    parameters = {"thing": [*thing], "beside": [*target]}
                    yield (Proposal(parameters, {"a": str(thing), "b": str(target)}, thing.type),)

    def label(self, frames: Sequence[Frame], player: int, parameters: Mapping[str, Any]) -> Label:
        """Judge where the thing is first dropped; picking up another before is a failure."""
        first, thing = first_pickup(frames), Thing(*parameters["thing"])
        if first is None:
            return NOT_DONE
        if first[1] != thing:
            return make_label(first[0], False)
        for n in range(first[0] + 1, len(frames)):
            if frames[n].held is None:
                target = frames[n].find_place(Thing(*parameters["beside"]))
                return make_label(n, room_frames.is_adjacent(frames[n].find_place(thing), target))
        return NOT_DONE

    def solver(self, history: History) -> int:
        """Pick up the first named thing and drop it next to the second."""
        if not history.is_carrying:
            return pick_up_named(history)
        target = parse_things(history.instruction)[1]
        return go_to(history, history.empty_neighbours(history.find_thing(target)), DROP)

    def shortcut(self, history: History) -> int:
        """Pick up the first named thing and drop it at once."""
        return DROP if history.is_carrying else pick_up_named(history)


CATEGORY = Bring().build()
