"""find-good-again: be on Good or next to it, which has gone out of sight.

Asked when Good was last in sight two to five steps ago and the reward around it is not in sight
either, whoever waits does not see it again, at
most three of the nine ways that can be held without looking lead to it, and somebody finds it who
goes by what it did. Difficulty is by how many of the steps they need.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sts.suites.types import Scenario
from sts.worlds.lambda_star.agents.local_search import LocalSearch
from sts_scenarios.category import Controls, Hits, Label, Rubric

from .abreast import Spots, Tracks
from .asking import instruction
from .playing import STAY, Past, Prospects, moving
from .screening import OPEN, attempt, hits
from .tracks import SIGHT, Track, ago, once, show_sight

HORIZON = 6
LATEST, EARLIEST = 2, 5
SPARED = 3
SHINES = 2
"""So far away Good is out of sight, and the reward around it is not."""


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments at which Good was lost a while ago."""
    gone = ago(every.to_good)
    lost = (gone >= LATEST) & (gone <= min(EARLIEST, context))
    spots = Spots.of(every, lost & (every.to_good > SHINES), context, horizon)
    blind = (every.apart(spots.ways(), spots.ahead(every.good)[:, None]) <= SIGHT).any(2)
    free = ~blind[:, STAY] & (blind.sum(1) <= SPARED)
    return hits(spots.where(free), OPEN)


def _seek(seen: Past) -> int:
    good = Prospects(seen, seen.good)
    return int((5 * good.within(SIGHT) - good.apart).argmax())


def _fault(own: Track, scenario: Scenario) -> str | None:
    if not LATEST <= ago(own.to_good)[-1] <= EARLIEST:
        return f"Good was not lost {LATEST} to {EARLIEST} steps ago"
    return "what it gives is still in sight" if own.to_good[-1] <= SHINES else None


def rule(own: Track, parameters: Mapping[str, Any]) -> Label:
    """Success at the first frame after takeover within 1 of Good; else not_done."""
    return once(own.to_good[1:] <= SIGHT)


CATEGORY = instruction(
    "find-good-again",
    (
        "Find Good again: be on it or next to it.",
        "You have lost sight of Good. Get next to it again, or onto it.",
        "Look for Good until you are on it or next to it again.",
    ),
    find,
    rule,
    _fault,
    horizon=HORIZON,
    confirm=attempt(_seek, rule, {}),
    rubric=Rubric(
        done="After the takeover Good is on the participant's cell or one of the eight around it.",
        guideline="The framed square is all that the participant sees. One step with Good in it is "
        "enough, and it does not matter who came to whom.",
        overlay=show_sight,
    ),
    controls=Controls(
        probe=moving(_seek),
        shortcut=LocalSearch(),
        open_loop=0.4,
        why="any way leads somewhere, and Good moves, too",
    ),
)
