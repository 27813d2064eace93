"""babyai-fetch: pick up one thing, and nothing else before it.

Asked about a thing that was seen in the context, as was another type of thing in its colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sts_scenarios.categories.tried import Proposal, Task
from sts_scenarios.category import Rubric

from .asking import build_category
from .playing import History, encode_thing, parse_things, pick_up
from .rooms import Frame, label_first_pickup, things_seen, unique_things

GUIDELINE = "Only the first thing counts that it takes up, even if it lays it down again."


def propose(frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
    """Yield each unique thing of whose colour other types have been seen."""
    known = things_seen(frames)
    for place, one in unique_things(frames[-1]).items():
        alike = [
            it
            for it in known.values()
            if it.colour == one.colour and it.type not in ("door", one.type)
        ]
        if place in known and alike and frames[-1].held is None:
            yield (Proposal({"thing": [*one]}, {"a": str(one)}, one.colour),)


def solver_policy(past: History) -> int:
    """Pick up the named thing."""
    return pick_up(past, past.find_thing(parse_things(past.instruction)[0]))


def shortcut_policy(past: History) -> int:
    """Pick up the nearest thing of the named colour, of any type."""
    _, colour = encode_thing(parse_things(past.instruction)[0])
    return pick_up(
        past, [at for at in past.find_types("ball", "box", "key") if past.map[at][1] == colour]
    )


CATEGORY = build_category(
    "fetch",
    ("Get {a}.", "Fetch {a}, and nothing else before it.", "Take {a} into your hands."),
    Task(propose, label_first_pickup, solver_policy, shortcut_policy),
    horizon=15,
    rubric=Rubric(
        "The first thing that the triangle takes up after the takeover is {a}.", GUIDELINE
    ),
)
