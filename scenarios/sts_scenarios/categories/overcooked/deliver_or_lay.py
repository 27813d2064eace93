"""deliver-or-lay: a contrast pair, to deliver the held soup or to put it on a counter.

Asked if the cook holds a soup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts.worlds.overcooked.basics import STAY
from sts_scenarios.categories.tried import NOT_DONE, Proposal, Task, make_label
from sts_scenarios.category import Label, Rubric

from .asking import Request, build_category, find_first_event
from .moments import Snapshot, reachable_places
from .playing import SOUP, WINDOW, History, go_to, put_down

STEPS_LEFT_LYING = 8
"""Steps for which the cook must leave it there."""
OPTION_TEXTS = {
    "deliver": "bring it to the serving window",
    "lay": "lay it on a counter and leave it there",
}


def propose(asked: Request) -> Iterator[tuple[Proposal, ...]]:
    """Yield both options if the cook can reach a window and an empty counter."""
    now, role = asked.snapshot, asked.role
    tiles = {
        now.tile_at(place) for place in reachable_places(now, role) if place not in now.objects
    }
    if now.held_thing(role) == "soup" and {"S", "X"} <= tiles:
        yield tuple(
            Proposal({"asked": name}, {"deed": text}, name) for name, text in OPTION_TEXTS.items()
        )


def label_snapshots(line: Sequence[Snapshot], role: int, parameters: Mapping[str, Any]) -> Label:
    """Judge the first use of the soup; once put down it must be left there."""
    done = find_first_event(line, role, ["soup_delivery", "soup_drop"])
    if done is None:
        return NOT_DONE
    step, deed, _ = done
    if (deed == "soup_delivery") != (parameters["asked"] == "deliver"):
        return make_label(step, False)
    if deed == "soup_delivery":
        return make_label(step, True)
    again = find_first_event(line[step:], role, ["soup_pickup"])
    if again is not None and again[0] <= STEPS_LEFT_LYING:
        return make_label(step + again[0], False)
    return (
        make_label(step + STEPS_LEFT_LYING, True)
        if step + STEPS_LEFT_LYING < len(line)
        else NOT_DONE
    )


def solver_policy(past: History) -> int:
    """Follow the instruction, then stand still."""
    if past.held != SOUP:
        return STAY
    seen = past.kitchen
    return go_to(seen, seen.find_cells(WINDOW)) if "window" in past.instruction else put_down(seen)


def shortcut_policy(past: History) -> int:
    """Deliver the soup, whatever the instruction."""
    seen = past.kitchen
    return go_to(seen, seen.find_cells(WINDOW)) if past.held == SOUP else STAY


CATEGORY = build_category(
    "deliver-or-lay",
    (
        "You hold a soup: {deed}.",
        "Your soup: {deed}.",
        "As to the soup in your hands, {deed}.",
    ),
    Task(propose, label_snapshots, solver_policy, shortcut_policy),
    horizon=30,
    rubric=Rubric(
        "Of the soup that it holds at the takeover, the cook did this: {deed}.",
        f"Left there is what the cook does not take back for {STEPS_LEFT_LYING} steps; the other "
        "may take it. Who first lays it down has not delivered it.",
    ),
)
