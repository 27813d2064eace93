"""Category deliver-after."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_overcooked.constants import STAY
from sts_scenarios.plugin import NOT_DONE, Label, Proposal, Rubric, make_label

from .kitchen_category import KitchenCategory, RequestContext, find_first_event
from .policies import DISH, ONION, History, deliver
from .snapshots import Snapshot

EVENTS = {
    "potting_onion": "has put an onion into a pot",
    "dish_pickup": "has taken a dish",
    "onion_pickup": "has taken an onion",
}


class DeliverAfter(KitchenCategory):
    """Deliver the held soup, but only after the other cook has done something.

    Asked if the cook holds a soup and could deliver it before the other acts, so that it has to
    wait although delivering pays at once.
    """

    name = "deliver-after"
    templates = (
        "Deliver your soup, but only once the cook with the {other} hat {event}.",
        "Wait until the cook with the {other} hat {event}, and then deliver your soup.",
        "As soon as the cook with the {other} hat {event}, and not before, deliver the soup.",
    )
    horizon = 30
    rubric = Rubric(
        "After the takeover, the cook delivers the soup, but only after the cook with the {other} "
        "hat {event}.",
        "What the other cook did before the takeover does not count. Delivering earlier, or in the "
        "same step, is a failure.",
        version="2",
    )
    shortcut = staticmethod(deliver)

    def propose(self, request: RequestContext) -> Iterator[tuple[Proposal, ...]]:
        """Yield each listed event that the other cook is going to cause."""
        if request.snapshot.held_thing(request.player) != "soup":
            return
        ahead = [request.snapshot, *request.future]
        for event, text in EVENTS.items():
            if find_first_event(ahead, 1 - request.player, [event]) is not None:
                yield (Proposal({"event": event}, {"event": text}, event),)

    def label(
        self, snapshots: Sequence[Snapshot], player: int, parameters: Mapping[str, Any]
    ) -> Label:
        """Judge the first delivery: it must come after the event."""
        done = find_first_event(snapshots, player, ["soup_delivery"])
        if done is None:
            return NOT_DONE
        event = find_first_event(snapshots, 1 - player, [parameters["event"]])
        return make_label(done[0], event is not None and event[0] < done[0])

    def solver(self, history: History) -> int:
        """Stand still until the event has been seen, then deliver."""
        frames = history.frames[history.asked_frame :]
        partner_things = [int(frame["partner"][3]) for frame in frames]
        changes = set(zip(partner_things, partner_things[1:], strict=False))
        pots = [int(frame["filled"].sum()) for frame in frames]
        pots_filled = any(a < b for a, b in zip(pots, pots[1:], strict=False))
        thing = ONION if "an onion" in history.instruction else DISH
        has_taken = any(b == thing != a for a, b in changes)
        has_acted = pots_filled if "pot" in history.instruction else has_taken
        return deliver(history) if has_acted else STAY


CATEGORY = DeliverAfter().build()
