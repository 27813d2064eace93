"""deliver-after: deliver the held soup, but only after the other cook has done something.

Asked if the cook holds a soup and could deliver it before the other acts, so that it has to wait
although delivering pays at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts.worlds.overcooked.basics import STAY
from sts_scenarios.categories.tried import NOT_DONE, Proposal, Task, make_label
from sts_scenarios.category import Label, Rubric

from .asking import Request, build_category, find_first_event
from .moments import Snapshot
from .playing import DISH, ONION, SOUP, WINDOW, History, go_to

EVENTS = {
    "potting_onion": "has put an onion into a pot",
    "dish_pickup": "has taken a dish",
    "onion_pickup": "has taken an onion",
}


def propose(asked: Request) -> Iterator[tuple[Proposal, ...]]:
    """Yield each listed event that the other cook is going to cause."""
    if asked.snapshot.held_thing(asked.role) != "soup":
        return
    ahead = [asked.snapshot, *asked.future]
    for event, text in EVENTS.items():
        if find_first_event(ahead, 1 - asked.role, [event]) is not None:
            yield (Proposal({"event": event}, {"event": text}, event),)


def label_snapshots(line: Sequence[Snapshot], role: int, parameters: Mapping[str, Any]) -> Label:
    """Judge the first delivery: it must come after the event."""
    done = find_first_event(line, role, ["soup_delivery"])
    if done is None:
        return NOT_DONE
    event = find_first_event(line, 1 - role, [parameters["event"]])
    return make_label(done[0], event is not None and event[0] < done[0])


def solver_policy(past: History) -> int:
    """Stand still until the event has been seen, then deliver."""
    if past.held != SOUP:
        return STAY
    held = [int(frame["partner"][3]) for frame in past.frames[past.asked_frame :]]
    changes = set(zip(held, held[1:], strict=False))
    pots = [int(frame["filled"].sum()) for frame in past.frames[past.asked_frame :]]
    more = any(a < b for a, b in zip(pots, pots[1:], strict=False))
    taken = ONION if "an onion" in past.instruction else DISH
    came = any(b == taken != a for a, b in changes)
    seen = past.kitchen
    return (
        go_to(seen, seen.find_cells(WINDOW))
        if (more if "pot" in past.instruction else came)
        else STAY
    )


def shortcut_policy(past: History) -> int:
    """Deliver at once."""
    seen = past.kitchen
    return go_to(seen, seen.find_cells(WINDOW)) if past.held == SOUP else STAY


CATEGORY = build_category(
    "deliver-after",
    (
        "Deliver your soup, but only once the cook with the {other} hat {event}.",
        "Wait until the cook with the {other} hat {event}, and then deliver your soup.",
        "As soon as the cook with the {other} hat {event}, and not before, deliver the soup.",
    ),
    Task(propose, label_snapshots, solver_policy, shortcut_policy),
    horizon=30,
    rubric=Rubric(
        "The cook delivers the soup, and after the takeover the cook with the {other} hat {event} "
        "before that.",
        "What the other did before the takeover does not count. In the same step is too early.",
    ),
)
