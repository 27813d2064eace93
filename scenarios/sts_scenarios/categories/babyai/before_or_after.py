"""babyai-before-or-after: a pair, to go to one thing before or after another, from one moment.

Both instructions name the two in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_scenarios.categories.tried import NOT_DONE, Deed, Proposal, decided
from sts_scenarios.category import Label, Rubric

from .asking import category
from .playing import Past, go, named, numbers
from .rooms import Frame, Thing, once, stays, thing, within_sight

LONG = 2
"""Steps in a row for which one stays before a thing that one goes to."""


def proposals(frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
    """Yield two things, to be gone to in one order and in the other."""
    known = within_sight(frames)
    own = [it for at, it in once(frames[-1]).items() if at in known]
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


def rule(frames: Sequence[Frame], parameters: Mapping[str, Any]) -> Label:
    """Success where the second is gone to after the first; failure where it is before it."""
    was = False
    for n, found in stays(frames, LONG):
        if found == thing(parameters["second"]):
            return decided(n, was)
        was = was or found == thing(parameters["first"])
    return NOT_DONE


def _visit(past: Past, order: Sequence[Thing]) -> int:
    """Goes to two things, one after the other."""
    faced = [numbers(order[0])] * LONG
    was = any(past.faced[n : n + LONG] == faced for n in range(1, len(past.faced)))
    return go(past, past.where(order[was]))


def probe(past: Past) -> int:
    """Goes to them in the order that is asked for."""
    order = named(past.told)[:2]
    return _visit(past, order[::-1] if " after " in past.told.lower() else order)


def shortcut(past: Past) -> int:
    """Goes to them in the order in which they are named."""
    return _visit(past, named(past.told)[:2])


CATEGORY = category(
    "before-or-after",
    (
        "Go to {a} {order} you go to {b}.",
        "Stand in front of {a} {order} standing in front of {b}.",
        "Visit {a} {order} a visit to {b}.",
    ),
    Deed(proposals, rule, probe, shortcut),
    horizon=28,
    rubric=Rubric(
        "The triangle goes to {a} {order} it goes to {b}, and to both.",
        f"To go to a thing is to face it from the cell next to it for {LONG} steps in a row after "
        "the takeover. What else it goes to does not matter.",
    ),
)
