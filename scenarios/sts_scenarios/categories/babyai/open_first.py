"""babyai-open-first: open one door, and no other before it.

Asked where two closed doors were seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_scenarios.categories.tried import NOT_DONE, Deed, Proposal, decided
from sts_scenarios.category import Label, Rubric

from .asking import category
from .playing import CLOSED, TOGGLE, Past, go, named
from .rooms import Frame, Place, once, thing, within_sight


def proposals(frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
    """Yield each closed door."""
    now, known = frames[-1], within_sight(frames)
    shut = {at: it for at, it in once(now, ("door",)).items() if now.doors[at] == "closed"}
    own = {at: it for at, it in shut.items() if at in known}
    for one in own.values() if len(own) > 1 else ():
        yield (Proposal({"thing": [*one]}, {"a": str(one)}, one.colour),)


def rule(frames: Sequence[Frame], parameters: Mapping[str, Any]) -> Label:
    """The first door that is opened decides."""
    for n in range(1, len(frames)):
        before, now = frames[n - 1].doors, frames[n].doors
        opened = [at for at in now if now[at] == "open" != before[at]]
        if opened:
            return decided(n, frames[n].things[opened[0]] == thing(parameters["thing"]))
    return NOT_DONE


def probe(past: Past) -> int:
    """Open the door that is named."""
    return _open(past, past.where(named(past.told)[0]))


def shortcut(past: Past) -> int:
    """Open the nearest closed door."""
    return _open(past, past.all_of("door"))


def _open(past: Past, doors: list[Place]) -> int:
    """Goes to the nearest of some doors that is shut, and opens it."""
    return go(past, [at for at in doors if past.map[at][2] == CLOSED], TOGGLE)


CATEGORY = category(
    "open-first",
    (
        "Open {a} before any other.",
        "Of the doors, have {a} open first.",
        "Let the first one that you open now be {a}.",
    ),
    Deed(proposals, rule, probe, shortcut),
    horizon=15,
    rubric=Rubric(
        "The first door that the triangle opens after the takeover is {a}.",
        "An open door is a thin bar at the side of its cell. Which doors were open before does not "
        "matter, nor what is closed.",
    ),
)
