"""Category babyai-go-back."""

from collections.abc import Iterator, Sequence

from sts_scenarios.plugin import Proposal, Rubric

from .level_category import LevelCategory
from .policies import History, go_to, go_to_named
from .room_frames import STEPS_TO_STAY, Frame, label_first_stay, things_seen, unique_things
from .stand_before import FACING

STEPS_OUT_OF_SIGHT = 4


class GoBack(LevelCategory):
    """Return to a thing seen a while ago and stay in front of it.

    Asked about a thing that was last in view four or more steps ago.
    """

    name = "babyai-go-back"
    templates = (
        "Go back to {a}, which you saw earlier, and stay in front of it, facing it, for "
        f"{STEPS_TO_STAY} steps in a row.",
        "You saw {a} earlier. Return to it and wait in front of it, facing it, for "
        f"{STEPS_TO_STAY} steps in a row.",
        "The first thing you stay in front of must be {a}, which you saw earlier. "
        f"Face it for {STEPS_TO_STAY} steps in a row.",
    )
    earlier_templates = (
        "Go back to {a} that you saw a while ago, and stay in front of it.",
        "You passed {a} earlier: return to it and wait right before it.",
        "Find {a} again, where you saw it last, and remain before it.",
    )
    horizon = 18
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
        """Yield each thing that has been out of view for long enough."""
        seen_things = things_seen(frames[:-STEPS_OUT_OF_SIGHT])
        recent = things_seen(frames[-STEPS_OUT_OF_SIGHT:])
        for place, thing in unique_things(frames[-1], ("ball", "box", "key", "door")).items():
            if seen_things.get(place) == thing and place not in recent:
                yield (Proposal({"thing": [*thing]}, {"a": str(thing)}, thing.type),)

    def shortcut(self, history: History) -> int:
        """Go to the nearest thing that was in view when the instruction came."""
        return go_to(history, [*history.find_on_side("left"), *history.find_on_side("right")])


CATEGORY = GoBack().build()
