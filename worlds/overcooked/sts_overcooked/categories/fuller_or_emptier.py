"""Category fuller-or-emptier."""

from collections.abc import Iterator

from sts_scenarios.plugin import Proposal, Rubric

from .kitchen_category import KitchenCategory, RequestContext
from .policies import History, bring_onion, open_pots
from .same_pot import count_fillable_pots, label_first_onion


class FullerOrEmptier(KitchenCategory):
    """A contrast pair, to put an onion into the pot with more onions or with fewer.

    Asked if two pots with room for onions hold different numbers, and the cook holds an onion or
    nothing.
    """

    name = "fuller-or-emptier"
    templates = (
        "Put an onion into the pot that has {how} onions in it now.",
        "Of the two pots, take the one with {how} onions: add one to it.",
        "One pot has {how} onions than the other: add an onion to that one.",
    )
    horizon = 30
    rubric = Rubric(
        "After the takeover, the first onion that the cook puts into a pot goes into the one of "
        "the two pots that had {how} onions at the takeover.",
        "The two pots are those that were neither full nor cooking at the takeover. What the other "
        "cook does does not matter.",
        version="2",
    )
    label = staticmethod(label_first_onion)

    def propose(self, request: RequestContext) -> Iterator[tuple[Proposal, ...]]:
        """Yield the fuller and the emptier of two pots."""
        now, player = request.snapshot, request.player
        pots = count_fillable_pots(now, player)
        if now.held_thing(player) in ("", "onion") and len(pots) == len({*pots.values()}) == 2:
            ranked = sorted(pots, key=lambda place: -pots[place])
            yield tuple(
                Proposal({"pot": [*place], "asked": amount}, {"how": amount}, amount)
                for amount, place in zip(("more", "fewer"), ranked, strict=True)
            )

    def solver(self, history: History) -> int:
        """Go to the pot that had more or fewer onions when the instruction came."""
        kitchen, then = history.kitchen, history.frames[history.asked_frame]["filled"]
        sign = -1 if " more " in history.instruction else 1
        pots = sorted(open_pots(kitchen), key=lambda pot: sign * then[pot])
        return bring_onion(history, pots[:1])

    def shortcut(self, history: History) -> int:
        """Go to the fullest pot, whatever the instruction."""
        kitchen = history.kitchen
        pots = sorted(open_pots(kitchen), key=lambda pot: -kitchen.filled[pot])
        return bring_onion(history, pots[:1])


CATEGORY = FullerOrEmptier().build()
