"""babyai-stand-or-take: a contrast pair, to stay in front of a thing or to pick it up."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_scenarios.categories.solvability import Proposal, Task, make_label
from sts_scenarios.category import Label, Rubric

from .builders import build_category
from .policies import PICKUP, History, go_to, go_to_named, parse_things, pick_up_named
from .room_frames import (
    Frame,
    first_pickup,
    label_first_pickup,
    label_first_stay,
    things_seen,
    unique_things,
)

STEPS_FACING = 6
"""Consecutive steps of facing the thing that count as staying."""
OPTION_TEXTS = {
    "stand": f"stay in front of it for {STEPS_FACING} steps in a row and take nothing up",
    "take": "take it up before anything else",
}


def propose(frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
    """Yield each unique thing that was seen, to stay in front of or to pick up."""
    seen_things = things_seen(frames)
    for place, thing in unique_things(frames[-1]).items():
        if place in seen_things and frames[-1].held is None:
            yield tuple(
                Proposal(
                    {"thing": [*thing], "asked": option}, {"a": str(thing), "deed": text}, option
                )
                for option, text in OPTION_TEXTS.items()
            )


def label_frames(frames: Sequence[Frame], parameters: Mapping[str, Any]) -> Label:
    """Judge the first stay or pickup; a pickup before the stay is complete is a failure."""
    if parameters["asked"] == "take":
        return label_first_pickup(frames, parameters)
    first, stayed = first_pickup(frames), label_first_stay(frames, parameters, STEPS_FACING)
    if first is not None and (stayed.step is None or first[0] <= stayed.step):
        return make_label(first[0], False)
    return stayed


def solver_policy(history: History) -> int:
    """Go to the thing and do what the instruction asks."""
    is_taking = "take it up" in history.instruction.lower()
    return pick_up_named(history) if is_taking else go_to_named(history)


def shortcut_policy(history: History) -> int:
    """Go to the thing and pick it up, whatever the instruction asks."""
    return go_to(history, history.find_thing(parse_things(history.instruction)[0]), PICKUP)


CATEGORY = build_category(
    "stand-or-take",
    ("As to {a}: {deed}.", "There is {a}: {deed}.", "Go to {a}, then {deed}."),
    Task(propose, label_frames, solver_policy, shortcut_policy),
    horizon=20,
    rubric=Rubric(
        "Of {a}, the triangle did this after the takeover: {deed}.",
        "To stay in front of a thing is to face it from the cell next to it. Whoever stays before "
        "another thing for as long has not done it. Before anything else is before any other thing "
        "is taken up; where it goes meanwhile does not matter.",
    ),
)
