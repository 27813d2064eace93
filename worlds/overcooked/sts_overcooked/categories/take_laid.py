"""Category take-laid."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_overcooked.constants import STAY
from sts_scenarios.plugin import NOT_DONE, Label, Proposal, Rubric, make_label

from .kitchen_category import KitchenCategory, RequestContext, find_first_event
from .policies import COUNTER, DISH, DISHES, NOTHING, ONION, ONIONS, SOUP, History, go_to
from .snapshots import Snapshot, reachable_places

THINGS = {"onion": "an onion", "dish": "a dish", "soup": "a soup"}
MIN_DISTANCE = 3
"""Minimum distance to the counter in rows plus columns; 1 is next to the cook."""
_NUMBERS = {"onion": ONION, "dish": DISH, "soup": SOUP}


class TakeLaid(KitchenCategory):
    """Wait until the other cook puts something on a counter, and take that.

    Asked if the cook's hands are empty and the other is going to put such a thing within its reach,
    but not right next to it, where a cook that interacts at random would take it without looking.
    """

    name = "take-laid"
    templates = (
        "Wait until the cook with the {other} hat lays {a} on a counter, and take that.",
        "The cook with the {other} hat will lay {a} on a counter for you: take it, nothing else.",
        "Take nothing until the cook with the {other} hat has laid {a} on a counter; take that.",
    )
    horizon = 24
    rubric = Rubric(
        "After the takeover, the cook with the {other} hat lays {a} on a counter, and that is the "
        "first thing that the cook takes.",
        "Taking another thing first is a failure. Things that lay on a counter at the takeover, or "
        "that come from the stacks, do not count.",
        version="2",
    )

    def propose(self, request: RequestContext) -> Iterator[tuple[Proposal, ...]]:
        """Yield each thing that the other cook is going to put within reach."""
        now, player = request.snapshot, request.player
        if now.held_thing(player):
            return
        ahead, reach = [now, *request.future], reachable_places(now, player)
        for thing, text in THINGS.items():
            laid = find_first_event(ahead, 1 - player, [f"{thing}_drop"])
            if laid is None or laid[2] not in reach or now.tile_at(laid[2]) != "X":
                continue
            (x, y), (counter_x, counter_y) = now.position(player), laid[2]
            if abs(x - counter_x) + abs(y - counter_y) >= MIN_DISTANCE:
                yield (Proposal({"thing": thing}, {"a": text}, thing),)

    def label(
        self, snapshots: Sequence[Snapshot], player: int, parameters: Mapping[str, Any]
    ) -> Label:
        """Judge the first thing that the cook takes: it must be one that the other put there."""
        thing = parameters["thing"]
        laid: set[tuple[int, int]] = set()
        for step, snapshot in enumerate(snapshots[1:], 1):
            for cook, kind, place in snapshot.events:
                if cook == player and kind.endswith("_pickup"):
                    return make_label(step, kind == f"{thing}_pickup" and place in laid)
            laid |= {
                place
                for cook, kind, place in snapshot.events
                if (cook, kind) == (1 - player, f"{thing}_drop")
            }
        return NOT_DONE

    def solver(self, history: History) -> int:
        """Stand still until a counter holds such a thing that did not when the instruction came."""
        if history.held != NOTHING:
            return STAY
        text = history.instruction.lower()
        thing = next(number for name, number in _NUMBERS.items() if name in text)
        kitchen, then = history.kitchen, history.frames[history.asked_frame]["things"]
        places = kitchen.find_cells(COUNTER, thing)
        return go_to(kitchen, [at for at in places if then[at] != thing])

    def shortcut(self, history: History) -> int:
        """Take whatever is nearest, from the stacks or from a counter."""
        kitchen = history.kitchen
        lying = [at for number in _NUMBERS.values() for at in kitchen.find_cells(COUNTER, number)]
        stacks = [*kitchen.find_cells(ONIONS), *kitchen.find_cells(DISHES)]
        return STAY if history.held != NOTHING else go_to(kitchen, [*lying, *stacks])


CATEGORY = TakeLaid().build()
