"""evade-or-shadow: a pair, to keep away from Evil or to keep by it, from one and the same moment.

Asked when Evil was in sight in the last two steps, is at most two cells away and moves in at least
half of the steps; waiting does neither, at most three of the nine ways that can be held without
looking keep away, and somebody does either who goes by what was seen. Difficulty as `evade-evil`'s.
"""

from __future__ import annotations

from typing import Any

from sts.suites.types import Scenario
from sts_scenarios.category import Rubric

from . import evade_evil, shadow_evil
from .abreast import Spots, Tracks
from .asking import Deed, pair
from .evade_evil import away, evades, haste, sparing, unseen
from .playing import chase_evil
from .tracks import SIGHT, Track, ago, in_a_row

HORIZON = 12
STEPS = shadow_evil.STEPS
AWAY, SPARED = 2, 3
DEEDS = {
    "evade": Deed("never be on it or next to it until the end", evade_evil.rule, away, {}),
    "shadow": Deed(
        f"be on it or next to it for {STEPS} steps in a row",
        shadow_evil.rule,
        chase_evil,
        {"steps": STEPS},
    ),
}


def find(every: Tracks, context: int, horizon: int) -> tuple[Spots, Any]:
    """Find both halves at moments with Evil at hand."""
    lately = ago(every.to_evil) <= min(evade_evil.RECENT, context)
    near = (every.to_evil > 0) & (every.to_evil <= AWAY)
    spots = Spots.of(every, lately & near, context, horizon)
    spots = spots.where(spots.moves(every.evil))
    close = spots.still(every.evil) <= SIGHT
    spots = spots.where(close.any(1) & ~in_a_row(close, STEPS).any(1))
    spots = spots.where(sparing(spots) <= SPARED)
    spots = spots.where(evades(spots, context))
    return spots, haste(spots)


def _fault(own: Track, scenario: Scenario) -> str | None:
    if scenario.parameters["asked"] not in DEEDS:
        return "there is no such thing to ask for"
    if not 0 < own.to_evil[-1] <= AWAY:
        return f"Evil is not one to {AWAY} cells away"
    return unseen(own)


CATEGORY = pair(
    "evade-or-shadow",
    (
        "Here is what to do about Evil: {deed}.",
        "Evil is at hand: {deed}.",
        "This is about Evil: {deed}.",
    ),
    find,
    DEEDS,
    _fault,
    horizon=HORIZON,
    rubric=Rubric(
        done="After the takeover the participant did this about Evil: {deed}.",
        guideline="The takeover itself does not count. Next to it is one of the eight cells around "
        "it, across the edges of the board. In a row is one step directly after the other.",
    ),
    shortcut=DEEDS["shadow"].policy,
)
