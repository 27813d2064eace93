"""babyai-unlock: open a locked door, for which its key is needed.

Asked where the door and the key of its colour were seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_scenarios.categories.tried import NOT_DONE, Proposal, Task
from sts_scenarios.category import Label, Rubric

from .asking import build_category
from .playing import DROP, TOGGLE, History, encode_thing, go_to, parse_things, pick_up
from .rooms import Frame, Thing, parse_thing, things_seen, unique_things


def propose(frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
    """Yield each locked door whose key is at hand."""
    now, known = frames[-1], things_seen(frames)
    for place, one in unique_things(now, ("door",)).items():
        locked = place in known and now.doors[place] == "locked"
        if locked and Thing(one.colour, "key") in known.values():
            yield (Proposal({"thing": [*one]}, {"a": str(one)}, one.colour),)


def label_frames(frames: Sequence[Frame], parameters: Mapping[str, Any]) -> Label:
    """Success at the first frame with the door open."""
    door = parse_thing(parameters["thing"])
    opened = (n for n, one in enumerate(frames) if n and _is_open(one, door))
    return next((Label("success", n) for n in opened), NOT_DONE)


def _is_open(frame: Frame, door: Thing) -> bool:
    return any(frame.things[at] == door and how == "open" for at, how in frame.doors.items())


def solver_policy(past: History) -> int:
    """Take the key of that colour to the door."""
    door = parse_things(past.told)[0]
    key = Thing(door.colour, "key")
    if past.held[-1] == encode_thing(key):
        return go_to(past, past.where(door), TOGGLE)
    return DROP if past.carries else pick_up(past, past.where(key))


def shortcut_policy(past: History) -> int:
    """Goes to the door and tries it without a key."""
    return go_to(past, past.where(parse_things(past.told)[0]), TOGGLE)


CATEGORY = build_category(
    "unlock",
    (
        "Unlock {a}.",
        "Open {a}; it is locked.",
        "Get {a} open, by its key.",
    ),
    Task(propose, label_frames, solver_policy, shortcut_policy),
    horizon=28,
    rubric=Rubric(
        "After the takeover {a} comes to be open.",
        "A locked door is filled; an open one is a thin bar at the side of its cell. Only the key "
        "of its colour opens it.",
    ),
)
