"""same-pot: go on with the pot that the other cook was filling, though another is open too.

Asked when the other put an onion into one pot not long ago, which is still there, another pot can
take onions as well, and the cook holds an onion or nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts.worlds.overcooked.agents.ways import Cell
from sts.worlds.overcooked.basics import FULL, SIDES
from sts_scenarios.categories.tried import NOT_DONE, Deed, Proposal, decided
from sts_scenarios.category import Label, Rubric

from .asking import Asked, category, first
from .moments import CONTEXT, Moment, Place, within_reach
from .playing import ONION, POT, Past, open_pots, with_onion

POTTING = "potting_onion"


def fillable(moment: Moment, role: int) -> dict[Place, int]:
    """Return how many onions are in each pot that a cook can put one into."""
    pots = [
        (x, y) for y, row in enumerate(moment.grid) for x, tile in enumerate(row) if tile == "P"
    ]
    reach, soups = within_reach(moment, role), moment.objects
    count = {at: len(soups[at][1]) if at in soups else 0 for at in pots if at in reach}
    return {at: n for at, n in count.items() if n < FULL}


def proposals(asked: Asked) -> Iterator[tuple[Proposal, ...]]:
    """Yield the pot that the other put an onion into last."""
    now, role = asked.now, asked.role
    pots = fillable(now, role)
    if now.holds(role) not in ("", "onion") or len(pots) < 2:
        return
    before = asked.line[max(asked.moment - CONTEXT, 0) + 1 : asked.moment + 1]
    used = [
        place
        for one in before
        for who, deed, place in one.events
        if (who, deed) == (1 - role, POTTING)
    ]
    if used and pots.get(used[-1], 0) > 0:  # else it was emptied since
        yield (Proposal({"pot": [*used[-1]]}, {}),)


def rule(line: Sequence[Moment], role: int, parameters: Mapping[str, Any]) -> Label:
    """The first onion that the cook puts into a pot decides."""
    done = first(line, role, [POTTING])
    return decided(done[0], [*done[2]] == parameters["pot"]) if done else NOT_DONE


def probe(past: Past) -> int:
    """Goes to the pot that had one more when the other's hands were empty again."""
    own: list[Cell] = []
    for before, after in zip(
        past.frames[: past.asked], past.frames[1 : past.asked + 1], strict=True
    ):
        gave = before["partner"][3] == ONION != after["partner"][3]
        row, column, side, _ = (int(value) for value in after["partner"])
        right, down = SIDES[side]
        place = (row + down, column + right)
        if gave and after["tiles"][place] == POT:
            own = [place]
    return with_onion(past, own)


def shortcut(past: Past) -> int:
    """Goes to the nearest pot."""
    return with_onion(past, open_pots(past.now))


CATEGORY = category(
    "same-pot",
    (
        "Put an onion into the pot that the cook with the {other} hat used last.",
        "Go on with the pot into which the cook with the {other} hat put an onion just before.",
        "The cook with the {other} hat has begun a pot: put an onion into that one.",
    ),
    Deed(proposals, rule, probe, shortcut),
    horizon=30,
    rubric=Rubric(
        "The first onion that the cook puts into a pot after the takeover goes into the pot that "
        "the cook with the {other} hat had last put one into at the takeover.",
        "Where the onion comes from does not matter, nor what the other does afterwards.",
    ),
)
