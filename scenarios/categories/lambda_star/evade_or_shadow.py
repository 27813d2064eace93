"""evade-or-shadow: a pair, to keep away from Evil or to keep by it, from one and the same moment.

Asked when Evil was in sight in the last two steps, is at most two cells away and moves in at least
half of the steps; waiting does neither, at most three of the nine ways that can be held without
looking keep away, and somebody does either who goes by what was seen. Difficulty as `evade-evil`'s.
"""

from __future__ import annotations

from scenarios.category import Category, Controls, Hits, Rubric
from sts.suites.types import Scenario

from . import abreast, evade_evil, shadow_evil
from .abreast import Spots, Tracks
from .either import Deed, does_both, fill_deed, label_of, listening, pairs, words_of
from .evade_evil import away, evades, haste, sparing
from .playing import last, moving, toward
from .screening import batched
from .tracks import DOMAIN, SIGHT, Track, ago

HORIZON = 12
STEPS = shadow_evil.STEPS
RECENT, AWAY, SPARED = 2, 2, 3
DEEDS = {
    "evade": Deed("never be on it or next to it until the end", evade_evil.label, away, {}),
    "shadow": Deed(
        f"be on it or next to it for {STEPS} steps in a row",
        shadow_evil.label,
        lambda seen: toward(seen, last(seen.evil)[0]),
        {"steps": STEPS},
    ),
}


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find both halves at moments with Evil at hand."""
    lately = abreast.ago(every.to_evil) <= min(RECENT, context)
    near = (every.to_evil > 0) & (every.to_evil <= AWAY)
    spots = Spots.of(every, lately & near, context, horizon)
    spots = spots.where(spots.moves(every.evil))
    close = spots.still(every.evil) <= SIGHT
    spots = spots.where(close.any(1) & ~abreast.in_a_row(close, STEPS))
    spots = spots.where(sparing(spots) <= SPARED)
    spots = spots.where(evades(spots, context))
    return pairs(spots, haste(spots), DEEDS)


MOMENTS = batched(find, fill_deed(DEEDS), confirm=does_both(DEEDS))


def _fault(track: Track, moment: int, context: int) -> str | None:
    if not 0 < track.to_evil[moment] <= AWAY:
        return f"Evil is not one to {AWAY} cells away"
    seen = ago(track.to_evil, moment, context)
    lately = seen is not None and seen <= RECENT
    return None if lately else f"Evil was not in sight in the last {RECENT} steps"


def fits(scenario: Scenario) -> str | None:
    """Says why neither can be asked at takeover."""
    if scenario.parameters["asked"] not in DEEDS:
        return "there is no such thing to ask for"
    track = Track(scenario.recording, scenario.roles[0])
    return _fault(track, scenario.takeover, scenario.takeover)


CATEGORY = Category(
    name="evade-or-shadow",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Here is what to do about Evil: {deed}.",
        "Evil is at hand: {deed}.",
        "This is about Evil: {deed}.",
    ),
    candidates=MOMENTS.candidates,
    screen=MOMENTS.screen,
    label=label_of(DEEDS),
    fits=fits,
    words=words_of(DEEDS),
    rubric=Rubric(
        done="After the takeover the participant did this about Evil: {deed}.",
        guideline="The takeover itself does not count. Next to it is one of the eight cells around "
        "it, across the edges of the board. In a row is one step directly after the other.",
    ),
    controls=Controls(
        probe=moving(listening(DEEDS)),
        shortcut=moving(DEEDS["shadow"].policy),
        against_reward=True,
    ),
)
