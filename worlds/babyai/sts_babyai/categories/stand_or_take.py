"""Category babyai-stand-or-take."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_scenarios.plugin import Label, Proposal, Rubric, make_label

from .level_category import LevelCategory
from .policies import PICKUP, History, go_to, go_to_named, parse_things, pick_up_named
from .room_frames import (
    Frame,
    first_pickup,
    label_first_pickup,
    label_first_stay,
    things_seen,
    unique_things,
)
from .stand_before import FACING

STEPS_FACING = 6
"""Consecutive steps of facing the thing that count as staying."""
OPTION_TEXTS = {
    "stand": f"stay in front of it, facing it, for {STEPS_FACING} steps in a row, and pick "
    "nothing up",
    "take": "pick it up before you pick up anything else",
}
EARLIER_OPTION_TEXTS = {
    "stand": f"stay in front of it for {STEPS_FACING} steps in a row and take nothing up",
    "take": "take it up before anything else",
}


class StandOrTake(LevelCategory):
    """A contrast pair, to stay in front of a thing or to pick it up."""

    name = "babyai-stand-or-take"
    templates = (
        "Go to {a}, then {action}.",
        "Find {a}. When you are there, {action}.",
        "When you reach {a}, {action}.",
    )
    earlier_templates = ("As to {a}: {deed}.", "There is {a}: {deed}.", "Go to {a}, then {deed}.")
    horizon = 20
    rubric = Rubric(
        "After the takeover, the triangle goes to {a} and does what it was told: {action}.",
        f"{FACING} If it has to stay, staying in front of another thing for as long first is a "
        "failure, and so is picking anything up first. If it has to pick up {a}, picking up "
        "another thing first is a failure; where it goes on the way does not matter.",
        version="2",
    )

    def propose(self, frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
        """Yield each unique thing that was seen, to stay in front of or to pick up."""
        seen_things = things_seen(frames)
        for place, thing in unique_things(frames[-1]).items():
            if place in seen_things and frames[-1].held is None:
                yield tuple(
                    Proposal(
                        {"thing": [*thing], "asked": option},
                        {"a": str(thing), "action": text, "deed": EARLIER_OPTION_TEXTS[option]},
                        option,
                    )
                    for option, text in OPTION_TEXTS.items()
                )

    def label(self, frames: Sequence[Frame], player: int, parameters: Mapping[str, Any]) -> Label:
        """Judge the first stay or pickup; a pickup before the stay is complete is a failure."""
        if parameters["asked"] == "take":
            return label_first_pickup(frames, player, parameters)
        first = first_pickup(frames)
        stayed = label_first_stay(frames, player, parameters, STEPS_FACING)
        if first is not None and (stayed.step is None or first[0] <= stayed.step):
            return make_label(first[0], False)
        return stayed

    def solver(self, history: History) -> int:
        """Go to the thing and do what the instruction asks."""
        text = history.instruction.lower()
        is_taking = "pick it up" in text or "take it up" in text
        return pick_up_named(history) if is_taking else go_to_named(history)

    def shortcut(self, history: History) -> int:
        """Go to the thing and pick it up, whatever the instruction asks."""
        return go_to(history, history.find_thing(parse_things(history.instruction)[0]), PICKUP)


CATEGORY = StandOrTake().build()
