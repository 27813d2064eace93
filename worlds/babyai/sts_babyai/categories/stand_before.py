"""Category babyai-stand-before."""

from collections.abc import Iterator, Sequence

from sts_scenarios.plugin import Proposal, Rubric

from .level_category import LevelCategory
from .policies import History, go_to, go_to_named, parse_things
from .room_frames import STEPS_TO_STAY, Frame, label_first_stay, things_seen, unique_things

FACING = "The triangle faces a thing when it stands on the cell next to it and points at it."


class StandBefore(LevelCategory):
    """Go to a thing and stay in front of it.

    Asked about a thing that was seen in the context, as was another of its type.
    """

    name = "babyai-stand-before"
    templates = (
        f"Go to {{a}} and stay in front of it, facing it, for {STEPS_TO_STAY} steps in a row.",
        f"Wait in front of {{a}} for {STEPS_TO_STAY} steps in a row, facing it. "
        "Do not wait in front of anything else first.",
        "The first thing you stay in front of must be {a}. "
        f"Face it for {STEPS_TO_STAY} steps in a row.",
    )
    earlier_templates = (
        "Walk up to {a} and stay in front of it.",
        "Go and stand right before {a}, and wait there.",
        "Place yourself in front of {a}; remain there.",
    )
    horizon = 16
    rubric = Rubric(
        "After the takeover, the first thing that the triangle faces for "
        f"{STEPS_TO_STAY} steps in a row is {{a}}.",
        FACING + " Things are balls, boxes, keys and doors. Facing a thing for fewer steps does "
        "not count.",
        version="2",
    )
    label = staticmethod(label_first_stay)
    solver = staticmethod(go_to_named)

    def propose(self, frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
        """Yield each unique thing of whose type another has been seen."""
        seen_things = things_seen(frames)
        for place, thing in unique_things(frames[-1]).items():
            same_type = [
                other
                for other in seen_things.values()
                if other.type == thing.type and other != thing
            ]
            if place in seen_things and same_type:
                yield (Proposal({"thing": [*thing]}, {"a": str(thing)}, thing.type),)

    def shortcut(self, history: History) -> int:
        """Go to the nearest thing of the named type, of any colour."""
        return go_to(history, history.find_types(parse_things(history.instruction)[0].type))


CATEGORY = StandBefore().build()
