"""Category babyai-before-or-after."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_scenarios.plugin import NOT_DONE, Label, Proposal, Rubric, make_label

from .level_category import LevelCategory
from .policies import History, encode_thing, go_to, parse_things
from .room_frames import Frame, Thing, find_stays, things_seen, unique_things
from .stand_before import FACING

STEPS_FACING = 2
"""Consecutive steps of facing a thing that count as having gone to it."""


class BeforeOrAfter(LevelCategory):
    """A contrast pair, to go to one thing before or after another.

    Both instructions name the two things in the same order.
    """

    name = "babyai-before-or-after"
    templates = (
        "Go to {a} {order} you go to {b}. "
        f"Going to a thing means facing it for {STEPS_FACING} steps in a row.",
        "Stop in front of {a} {order} you stop in front of {b}. "
        f"Face each of them for {STEPS_FACING} steps in a row.",
        "Visit {a} {order} you visit {b}. "
        f"A visit means facing the thing for {STEPS_FACING} steps in a row.",
    )
    earlier_templates = (
        "Go to {a} {order} you go to {b}.",
        "Stand in front of {a} {order} standing in front of {b}.",
        "Visit {a} {order} a visit to {b}.",
    )
    horizon = 28
    rubric = Rubric(
        "After the takeover, the triangle goes to both things: to {a} {order} it goes to {b}.",
        f"Going to a thing means facing it for {STEPS_FACING} steps in a row. {FACING} The wrong "
        "order is a failure. It does not matter where else the triangle goes.",
        version="2",
    )

    def propose(self, frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
        """Yield pairs of things, to be visited in one order and in the other."""
        seen_things = things_seen(frames)
        things = [thing for at, thing in unique_things(frames[-1]).items() if at in seen_things]
        for first_thing in things:
            for second_thing in things:
                if first_thing != second_thing:
                    words = {"a": str(first_thing), "b": str(second_thing)}
                    yield tuple(
                        Proposal(
                            {"first": [*first], "second": [*second], "order": order},
                            words | {"order": order},
                            order,
                        )
                        for order, first, second in (
                            ("before", first_thing, second_thing),
                            ("after", second_thing, first_thing),
                        )
                    )

    def label(self, frames: Sequence[Frame], player: int, parameters: Mapping[str, Any]) -> Label:
        """Return success if the second thing is visited after the first, failure if before it."""
        visited_first = False
        for n, faced in find_stays(frames, STEPS_FACING):
            if faced == Thing(*parameters["second"]):
                return make_label(n, visited_first)
            visited_first = visited_first or faced == Thing(*parameters["first"])
        return NOT_DONE

    def solver(self, history: History) -> int:
        """Visit the things in the requested order."""
        order = parse_things(history.instruction)[:2]
        return _visit(history, order[::-1] if " after " in history.instruction.lower() else order)

    def shortcut(self, history: History) -> int:
        """Visit the things in the order in which they are named."""
        return _visit(history, parse_things(history.instruction)[:2])


def _visit(history: History, order: Sequence[Thing]) -> int:
    """Return the next action to visit two things, one after the other."""
    faced = [encode_thing(order[0])] * STEPS_FACING
    visited_first = any(
        history.faced[n : n + STEPS_FACING] == faced for n in range(1, len(history.faced))
    )
    return go_to(history, history.find_thing(order[visited_first]))


CATEGORY = BeforeOrAfter().build()
