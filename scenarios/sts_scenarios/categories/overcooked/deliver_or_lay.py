"""deliver-or-lay: a pair, to deliver the soup that one holds, or to lay it on a counter.

Asked when the cook holds a soup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sts.worlds.overcooked.basics import STAY
from sts_scenarios.categories.tried import NOT_DONE, Deed, Proposal, decided
from sts_scenarios.category import Label, Rubric

from .asking import Asked, category, first
from .moments import Moment, within_reach
from .playing import SOUP, WINDOW, Past, go, lay

LEFT_FOR = 8
"""Steps for which it must lie there."""
DEEDS = {
    "deliver": "bring it to the serving window",
    "lay": "lay it on a counter and leave it there",
}


def proposals(asked: Asked) -> Iterator[tuple[Proposal, ...]]:
    """Yield both, where both can be reached."""
    now, role = asked.now, asked.role
    tiles = {now.tile(place) for place in within_reach(now, role) if place not in now.objects}
    if now.holds(role) == "soup" and {"S", "X"} <= tiles:
        yield tuple(Proposal({"asked": name}, {"deed": text}, name) for name, text in DEEDS.items())


def rule(line: Sequence[Moment], role: int, parameters: Mapping[str, Any]) -> Label:
    """What is first done with the soup decides; laid down, it must stay there."""
    done = first(line, role, ["soup_delivery", "soup_drop"])
    if done is None:
        return NOT_DONE
    step, deed, _ = done
    if (deed == "soup_delivery") != (parameters["asked"] == "deliver"):
        return decided(step, False)
    if deed == "soup_delivery":
        return decided(step, True)
    again = first(line[step:], role, ["soup_pickup"])
    if again is not None and again[0] <= LEFT_FOR:
        return decided(step + again[0], False)
    return decided(step + LEFT_FOR, True) if step + LEFT_FOR < len(line) else NOT_DONE


def probe(past: Past) -> int:
    """Do as told, and then nothing."""
    if past.held != SOUP:
        return STAY
    seen = past.now
    return go(seen, seen.where(WINDOW)) if "window" in past.told else lay(seen)


def shortcut(past: Past) -> int:
    """Delivers it, whatever it is told."""
    seen = past.now
    return go(seen, seen.where(WINDOW)) if past.held == SOUP else STAY


CATEGORY = category(
    "deliver-or-lay",
    (
        "You hold a soup: {deed}.",
        "Your soup: {deed}.",
        "As to the soup in your hands, {deed}.",
    ),
    Deed(proposals, rule, probe, shortcut),
    horizon=30,
    rubric=Rubric(
        "Of the soup that it holds at the takeover, the cook did this: {deed}.",
        f"Left there is what the cook does not take back for {LEFT_FOR} steps; the other may take "
        "it. Who first lays it down has not delivered it.",
    ),
)
