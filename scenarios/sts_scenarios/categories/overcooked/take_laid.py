"""take-laid: wait until the other cook puts something on a counter, and take that.

Asked if the cook's hands are empty and the other is going to put such a thing within its reach, but
not right next to it, where a cook that interacts at random would take it without looking.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts.worlds.overcooked.basics import STAY
from sts_scenarios.categories.tried import NOT_DONE, Proposal, Task, make_label
from sts_scenarios.category import Label, Rubric

from .asking import Request, build_category, find_first_event
from .moments import Snapshot, reachable_places
from .playing import COUNTER, DISH, DISHES, NOTHING, ONION, ONIONS, SOUP, History, go_to

THINGS = {"onion": "an onion", "dish": "a dish", "soup": "a soup"}
MIN_DISTANCE = 3
"""Minimum distance to the counter in rows plus columns; 1 is next to the cook."""
_NUMBERS = {"onion": ONION, "dish": DISH, "soup": SOUP}


def propose(asked: Request) -> Iterator[tuple[Proposal, ...]]:
    """Yield each thing that the other cook is going to put within reach."""
    now, role = asked.snapshot, asked.role
    if now.held_thing(role):
        return
    ahead, reach = [now, *asked.future], reachable_places(now, role)
    for thing, text in THINGS.items():
        laid = find_first_event(ahead, 1 - role, [f"{thing}_drop"])
        if laid is None or laid[2] not in reach or now.tile_at(laid[2]) != "X":
            continue
        (x, y), (there, down) = now.position(role), laid[2]
        if abs(x - there) + abs(y - down) >= MIN_DISTANCE:
            yield (Proposal({"thing": thing}, {"a": text}, thing),)


def label_snapshots(line: Sequence[Snapshot], role: int, parameters: Mapping[str, Any]) -> Label:
    """Judge the first thing that the cook takes: it must be one that the other put there."""
    laid: set[tuple[int, int]] = set()
    for step, moment in enumerate(line[1:], 1):
        for who, deed, place in moment.events:
            if who == role and deed.endswith("_pickup"):
                return make_label(step, deed == f"{parameters['thing']}_pickup" and place in laid)
        laid |= {
            place
            for who, deed, place in moment.events
            if (who, deed) == (1 - role, f"{parameters['thing']}_drop")
        }
    return NOT_DONE


def solver_policy(past: History) -> int:
    """Stand still until a counter holds such a thing that did not when the instruction came."""
    if past.held != NOTHING:
        return STAY
    thing = next(number for name, number in _NUMBERS.items() if name in past.instruction.lower())
    seen, then = past.kitchen, past.frames[past.asked_frame]["things"]
    return go_to(seen, [at for at in seen.find_cells(COUNTER, thing) if then[at] != thing])


def shortcut_policy(past: History) -> int:
    """Take whatever is nearest, from the stacks or from a counter."""
    seen = past.kitchen
    lying = [at for number in _NUMBERS.values() for at in seen.find_cells(COUNTER, number)]
    stacks = [*seen.find_cells(ONIONS), *seen.find_cells(DISHES)]
    return STAY if past.held != NOTHING else go_to(seen, [*lying, *stacks])


CATEGORY = build_category(
    "take-laid",
    (
        "Wait until the cook with the {other} hat lays {a} on a counter, and take that.",
        "The cook with the {other} hat will lay {a} on a counter for you: take it, nothing else.",
        "Take nothing until the cook with the {other} hat has laid {a} on a counter; take that.",
    ),
    Task(propose, label_snapshots, solver_policy, shortcut_policy),
    horizon=24,
    rubric=Rubric(
        "The first thing that the cook takes after the takeover is {a} that the cook with the "
        "{other} hat laid on a counter after the takeover.",
        "What lay on the counters before does not count, nor what comes from the stacks.",
    ),
)
