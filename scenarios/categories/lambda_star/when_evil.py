"""when-evil: say how many steps ago Evil was last in sight.

Asked when it was at most eight steps ago, or is now. Easy: up to three steps ago, and then not in a
corner of the sight; medium: longer, or in a corner; hard: both.
"""

from __future__ import annotations

from scenarios.category import Category, Controls, Hits, Overlay, Rubric
from sts.suites.types import Scenario

from . import abreast
from .abreast import Spots, Tracks
from .playing import Past, last, saying
from .screening import COUNTS, batched, hits
from .tracks import DOMAIN, Track, ago, said

HORIZON = 5
MOST, MORE = 8, "more"
ANSWERS = tuple(str(n) for n in range(MOST + 1))
FRESH = 3


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments of which Evil was in sight in the context."""
    gone = abreast.ago(every.to_evil)
    spots = Spots.of(every, gone <= min(MOST, context), context, horizon)
    steps = spots.now(gone)
    rim = every.diagonal(spots.now(every.me, -steps), spots.now(every.evil, -steps))
    return hits(spots, 1 * (steps > FRESH) + rim, COUNTS, steps)


MOMENTS = batched(find)


def _said(steps: int) -> str:
    return str(steps) if steps <= MOST else MORE


def fits(scenario: Scenario) -> str | None:
    """Says why there is no such answer at takeover."""
    track = Track(scenario.recording, scenario.roles[0])
    since = ago(track.to_evil, scenario.takeover, scenario.takeover)
    if since is None:
        return "Evil was never in sight"
    truth = _said(since)
    return None if scenario.parameters["answer"] == truth else f"the answer is {truth}"


def _evil(seen: Past) -> str:
    return _said(last(seen.evil[: seen.asked + 1])[1])


def _good(seen: Past) -> str:
    """Returns how many steps ago Good was last in sight."""
    return _said(last(seen.good[: seen.asked + 1])[1])


CATEGORY = Category(
    name="when-evil",
    kind="question",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "How many steps ago did you last see Evil? Say a number from 0 to 8, or more.",
        "How many steps is it since Evil was last on your cell or next to you? Answer 0 to 8, or "
        "more.",
        "How long ago, in steps, was Evil last in sight? Say 0 to 8, or more.",
    ),
    candidates=MOMENTS.candidates,
    screen=MOMENTS.screen,
    label=said,
    fits=fits,
    rubric=Rubric(
        done="The first word that the participant says is the number of steps between the last "
        "time that Evil was in the framed square around the participant and the takeover, or more "
        "where that is above 8.",
        guideline="0 says that Evil was in it at the takeover. Steps up to the takeover count, "
        "whenever it is said. Silence is not done.",
        overlay=lambda scenario: Overlay(sight=True),
    ),
    controls=Controls(probe=saying(_evil), shortcut=saying(_good), answers=ANSWERS),
)
