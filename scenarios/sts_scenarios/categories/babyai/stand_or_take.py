"""babyai-stand-or-take: a pair, to stay before a thing or to take it up, from one moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_scenarios.categories.tried import Deed, Proposal, decided
from sts_scenarios.category import Label, Rubric

from .asking import category
from .playing import PICKUP, Past, go, named, take
from .rooms import Frame, once, staying, taken, taking, within_sight

LONG = 6
"""Steps in a row for which one stays before it."""
DEEDS = {
    "stand": f"stay in front of it for {LONG} steps in a row and take nothing up",
    "take": "take it up before anything else",
}


def proposals(frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
    """Yield a thing that was seen, to stay before or to take up."""
    known = within_sight(frames)
    for place, one in once(frames[-1]).items():
        if place in known and frames[-1].held is None:
            yield tuple(
                Proposal({"thing": [*one], "asked": asked}, {"a": str(one), "deed": text}, asked)
                for asked, text in DEEDS.items()
            )


def rule(frames: Sequence[Frame], parameters: Mapping[str, Any]) -> Label:
    """As the first thing that is stayed before, or taken up; who takes anything has not stayed."""
    if parameters["asked"] == "take":
        return taking(frames, parameters)
    first, stayed = taken(frames), staying(frames, parameters, LONG)
    if first is not None and (stayed.step is None or first[0] <= stayed.step):
        return decided(first[0], False)
    return stayed


def probe(past: Past) -> int:
    """Goes to it and does as told."""
    there = past.where(named(past.told)[0])
    return take(past, there) if "take it up" in past.told.lower() else go(past, there)


def shortcut(past: Past) -> int:
    """Goes to it and takes it up, whatever is asked of it."""
    return go(past, past.where(named(past.told)[0]), PICKUP)


CATEGORY = category(
    "stand-or-take",
    ("As to {a}: {deed}.", "There is {a}: {deed}.", "Go to {a}, then {deed}."),
    Deed(proposals, rule, probe, shortcut),
    horizon=20,
    rubric=Rubric(
        "Of {a}, the triangle did this after the takeover: {deed}.",
        "To stay in front of a thing is to face it from the cell next to it. Whoever stays before "
        "another thing for as long has not done it. Before anything else is before any other thing "
        "is taken up; where it goes meanwhile does not matter.",
    ),
)
