"""babyai-other-colour: take up something of a type that has not the colour that is named.

Asked where things of the type were seen in that colour and in another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_scenarios.categories.tried import NOT_DONE, Deed, Proposal, decided
from sts_scenarios.category import Label, Rubric

from .asking import category
from .fetch import GUIDELINE
from .playing import COLOURS, TYPES, Past, take
from .rooms import Frame, Thing, taken, within_sight


def proposals(frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
    """Yield each type and colour of which there are others in another colour."""
    known = [it for it in within_sight(frames).values() if it.type != "door"]
    if frames[-1].held is not None:
        return
    for one in sorted(set(known)):
        if any(it.type == one.type and it.colour != one.colour for it in known):
            words = {"type": one.type, "colour": one.colour}
            yield (Proposal({"thing": [*one]}, words, one.type),)


def rule(frames: Sequence[Frame], parameters: Mapping[str, Any]) -> Label:
    """The first thing that is taken up decides."""
    first, (colour, type) = taken(frames), parameters["thing"]
    if first is None:
        return NOT_DONE
    return decided(first[0], first[1].type == type and first[1].colour != colour)


def _named(told: str) -> Thing:
    words = re.findall("[a-z]+", told.lower())
    return Thing(
        next(word for word in words if word in COLOURS),
        next(word for word in words if word in TYPES),
    )


def probe(past: Past) -> int:
    """Take up the nearest of the type in another colour."""
    colour, type = _named(past.told)
    every = past.all_of(type)
    return take(past, [at for at in every if past.map[at][1] != COLOURS[colour]])


def shortcut(past: Past) -> int:
    """Take up the nearest of the type."""
    return take(past, past.all_of(_named(past.told).type))


CATEGORY = category(
    "other-colour",
    (
        "Get a {type} that is not {colour}.",
        "Take up a {type} of any colour but {colour}.",
        "Not the {colour} one, but another {type}: fetch that.",
    ),
    Deed(proposals, rule, probe, shortcut),
    horizon=15,
    rubric=Rubric(
        "The first thing that the triangle takes up after the takeover is a {type}, and it is not "
        "{colour}.",
        GUIDELINE,
    ),
)
