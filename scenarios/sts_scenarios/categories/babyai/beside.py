"""babyai-beside: pick up the thing next to a named one.

Asked if exactly one thing is next to the named one and both have been seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sts_scenarios.categories.tried import Proposal, Task
from sts_scenarios.category import Rubric

from . import rooms
from .asking import build_category
from .fetch import GUIDELINE
from .playing import History, parse_things, pick_up
from .rooms import Frame, label_first_pickup, things_seen, unique_things


def propose(frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
    """Yield each thing that has exactly one neighbour."""
    now, known = frames[-1], things_seen(frames)
    if now.held is not None:
        return
    single = unique_things(now, ("ball", "box", "key", "door"))
    for place, one in single.items():
        near = [
            at
            for at, it in now.things.items()
            if rooms.is_adjacent(at, place) and it.type != "door"
        ]
        if place in known and len(near) == 1 and near[0] in known and near[0] in single:
            asked = {"thing": [*single[near[0]]], "beside": [*one]}
            yield (Proposal(asked, {"b": str(one)}, single[near[0]].type),)


def solver_policy(past: History) -> int:
    """Pick up the neighbour of the named thing."""
    (place,) = past.find_thing(parse_things(past.instruction)[0]) or [(0, 0)]
    return pick_up(
        past, [at for at in past.find_types("ball", "box", "key") if rooms.is_adjacent(at, place)]
    )


def shortcut_policy(past: History) -> int:
    """Pick up the named thing itself."""
    return pick_up(past, past.find_thing(parse_things(past.instruction)[0]))


CATEGORY = build_category(
    "beside",
    (
        "Get the thing that lies next to {b}.",
        "Something is right beside {b}: take that up.",
        "Fetch what stands side by side with {b}, not {b} itself.",
    ),
    Task(propose, label_first_pickup, solver_policy, shortcut_policy),
    horizon=15,
    rubric=Rubric(
        "The first thing that the triangle takes up after the takeover is the one that was next to "
        "{b}.",
        GUIDELINE + " Next to is side by side, not corner to corner.",
    ),
)
