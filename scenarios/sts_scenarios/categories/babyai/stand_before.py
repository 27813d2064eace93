"""babyai-stand-before: go to a thing and stay before it.

Asked of something that was seen in the context, as were others of its type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sts_scenarios.categories.tried import Deed, Proposal
from sts_scenarios.category import Rubric

from .asking import category
from .playing import Past, go, named
from .rooms import STAYED, Frame, once, staying, within_sight


def proposals(frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
    """Yield each thing of which there is one, and that has others of its type beside it."""
    known = within_sight(frames)
    for place, one in once(frames[-1]).items():
        alike = [it for it in known.values() if it.type == one.type and it != one]
        if place in known and alike:
            yield (Proposal({"thing": [*one]}, {"a": str(one)}, one.type),)


def probe(past: Past) -> int:
    """Goes to what is named."""
    return go(past, past.where(named(past.told)[0]))


def shortcut(past: Past) -> int:
    """Goes to the nearest thing of its type, whatever the colour."""
    return go(past, past.all_of(named(past.told)[0].type))


CATEGORY = category(
    "stand-before",
    (
        "Walk up to {a} and stay in front of it.",
        "Go and stand right before {a}, and wait there.",
        "Place yourself in front of {a}; remain there.",
    ),
    Deed(proposals, staying, probe, shortcut),
    horizon=16,
    rubric=Rubric(
        done="The first thing that the triangle faces, from the cell next to it, for "
        f"{STAYED} steps in a row after the takeover is {{a}}.",
        guideline="Things are balls, boxes, keys and doors. What it faces in passing, for fewer "
        "steps, does not count.",
    ),
)
