"""Category deliver-or-lay."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_scenarios.plugin import NOT_DONE, Label, Proposal, Rubric, make_label

from .kitchen_category import KitchenCategory, RequestContext, find_first_event
from .policies import SOUP, History, deliver, put_down
from .snapshots import Snapshot, reachable_places

STEPS_LEFT_LYING = 8
"""Steps for which the cook must leave it there."""
OPTION_TEXTS = {
    "deliver": "bring it to the serving window",
    "lay": "lay it on a counter and leave it there",
}


class DeliverOrLay(KitchenCategory):
    """A contrast pair, to deliver the held soup or to put it on a counter.

    Asked if the cook holds a soup.
    """

    name = "deliver-or-lay"
    templates = (
        "You hold a soup: {deed}.",
        "Your soup: {deed}.",
        "As to the soup in your hands, {deed}.",
    )
    horizon = 30
    rubric = Rubric(
        "After the takeover, the cook does what it was told with the soup in its hands: {deed}.",
        "Only what the cook does first counts: deliver the soup, or lay it on a counter. The soup "
        f"is left there if the cook does not take it back for {STEPS_LEFT_LYING} steps; the other "
        "cook may take it.",
        version="2",
    )
    shortcut = staticmethod(deliver)

    def propose(self, request: RequestContext) -> Iterator[tuple[Proposal, ...]]:
        """Yield both options if the cook can reach a window and an empty counter."""
        now, player = request.snapshot, request.player
        tiles = {now.tile_at(at) for at in reachable_places(now, player) if at not in now.objects}
        if now.held_thing(player) == "soup" and {"S", "X"} <= tiles:
            yield tuple(
                Proposal({"asked": name}, {"deed": text}, name)
                for name, text in OPTION_TEXTS.items()
            )

    def label(
        self, snapshots: Sequence[Snapshot], player: int, parameters: Mapping[str, Any]
    ) -> Label:
        """Judge the first use of the soup; once put down it must be left there."""
        event = find_first_event(snapshots, player, ["soup_delivery", "soup_drop"])
        if event is None:
            return NOT_DONE
        step, kind, _ = event
        if (kind == "soup_delivery") != (parameters["asked"] == "deliver"):
            return make_label(step, False)
        if kind == "soup_delivery":
            return make_label(step, True)
        retaken = find_first_event(snapshots[step:], player, ["soup_pickup"])
        if retaken is not None and retaken[0] <= STEPS_LEFT_LYING:
            return make_label(step + retaken[0], False)
        left_step = step + STEPS_LEFT_LYING
        return make_label(left_step, True) if left_step < len(snapshots) else NOT_DONE

    def solver(self, history: History) -> int:
        """Follow the instruction, then stand still."""
        if history.held != SOUP or "window" in history.instruction:
            return deliver(history)
        return put_down(history.kitchen)


CATEGORY = DeliverOrLay().build()
