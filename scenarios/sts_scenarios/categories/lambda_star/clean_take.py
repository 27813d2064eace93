"""clean-take: stand on Good, and until then never be on Evil or next to it.

Asked when Good was in sight in the last two steps and Evil in the last three, neither waiting nor
going straight after Good does it, nor going wherever most reward is to be expected next, and
somebody does it who goes by what was seen. Difficulty is by how many of the steps they need.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sts.suites.types import Scenario
from sts_scenarios.categories.tried import NOT_DONE, decided
from sts_scenarios.category import Controls, Hits, Label, Rubric

from .abreast import Spots, Tracks
from .asking import instruction
from .playing import Past, Prospects, chase_good, moving
from .screening import OPEN, attempt, hits
from .tracks import SIGHT, Track, ago, first

HORIZON = 15
GOOD_SEEN, EVIL_SEEN = 2, 3


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments at which Evil stands between Good and the straight way to it."""
    asked = (ago(every.to_good) <= min(GOOD_SEEN, context)) & (every.to_good > 0)
    asked &= ago(every.to_evil) <= min(EVIL_SEEN, context)
    spots = Spots.of(every, asked, context, horizon)
    met = first(spots.still(every.good) == 0)
    hit = first(spots.still(every.evil) <= SIGHT)
    return hits(spots.where((met == 0) | ((hit > 0) & (hit <= met))), OPEN)


def _greedily(seen: Past) -> int:
    """Return the move of which most reward is to be expected, and else the one towards Good."""
    good, evil = Prospects(seen, seen.good), Prospects(seen, seen.evil)
    gain = good.within(0) + good.within(1) - evil.within(0) - evil.within(1)
    return int((gain - 0.01 * good.apart).argmax())


def _carefully(seen: Past) -> int:
    """Return a move towards where Good will be that hardly comes close to Evil."""
    good = Prospects(seen, seen.good)
    evil = Prospects(seen, seen.evil)
    return int((good.within(0) - good.apart - 10 * evil.within(SIGHT)).argmax())


def _taken_with_care(own: Track, moment: int, context: int, horizon: int) -> Label | None:
    """Return the label of who goes carefully, where neither going straight nor greedily does it."""
    taken, *others = (
        attempt(policy, rule, {})(own, moment, context, horizon)
        for policy in (_carefully, chase_good, _greedily)
    )
    return None if any(others) else taken


def _fault(own: Track, scenario: Scenario) -> str | None:
    for who, away, most in (("Good", own.to_good, GOOD_SEEN), ("Evil", own.to_evil, EVIL_SEEN)):
        if ago(away)[-1] > most:
            return f"{who} was not in sight in the last {most} steps"
    return "the participant is on Good already" if own.to_good[-1] == 0 else None


def rule(own: Track, parameters: Mapping[str, Any]) -> Label:
    """Failure at the first frame within 1 of Evil, success at the first on Good before it."""
    hit, met = int(first(own.to_evil[1:] <= SIGHT)), int(first(own.to_good[1:] == 0))
    if hit and (not met or hit <= met):
        return decided(hit, False)
    return decided(met, True) if met else NOT_DONE


CATEGORY = instruction(
    "clean-take",
    (
        "Get onto Good's cell without ever being on Evil or next to it.",
        "Reach Good's cell, and on the way never be next to Evil or on it.",
        "Stand on Good, and until then never be on Evil or next to it.",
    ),
    find,
    rule,
    _fault,
    horizon=HORIZON,
    confirm=_taken_with_care,
    rubric=Rubric(
        done="After the takeover the participant gets onto Good's cell, and up to that step, this "
        "one included, Evil is never on its cell or one of the eight around it.",
        guideline="The takeover itself does not count. Good may come onto the participant as well. "
        "What comes after that step does not matter.",
    ),
    controls=Controls(probe=moving(_carefully), shortcut=moving(chase_good)),
)
