"""next-move: say which move Good will make next, after its moves have repeated themselves.

Asked when two whole periods of its moves have been seen, all of them, and it goes on so. Easy: it
repeats two moves, and was in no corner of the sight meanwhile; medium: more, or it was; hard: both.
"""

from __future__ import annotations

import numpy as np

from scenarios.category import Category, Controls, Hits, Rubric
from sts.suites.types import Scenario
from sts.worlds.lambda_star.state import MOVES

from .abreast import Spots, Tracks, period
from .playing import HIDDEN, Past, repeated, rhythm, saying, shifts
from .screening import DIRECTIONS, batched, hits, seen_moves
from .tracks import DOMAIN, SIGHT, Track, said

HORIZON = 5
SHORT = 2


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments at which Good's moves have repeated themselves in sight."""
    near = every.to_good <= SIGHT
    for _ in range(2):  # the shortest period, twice
        near[:, 2:] &= near[:, 1:-1] & near[:, :-2]
    spots = Spots.of(every, near, context, horizon)
    length, follows = period(seen_moves(spots, context))
    now, then = spots.now(every.good), spots.now(every.good, 1)
    goes_on = (length > 0) & (follows == every.toward(now, then))
    spots, length, follows = spots.where(goes_on), length[goes_on], follows[goes_on]
    corner = every.diagonal(spots.span(every.me, -context, 1), spots.span(every.good, -context, 1))
    rim = (corner & (np.arange(-context, 1) >= -2 * length[:, None])).any(1)
    return hits(spots, 1 * (length > SHORT) + rim, DIRECTIONS, follows)


MOMENTS = batched(find)


def fits(scenario: Scenario) -> str | None:
    """Says why the next move cannot be told, or is another."""
    track = Track(scenario.recording, scenario.roles[0])
    period = rhythm(track, scenario.takeover, scenario.takeover)
    if period is None:
        return "Good's moves were not seen to repeat themselves"
    truth = MOVES[period[0]]
    return None if scenario.parameters["answer"] == truth else f"the answer is {truth}"


def _follows(seen: Past) -> str:
    period = repeated(shifts(seen.good[: seen.asked + 1], seen.size))
    return MOVES[period[0]] if period else "stay"


def _again(seen: Past) -> str:
    """Returns Good's last move."""
    move = shifts(seen.good[: seen.asked + 1], seen.size)[-1]
    return "stay" if move == HIDDEN else MOVES[move]


CATEGORY = Category(
    name="next-move",
    kind="question",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Good repeats its moves. In which direction will it move next? Say stay if it will not "
        "move.",
        "Which move will Good make next? Answer with a direction, or stay.",
        "Where will Good go with its next move? Say a direction, or stay if it will remain.",
    ),
    candidates=MOMENTS.candidates,
    screen=MOMENTS.screen,
    label=said,
    fits=fits,
    rubric=Rubric(
        done="The first word that the participant says is the direction of Good's first move after "
        "the takeover, or stay where Good does not move then.",
        guideline="It does not matter when it is said. A word about a later move is wrong. Silence "
        "is not done.",
    ),
    controls=Controls(probe=saying(_follows), shortcut=saying(_again), answers=MOVES),
)
