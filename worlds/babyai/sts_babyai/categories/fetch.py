"""Category babyai-fetch."""

from collections.abc import Iterator, Sequence

from sts_scenarios.plugin import Proposal, Rubric

from .level_category import LevelCategory
from .policies import History, encode_thing, parse_things, pick_up, pick_up_named
from .room_frames import Frame, label_first_pickup, things_seen, unique_things

GUIDELINE = "Only the first thing that it picks up counts, even if the triangle puts it down again."


class Fetch(LevelCategory):
    """Pick up one thing, and nothing else before it.

    Asked about a thing that was seen in the context, as was another type of thing in its colour.
    """

    name = "babyai-fetch"
    templates = (
        "Pick up {a}. Do not pick up anything else first.",
        "The first thing you pick up must be {a}.",
        "Go to {a} and pick it up before you pick up anything else.",
    )
    earlier_templates = (
        "Get {a}.",
        "Fetch {a}, and nothing else before it.",
        "Take {a} into your hands.",
    )
    horizon = 15
    rubric = Rubric(
        "After the takeover, the first thing that the triangle picks up is {a}.",
        GUIDELINE,
        version="2",
    )
    label = staticmethod(label_first_pickup)
    solver = staticmethod(pick_up_named)

    def propose(self, frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
        """Yield each unique thing of whose colour other types have been seen."""
        seen_things = things_seen(frames)
        for place, thing in unique_things(frames[-1]).items():
            same_colour = [
                other
                for other in seen_things.values()
                if other.colour == thing.colour and other.type not in ("door", thing.type)
            ]
            if place in seen_things and same_colour and frames[-1].held is None:
                yield (Proposal({"thing": [*thing]}, {"a": str(thing)}, thing.colour),)

    def shortcut(self, history: History) -> int:
        """Pick up the nearest thing of the named colour, of any type."""
        _, colour = encode_thing(parse_things(history.instruction)[0])
        places = history.find_types("ball", "box", "key")
        return pick_up(history, [at for at in places if history.map[at][1] == colour])


CATEGORY = Fetch().build()
