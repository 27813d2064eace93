"""Category babyai-this-or-that."""

from collections.abc import Iterator, Sequence

from sts_scenarios.plugin import Proposal, Rubric

from .fetch import GUIDELINE
from .level_category import LevelCategory
from .policies import History, make_nearest_policy, parse_things, pick_up
from .room_frames import Frame, label_first_pickup, things_seen, unique_things


class ThisOrThat(LevelCategory):
    """A contrast pair, to pick up one of two things and not the other."""

    name = "babyai-this-or-that"
    templates = (
        "Pick up {a}, not {b}. Do not pick up anything else first.",
        "Leave {b} where it is. The first thing you pick up must be {a}.",
        "The first thing you pick up must be {a}, not {b}.",
    )
    earlier_templates = (
        "Get {a}, not {b}.",
        "Take up {a} and let {b} be.",
        "Leave {b} and fetch {a}.",
    )
    horizon = 16
    rubric = Rubric(
        "After the takeover, the first thing that the triangle picks up is {a}.",
        GUIDELINE,
        version="2",
    )
    label = staticmethod(label_first_pickup)
    shortcut = staticmethod(make_nearest_policy("ball", "box", "key"))

    def propose(self, frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
        """Yield pairs of things, either of which is to be picked up."""
        seen_things = things_seen(frames)
        things = [thing for at, thing in unique_things(frames[-1]).items() if at in seen_things]
        for n, thing in enumerate(things if frames[-1].held is None else ()):
            for other in things[n + 1 :]:
                yield tuple(
                    Proposal({"thing": [*this], "other": [*that]}, {"a": str(this), "b": str(that)})
                    for this, that in ((thing, other), (other, thing))
                )

    def solver(self, history: History) -> int:
        """Pick up the first named thing, or the second if the text starts with "leave"."""
        first, second = parse_things(history.instruction)[:2]
        is_leaving = history.instruction.lower().startswith("leave")
        return pick_up(history, history.find_thing(second if is_leaving else first))


CATEGORY = ThisOrThat().build()
