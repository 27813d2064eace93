"""babyai-before-or-after: a contrast pair, to go to one thing before or after another.

Both instructions name the two things in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_scenarios.categories.tried import NOT_DONE, Proposal, Task, make_label
from sts_scenarios.category import Label, Rubric

from .asking import build_category
from .playing import History, encode_thing, go_to, parse_things
from .rooms import Frame, Thing, find_stays, parse_thing, things_seen, unique_things

STEPS_FACING = 2
"""Consecutive steps of facing a thing that count as having gone to it."""


def propose(frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
    """Yield pairs of things, to be visited in one order and in the other."""
    known = things_seen(frames)
    own = [it for at, it in unique_things(frames[-1]).items() if at in known]
    for one in own:
        for other in own:
            if one != other:
                words = {"a": str(one), "b": str(other)}
                yield tuple(
                    Proposal(
                        {"first": [*first], "second": [*second], "order": order},
                        words | {"order": order},
                        order,
                    )
                    for order, first, second in (("before", one, other), ("after", other, one))
                )


def label_frames(frames: Sequence[Frame], parameters: Mapping[str, Any]) -> Label:
    """Return success if the second thing is visited after the first, failure if before it."""
    was = False
    for n, found in find_stays(frames, STEPS_FACING):
        if found == parse_thing(parameters["second"]):
            return make_label(n, was)
        was = was or found == parse_thing(parameters["first"])
    return NOT_DONE


def _visit(past: History, order: Sequence[Thing]) -> int:
    """Return the next action to visit two things, one after the other."""
    faced = [encode_thing(order[0])] * STEPS_FACING
    was = any(past.faced[n : n + STEPS_FACING] == faced for n in range(1, len(past.faced)))
    return go_to(past, past.find_thing(order[was]))


def solver_policy(past: History) -> int:
    """Visit the things in the requested order."""
    order = parse_things(past.instruction)[:2]
    return _visit(past, order[::-1] if " after " in past.instruction.lower() else order)


def shortcut_policy(past: History) -> int:
    """Visit the things in the order in which they are named."""
    return _visit(past, parse_things(past.instruction)[:2])


CATEGORY = build_category(
    "before-or-after",
    (
        "Go to {a} {order} you go to {b}.",
        "Stand in front of {a} {order} standing in front of {b}.",
        "Visit {a} {order} a visit to {b}.",
    ),
    Task(propose, label_frames, solver_policy, shortcut_policy),
    horizon=28,
    rubric=Rubric(
        "The triangle goes to {a} {order} it goes to {b}, and to both.",
        f"To go to a thing is to face it from the cell next to it for {STEPS_FACING} steps in a "
        "row after the takeover. What else it goes to does not matter.",
    ),
)
