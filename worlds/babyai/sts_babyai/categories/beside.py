"""babyai-beside: pick up the thing next to a named one.

Asked if exactly one thing is next to the named one and both have been seen.
"""

from collections.abc import Iterator, Sequence

from sts_scenarios.plugin import Proposal, Rubric, Task

from . import room_frames
from .bring import NEXT_TO
from .builders import build_category
from .fetch import GUIDELINE
from .policies import History, parse_things, pick_up, pick_up_named
from .room_frames import Frame, label_first_pickup, things_seen, unique_things


def propose(frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
    """Yield each thing that has exactly one neighbour."""
    now, seen_things = frames[-1], things_seen(frames)
    if now.held is not None:
        return
    single = unique_things(now, ("ball", "box", "key", "door"))
    for place, thing in single.items():
        near = [
            at
            for at, other in now.things.items()
            if room_frames.is_adjacent(at, place) and other.type != "door"
        ]
        if place in seen_things and len(near) == 1 and near[0] in seen_things and near[0] in single:
            parameters = {"thing": [*single[near[0]]], "beside": [*thing]}
            yield (Proposal(parameters, {"b": str(thing)}, single[near[0]].type),)


def solver_policy(history: History) -> int:
    """Pick up the neighbour of the named thing."""
    (place,) = history.find_thing(parse_things(history.instruction)[0]) or [(0, 0)]
    return pick_up(
        history,
        [
            at
            for at in history.find_types("ball", "box", "key")
            if room_frames.is_adjacent(at, place)
        ],
    )


CATEGORY = build_category(
    "beside",
    (
        "Pick up the thing directly next to {b}. Do not pick up anything else first.",
        "One thing is directly next to {b}. Pick up that thing, not {b}.",
        "The first thing you pick up must be the one directly next to {b}.",
    ),
    Task(propose, label_first_pickup, solver_policy, pick_up_named),
    earlier_templates=(
        "Get the thing that lies next to {b}.",
        "Something is right beside {b}: take that up.",
        "Fetch what stands side by side with {b}, not {b} itself.",
    ),
    horizon=15,
    rubric=Rubric(
        "After the takeover, the first thing that the triangle picks up is the one that was next "
        "to {b} at the takeover.",
        f"{GUIDELINE} {NEXT_TO}",
        version="2",
    ),
)
