"""evil-from-good: say in which direction Evil is, seen from Good.

Asked when both are in sight, on different cells, straight or exactly diagonally from each other,
and the answer is not where Evil is from the participant. Easy: nobody else is in sight, the grid's
edge does not come between the two, and neither is in a corner of the sight; medium: one of them is,
or somebody is or the edge does; hard: both.
"""

from __future__ import annotations

from sts.suites.types import Scenario
from sts.worlds.lambda_star import torus
from sts.worlds.lambda_star.state import MOVES
from sts_scenarios.category import Controls, Hits, Rubric

from .abreast import MomentBatch, TrackBatch
from .asking import build_question
from .playing import STAY, History, make_speaker, move_towards
from .screening import DIRECTIONS, make_hits
from .tracks import NONE, SIGHT, Track, directions, show_sight

ANSWERS = tuple(move for move in MOVES if move != "stay")


def find_moments(every: TrackBatch, context: int, horizon: int) -> Hits:
    """Find moments with Good and Evil in sight."""
    both = (every.to_good <= SIGHT) & (every.to_evil <= SIGHT)
    spots = MomentBatch.of(every, both, context, horizon)
    answer = every.between(spots.now(every.good), spots.now(every.evil))
    asked = (answer != NONE) & (answer != every.between(*map(spots.now, (every.me, every.evil))))
    spots = spots.where(asked)
    me, good, evil = (spots.now(one) for one in (every.me, every.good, every.evil))
    height, width = every.size
    rows, columns = abs(good // width - evil // width), abs(good % width - evil % width)
    confusing = (2 * rows > height) | (2 * columns > width) | (spots.now(every.crowd()) > 0)
    rim = every.diagonal(me, good) | every.diagonal(me, evil)
    return make_hits(spots, 1 * confusing + rim, DIRECTIONS, answer[asked])


def _direction_from_good(seen: History) -> str:
    good, evil = seen.good[seen.asked], seen.evil[seen.asked]
    return MOVES[int(torus.toward(good, evil, *seen.size, torus.BACK))]


def _direction_from_self(seen: History) -> str:
    """Return where Evil is from the participant."""
    move = move_towards(seen, seen.evil[seen.asked])
    return ANSWERS[0] if move == STAY else MOVES[move]


def _why_invalid(own: Track, scenario: Scenario) -> str | None:
    if own.to_good[-1] > SIGHT or own.to_evil[-1] > SIGHT:
        return "Good and Evil are not both in sight"
    apart = directions(own.good[-1], own.evil[-1], own.size)
    return "Evil is neither straight nor diagonally from Good" if apart == NONE else None


def true_answer(own: Track) -> str:
    """Return in which direction Evil is from Good."""
    return MOVES[directions(own.good[-1], own.evil[-1], own.size)]


CATEGORY = build_question(
    "evil-from-good",
    (
        "In which direction is Evil, seen from Good?",
        "Seen from Good's cell, which way is Evil? Answer with a direction.",
        "Say in which direction Evil lies from Good.",
    ),
    find_moments,
    true_answer,
    fault=_why_invalid,
    rubric=Rubric(
        done="The first word that the participant says is the direction in which Evil was from "
        "Good at the takeover.",
        guideline="Where they were at the takeover counts, whenever it is said. Of two ways round "
        "the board the shorter is meant. Silence is not done.",
        overlay=show_sight,
    ),
    controls=Controls(
        probe=make_speaker(_direction_from_good),
        shortcut=make_speaker(_direction_from_self),
        answers=ANSWERS,
    ),
)
