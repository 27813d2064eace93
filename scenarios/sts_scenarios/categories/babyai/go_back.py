"""babyai-go-back: go back to what was seen a while ago, and stay before it.

Asked of a thing that was last in sight four or more steps ago.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sts_scenarios.categories.tried import Deed, Proposal
from sts_scenarios.category import Rubric

from .asking import category
from .playing import Past, go, named
from .rooms import STAYED, Frame, once, staying, within_sight

AGO = 4


def proposals(frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
    """Yield each thing that went out of sight."""
    known, lately = within_sight(frames[:-AGO]), within_sight(frames[-AGO:])
    for place, one in once(frames[-1], ("ball", "box", "key", "door")).items():
        if known.get(place) == one and place not in lately:
            yield (Proposal({"thing": [*one]}, {"a": str(one)}, one.type),)


def probe(past: Past) -> int:
    """Goes to where it was seen."""
    return go(past, past.where(named(past.told)[0]))


def shortcut(past: Past) -> int:
    """Goes to the nearest thing in sight when it was asked."""
    return go(past, [*past.aside("left"), *past.aside("right")])


CATEGORY = category(
    "go-back",
    (
        "Go back to {a} that you saw a while ago, and stay in front of it.",
        "You passed {a} earlier: return to it and wait right before it.",
        "Find {a} again, where you saw it last, and remain before it.",
    ),
    Deed(proposals, staying, probe, shortcut),
    horizon=18,
    rubric=Rubric(
        done="The first thing that the triangle faces, from the cell next to it, for "
        f"{STAYED} steps in a row after the takeover is {{a}}.",
        guideline="Things are balls, boxes, keys and doors. What it faces in passing, for fewer "
        "steps, does not count.",
    ),
)
