"""Category same-pot."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts_overcooked.agents.routes import Cell
from sts_overcooked.constants import FULL, SIDES
from sts_scenarios.plugin import NOT_DONE, Label, Proposal, Rubric, make_label

from .kitchen_category import KitchenCategory, RequestContext, find_first_event
from .policies import ONION, POT, History, bring_onion, open_pots
from .snapshots import CONTEXT, Place, Snapshot, reachable_places

POTTING = "potting_onion"


def count_fillable_pots(snapshot: Snapshot, player: int) -> dict[Place, int]:
    """Return the number of onions in each pot with room for more that a cook can reach."""
    pots = [
        (x, y) for y, row in enumerate(snapshot.grid) for x, tile in enumerate(row) if tile == "P"
    ]
    reach, soups = reachable_places(snapshot, player), snapshot.objects
    count = {at: len(soups[at][1]) if at in soups else 0 for at in pots if at in reach}
    return {at: n for at, n in count.items() if n < FULL}


def label_first_onion(
    snapshots: Sequence[Snapshot], player: int, parameters: Mapping[str, Any]
) -> Label:
    """Judge the first onion that the cook puts into a pot: it must be the pot of the parameters."""
    done = find_first_event(snapshots, player, [POTTING])
    return make_label(done[0], [*done[2]] == parameters["pot"]) if done else NOT_DONE


class SamePot(KitchenCategory):
    """Continue with the pot that the other cook was filling, though another has room too.

    Asked if the other cook recently put an onion into a pot that still holds it, another pot has
    room for onions, and the cook holds an onion or nothing.
    """

    name = "same-pot"
    templates = (
        "Put an onion into the pot that the cook with the {other} hat used last.",
        "Go on with the pot into which the cook with the {other} hat put an onion just before.",
        "The cook with the {other} hat has begun a pot: put an onion into that one.",
    )
    horizon = 30
    rubric = Rubric(
        "After the takeover, the first onion that the cook puts into a pot goes into the pot that "
        "the cook with the {other} hat had used last before the takeover.",
        "Using a pot means putting an onion into it. It does not matter where the onion comes "
        "from, or what the other cook does after the takeover.",
        version="2",
    )
    label = staticmethod(label_first_onion)

    def propose(self, request: RequestContext) -> Iterator[tuple[Proposal, ...]]:
        """Yield the pot that the other cook used last."""
        now, player = request.snapshot, request.player
        pots = count_fillable_pots(now, player)
        if now.held_thing(player) not in ("", "onion") or len(pots) < 2:
            return
        before = request.snapshots[max(request.step - CONTEXT, 0) + 1 : request.step + 1]
        used = [
            place
            for snapshot in before
            for cook, kind, place in snapshot.events
            if (cook, kind) == (1 - player, POTTING)
        ]
        if used and pots.get(used[-1], 0) > 0:  # otherwise it has been emptied
            yield (Proposal({"pot": [*used[-1]]}, {}),)

    def solver(self, history: History) -> int:
        """Go to the pot that the other cook last left with empty hands."""
        last_pot: list[Cell] = []
        for before, after in zip(
            history.frames[: history.asked_frame],
            history.frames[1 : history.asked_frame + 1],
            strict=True,
        ):
            gave_onion = before["partner"][3] == ONION != after["partner"][3]
            row, column, side, _ = (int(value) for value in after["partner"])
            right, down = SIDES[side]
            place = (row + down, column + right)
            if gave_onion and after["tiles"][place] == POT:
                last_pot = [place]
        return bring_onion(history, last_pot)

    def shortcut(self, history: History) -> int:
        """Go to the nearest pot."""
        return bring_onion(history, open_pots(history.kitchen))


CATEGORY = SamePot().build()
