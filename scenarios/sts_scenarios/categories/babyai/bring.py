"""babyai-bring: carry one thing to another and lay it down beside it.

Asked of two things that were seen and are not side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_scenarios.categories.tried import NOT_DONE, Deed, Proposal, decided
from sts_scenarios.category import Label, Rubric

from . import rooms
from .asking import category
from .playing import DROP, Past, go, named, take
from .rooms import Frame, once, taken, thing, within_sight


def proposals(frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
    """Yield what to carry and where."""
    now, known = frames[-1], within_sight(frames)
    if now.held is not None:
        return
    single = {at: it for at, it in once(now).items() if at in known}
    for place, one in single.items():
        for there, other in single.items():
            if there != place and not rooms.beside(place, there):
                asked = {"thing": [*one], "beside": [*other]}
                yield (Proposal(asked, {"a": str(one), "b": str(other)}, one.type),)


def rule(frames: Sequence[Frame], parameters: Mapping[str, Any]) -> Label:
    """Failure where another thing is taken up first; then where it is first laid down decides."""
    first, own = taken(frames), thing(parameters["thing"])
    if first is None:
        return NOT_DONE
    if first[1] != own:
        return decided(first[0], False)
    for n in range(first[0] + 1, len(frames)):
        if frames[n].held is None:
            other = frames[n].place(thing(parameters["beside"]))
            return decided(n, rooms.beside(frames[n].place(own), other))
    return NOT_DONE


def probe(past: Past) -> int:
    """Take the first that is named, and lays it down beside the second."""
    own, other = named(past.told)[:2]
    if past.carries:
        return go(past, past.free_beside(past.where(other)), DROP)
    return take(past, past.where(own))


def shortcut(past: Past) -> int:
    """Take it and lays it down at once."""
    return DROP if past.carries else take(past, past.where(named(past.told)[0]))


CATEGORY = category(
    "bring",
    (
        "Bring {a} to {b} and lay it down beside it.",
        "Carry {a} over to {b}; leave it there, side by side.",
        "I want {a} right next to {b}: take it there.",
    ),
    Deed(proposals, rule, probe, shortcut),
    horizon=28,
    rubric=Rubric(
        "The triangle takes up {a} before anything else, and where it first lays it down is a cell "
        "next to {b}.",
        "Next to is side by side, not corner to corner. Where it takes it afterwards does not "
        "count.",
    ),
)
