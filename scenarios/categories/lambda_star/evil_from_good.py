"""evil-from-good: say in which direction Evil is, seen from Good.

Asked when both are in sight, on different cells, straight or exactly diagonally from each other,
and the answer is not where Evil is from the participant. Easy: nobody else is in sight, the grid's
edge does not come between the two, and neither is in a corner of the sight; medium: one of them is,
or somebody is or the edge does; hard: both.
"""

from __future__ import annotations

from scenarios.category import Category, Controls, Hits, Overlay, Rubric
from sts.suites.types import Scenario
from sts.worlds.lambda_star import torus
from sts.worlds.lambda_star.state import MOVES

from .abreast import NONE, Spots, Tracks
from .playing import STAY, Past, saying, toward
from .screening import DIRECTIONS, batched, hits
from .tracks import (
    DOMAIN,
    SIGHT,
    Track,
    between,
    said,
)

HORIZON = 5
ANSWERS = tuple(move for move in MOVES if move != "stay")


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments with Good and Evil in sight."""
    both = (every.to_good <= SIGHT) & (every.to_evil <= SIGHT)
    spots = Spots.of(every, both, context, horizon)
    answer = every.between(spots.now(every.good), spots.now(every.evil))
    asked = (answer != NONE) & (answer != every.between(*map(spots.now, (every.me, every.evil))))
    spots = spots.where(asked)
    me, good, evil = (spots.now(one) for one in (every.me, every.good, every.evil))
    height, width = every.size
    rows, columns = abs(good // width - evil // width), abs(good % width - evil % width)
    confusing = (2 * rows > height) | (2 * columns > width) | (spots.now(every.crowd()) > 0)
    rim = every.diagonal(me, good) | every.diagonal(me, evil)
    return hits(spots, 1 * confusing + rim, DIRECTIONS, answer[asked])


MOMENTS = batched(find)


def _fault(track: Track, moment: int) -> str | None:
    if track.to_good[moment] > SIGHT or track.to_evil[moment] > SIGHT:
        return "Good and Evil are not both in sight"
    return None


def fits(scenario: Scenario) -> str | None:
    """Says why there is no such answer at takeover."""
    track, takeover = Track(scenario.recording, scenario.roles[0]), scenario.takeover
    if fault := _fault(track, takeover):
        return fault
    truth = between(int(track.good[takeover]), int(track.evil[takeover]), track.size)
    if truth is None:
        return "Evil is neither straight nor diagonally from Good"
    return None if scenario.parameters["answer"] == truth else f"the answer is {truth}"


def _from_good(seen: Past) -> str:
    good, evil = seen.good[seen.asked], seen.evil[seen.asked]
    return MOVES[int(torus.toward(good, evil, *seen.size, torus.BACK))]


def _from_me(seen: Past) -> str:
    """Returns where Evil is from the participant."""
    move = toward(seen, seen.evil[seen.asked])
    return ANSWERS[0] if move == STAY else MOVES[move]


CATEGORY = Category(
    name="evil-from-good",
    kind="question",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "In which direction is Evil, seen from Good?",
        "Seen from Good's cell, which way is Evil? Answer with a direction.",
        "Say in which direction Evil lies from Good.",
    ),
    candidates=MOMENTS.candidates,
    screen=MOMENTS.screen,
    label=said,
    fits=fits,
    rubric=Rubric(
        done="The first word that the participant says is the direction in which Evil was from "
        "Good at the takeover.",
        guideline="Where they were at the takeover counts, whenever it is said. Of two ways round "
        "the board the shorter is meant. Silence is not done.",
        overlay=lambda scenario: Overlay(sight=True),
    ),
    controls=Controls(probe=saying(_from_good), shortcut=saying(_from_me), answers=ANSWERS),
)
