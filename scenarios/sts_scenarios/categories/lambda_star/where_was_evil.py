"""where-was-evil: say in which direction the cell is on which Evil was last in sight.

Asked two to eight steps later, where that cell is straight or exactly diagonally from the
participant or under it, and neither where it was three steps ago nor five. Easy: up to four steps
later, and then not in a corner of the sight; medium: longer, or in a corner; hard: both.
"""

from __future__ import annotations

from typing import Any

from sts.suites.types import Scenario
from sts.worlds.lambda_star.state import MOVES
from sts_scenarios.category import Controls, Hits, Overlay, Rubric

from .abreast import Spots, Tracks
from .asking import question
from .playing import HIDDEN, STAY, Past, last, saying, toward
from .screening import DIRECTIONS, hits
from .tracks import NEVER, NONE, Track, ago, between, until_takeover

LATEST, EARLIEST = 2, 8
FRESH = 4
BACK = (3, 5)
"""Over so many own moves the way back is not the answer."""


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments at which Evil was last seen elsewhere a while ago."""
    gone = ago(every.to_evil)
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


def _there(seen: Past) -> str:
    cell = last(seen.evil[: seen.asked + 1])[0]
    return MOVES[STAY if cell == HIDDEN else toward(seen, cell)]


def _back(seen: Past) -> str:
    """Return the way back over the own last moves."""
    return MOVES[toward(seen, seen.me[max(0, seen.asked - BACK[0])])]


def _fault(own: Track, scenario: Scenario) -> str | None:
    if not LATEST <= ago(own.to_evil)[-1] <= EARLIEST:
        return f"Evil was not last in sight {LATEST} to {EARLIEST} steps ago"
    if between(own.me[-1], _where(own), own.size) == NONE:
        return "that cell is neither straight nor diagonally from the participant"
    return None


def _where(own: Track) -> int:
    """Return the cell on which Evil was last in sight, or where it is if it never was."""
    gone = ago(own.to_evil)[-1]
    return int(own.evil[-1 - (gone if gone < NEVER else 0)])


def truth(own: Track) -> str:
    """Return in which direction that cell is."""
    return MOVES[between(own.me[-1], _where(own), own.size)]


def _marked(scenario: Scenario) -> Overlay:
    return Overlay((_where(until_takeover(scenario)),), sight=True)


CATEGORY = question(
    "where-was-evil",
    (
        "In which direction from you is the cell where Evil was when you last saw it? Say stay if "
        "you are on that cell.",
        "Where did you last see Evil? Answer with the direction of that cell from you, or stay if "
        "you are on it.",
        "Which way is the cell on which Evil was last in your sight? If you stand on it, say stay.",
    ),
    find,
    truth,
    fault=_fault,
    rubric=Rubric(
        done="The first word that the participant says is the direction of the marked cell, on "
        "which Evil was when it was last in the framed square, from where the participant was at "
        "the takeover, or stay where that is the same cell.",
        guideline="Where Evil is now does not matter. Of two ways round the board the shorter is "
        "meant. Silence is not done.",
        overlay=_marked,
    ),
    controls=Controls(probe=saying(_there), shortcut=saying(_back), answers=MOVES),
)
