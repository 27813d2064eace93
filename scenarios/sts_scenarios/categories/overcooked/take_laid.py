"""take-laid: wait until the other cook lays something on a counter, and take that.

Asked when the cook's hands are empty and the other is going to lay such a thing within its reach,
but not near where it stands: there, whoever handles what is before it takes it without looking.
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
"""How far away the counter is at least, in rows and columns together; 1 is next to the cook."""
_NUMBERS = {"onion": ONION, "dish": DISH, "soup": SOUP}


def propose(asked: Request) -> Iterator[tuple[Proposal, ...]]:
    """Yield what the other is going to lay within reach."""
    now, role = asked.now, asked.role
    if now.holds(role):
        return
    ahead, reach = [now, *asked.ahead], reachable_places(now, role)
    for thing, text in THINGS.items():
        laid = find_first_event(ahead, 1 - role, [f"{thing}_drop"])
        if laid is None or laid[2] not in reach or now.tile(laid[2]) != "X":
            continue
        (x, y), (there, down) = now.at(role), laid[2]
        if abs(x - there) + abs(y - down) >= MIN_DISTANCE:
            yield (Proposal({"thing": thing}, {"a": text}, thing),)


def label_snapshots(line: Sequence[Snapshot], role: int, parameters: Mapping[str, Any]) -> Label:
    """The first thing that the cook takes decides: it must be where the other laid such a thing."""
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
    """Stands still until there is more of it on the counters than when it was asked."""
    if past.held != NOTHING:
        return STAY
    thing = next(number for name, number in _NUMBERS.items() if name in past.told.lower())
    seen, then = past.now, past.frames[past.asked]["things"]
    return go_to(seen, [at for at in seen.where(COUNTER, thing) if then[at] != thing])


def shortcut_policy(past: History) -> int:
    """Take whatever is nearest, from the stacks or from a counter."""
    seen = past.now
    lying = [at for number in _NUMBERS.values() for at in seen.where(COUNTER, number)]
    stacks = [*seen.where(ONIONS), *seen.where(DISHES)]
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
