"""Category babyai-on-side."""

from collections.abc import Iterator, Sequence

from sts_scenarios.plugin import Proposal, Rubric

from .fetch import GUIDELINE
from .level_category import LevelCategory
from .policies import History, make_nearest_policy, pick_up
from .room_frames import Frame, label_first_pickup, unique_things


class OnSide(LevelCategory):
    """Pick up the thing on the left or on the right, as seen at the takeover.

    Asked if exactly one thing in view is on that side and at least one other is not.
    """

    name = "babyai-on-side"
    templates = (
        "Pick up the only thing that you see on your {side} now.",
        "You see one thing on your {side} now. Pick it up before you pick up anything else.",
        "Look to your {side}: the only thing there must be the first thing you pick up.",
    )
    earlier_templates = (
        "Get the only thing that you see on your {side}.",
        "On your {side} you see one thing: take it up.",
        "Fetch the one thing that lies to your {side} as you stand now.",
    )
    horizon = 12
    rubric = Rubric(
        "After the takeover, the first thing that the triangle picks up is the one that it saw on "
        "its {side} at the takeover.",
        GUIDELINE + " It sees the brighter cells. Left and right are as seen by the triangle at "
        "the takeover; a thing straight ahead is on neither side.",
        version="2",
    )
    label = staticmethod(label_first_pickup)
    shortcut = staticmethod(make_nearest_policy("ball", "box", "key"))

    def propose(self, frames: Sequence[Frame]) -> Iterator[tuple[Proposal, ...]]:
        """Yield the only thing on each side."""
        now = frames[-1]
        if now.held is not None:
            return
        things = {at: thing for at, thing in now.things.items() if thing.type != "door"}
        in_view = [at for at in things if at in now.visible]
        for side, sign in (("left", -1), ("right", 1)):
            on_side = [at for at in in_view if sign * now.offset_right(at) > 0]
            if len(on_side) == 1 < len(in_view) and on_side[0] in unique_things(now):
                parameters = {"thing": [*things[on_side[0]]], "side": side}
                yield (Proposal(parameters, {"side": side}, side),)

    def solver(self, history: History) -> int:
        """Pick up the thing that was on that side when the instruction came."""
        side = "left" if "left" in history.instruction.lower() else "right"
        return pick_up(history, history.find_on_side(side))


CATEGORY = OnSide().build()
