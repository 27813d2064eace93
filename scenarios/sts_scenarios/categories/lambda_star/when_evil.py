"""when-evil: say how many steps ago Evil was last in sight.

Asked when it was at most eight steps ago, or is now. Easy: up to three steps ago, and then not in a
corner of the sight; medium: longer, or in a corner; hard: both.
"""

from __future__ import annotations

from sts.suites.types import Scenario
from sts_scenarios.category import Controls, Hits, Rubric

from .abreast import Spots, Tracks
from .asking import question
from .playing import Past, last, saying
from .screening import COUNTS, hits
from .tracks import NEVER, Track, ago, show_sight

MOST, MORE = 8, "more"
ANSWERS = tuple(str(n) for n in range(MOST + 1))
FRESH = 3


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments of which Evil was in sight in the context."""
    gone = ago(every.to_evil)
    spots = Spots.of(every, gone <= min(MOST, context), context, horizon)
    steps = spots.now(gone)
    rim = every.diagonal(spots.now(every.me, -steps), spots.now(every.evil, -steps))
    return hits(spots, 1 * (steps > FRESH) + rim, COUNTS, steps)


def _said(steps: int) -> str:
    return str(steps) if steps <= MOST else MORE


def _evil(seen: Past) -> str:
    return _said(last(seen.evil[: seen.asked + 1])[1])


def _good(seen: Past) -> str:
    """Return how many steps ago Good was last in sight."""
    return _said(last(seen.good[: seen.asked + 1])[1])


def _fault(own: Track, scenario: Scenario) -> str | None:
    return "Evil was never in sight" if ago(own.to_evil)[-1] >= NEVER else None


def truth(own: Track) -> str:
    """Return how many steps ago Evil was last in sight."""
    return _said(ago(own.to_evil)[-1])


CATEGORY = question(
    "when-evil",
    (
        "How many steps ago did you last see Evil? Say a number from 0 to 8, or more.",
        "How many steps is it since Evil was last on your cell or next to you? Answer 0 to 8, or "
        "more.",
        "How long ago, in steps, was Evil last in sight? Say 0 to 8, or more.",
    ),
    find,
    truth,
    fault=_fault,
    rubric=Rubric(
        done="The first word that the participant says is the number of steps between the last "
        "time that Evil was in the framed square around the participant and the takeover, or more "
        "where that is above 8.",
        guideline="0 says that Evil was in it at the takeover. Steps up to the takeover count, "
        "whenever it is said. Silence is not done.",
        overlay=show_sight,
    ),
    controls=Controls(probe=saying(_evil), shortcut=saying(_good), answers=ANSWERS),
)
