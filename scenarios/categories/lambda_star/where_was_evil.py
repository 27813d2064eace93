"""where-was-evil: say in which direction the cell is on which Evil was last in sight.

Asked two to eight steps later, where that cell is straight or exactly diagonally from the
participant or under it, and neither where it was three steps ago nor five. Easy: up to four steps
later, and then not in a corner of the sight; medium: longer, or in a corner; hard: both.
"""

from __future__ import annotations

from typing import Any

from scenarios.category import Category, Controls, Hits, Overlay, Rubric
from sts.suites.types import Scenario
from sts.worlds.lambda_star.state import MOVES

from . import abreast
from .abreast import NONE, Spots, Tracks
from .playing import HIDDEN, STAY, Past, last, saying, toward
from .screening import DIRECTIONS, batched, hits
from .tracks import DOMAIN, Track, ago, between, said

HORIZON = 5
LATEST, EARLIEST = 2, 8
FRESH = 4
BACK = (3, 5)
"""Over so many own moves the way back is not the answer."""


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments at which Evil was last seen elsewhere a while ago."""
    gone = abreast.ago(every.to_evil)
    lately = (gone >= LATEST) & (gone <= min(EARLIEST, context))
    spots = Spots.of(every, lately, context, horizon)

    def answers(spots: Spots) -> Any:
        return every.between(spots.now(every.me), spots.now(every.evil, -spots.now(gone)))

    spots = spots.where(answers(spots) != NONE)
    for steps in BACK:
        back = every.between(spots.now(every.me), spots.now(every.me, -steps))
        spots = spots.where(back != answers(spots))
    steps = spots.now(gone)
    rim = every.diagonal(spots.now(every.me, -steps), spots.now(every.evil, -steps))
    return hits(spots, 1 * (steps > FRESH) + rim, DIRECTIONS, answers(spots))


MOMENTS = batched(find)


def _answer(track: Track, moment: int, context: int) -> str | None:
    frame = moment - (ago(track.to_evil, moment, context) or 0)
    return between(int(track.me[moment]), int(track.evil[frame]), track.size)


def _fault(track: Track, moment: int, context: int) -> str | None:
    since = ago(track.to_evil, moment, context)
    if since is None or not LATEST <= since <= EARLIEST:
        return f"Evil was not last in sight {LATEST} to {EARLIEST} steps ago"
    return None


def fits(scenario: Scenario) -> str | None:
    """Says why there is no such answer at takeover."""
    track, takeover = Track(scenario.recording, scenario.roles[0]), scenario.takeover
    if fault := _fault(track, takeover, takeover):
        return fault
    truth = _answer(track, takeover, takeover)
    if truth is None:
        return "that cell is neither straight nor diagonally from the participant"
    return None if scenario.parameters["answer"] == truth else f"the answer is {truth}"


def _there(seen: Past) -> str:
    cell = last(seen.evil[: seen.asked + 1])[0]
    return MOVES[STAY if cell == HIDDEN else toward(seen, cell)]


def _back(seen: Past) -> str:
    """Returns the way back over the own last moves."""
    return MOVES[toward(seen, seen.me[max(0, seen.asked - BACK[0])])]


CATEGORY = Category(
    name="where-was-evil",
    kind="question",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "In which direction from you is the cell where Evil was when you last saw it? Say stay if "
        "you are on that cell.",
        "Where did you last see Evil? Answer with the direction of that cell from you, or stay if "
        "you are on it.",
        "Which way is the cell on which Evil was last in your sight? If you stand on it, say stay.",
    ),
    candidates=MOMENTS.candidates,
    screen=MOMENTS.screen,
    label=said,
    fits=fits,
    rubric=Rubric(
        done="The first word that the participant says is the direction of the marked cell, on "
        "which Evil was when it was last in the framed square, from where the participant was at "
        "the takeover, or stay where that is the same cell.",
        guideline="Where Evil is now does not matter. Of two ways round the board the shorter is "
        "meant. Silence is not done.",
        overlay=lambda scenario: Overlay((_marked(scenario),), sight=True),
    ),
    controls=Controls(probe=saying(_there), shortcut=saying(_back), answers=MOVES),
)


def _marked(scenario: Scenario) -> int:
    track, takeover = Track(scenario.recording, scenario.roles[0]), scenario.takeover
    return int(track.evil[takeover - (ago(track.to_evil, takeover, takeover) or 0)])
