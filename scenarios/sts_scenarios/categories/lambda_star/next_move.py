"""next-move: say which move Good will make next, after its moves have repeated.

Asked if two whole periods of Good's moves have been seen without a gap, and it continues them.
Difficulty rises by one level if the period is longer than two, and by one if Good was diagonally
next to the player during these periods.
"""

from __future__ import annotations

import numpy as np

from sts.suites.types import Scenario
from sts.worlds.lambda_star.state import MOVES
from sts_scenarios.category import Controls, Hits, Rubric

from .abreast import MomentBatch, TrackBatch
from .asking import build_question
from .playing import HIDDEN, STAY, History, find_period, good_period, make_speaker, moves_between
from .prospects import shortest_periods
from .screening import DIRECTIONS, good_moves_seen, make_hits
from .tracks import SIGHT, Track

EASY_PERIOD = 2


def find_moments(every: TrackBatch, context: int, horizon: int) -> Hits:
    """Find steps at which Good's moves have repeated in sight."""
    near = every.to_good <= SIGHT
    for _ in range(2):  # the shortest period, twice
        near[:, 2:] &= near[:, 1:-1] & near[:, :-2]
    spots = MomentBatch.select(every, near, context, horizon)
    length, follows = shortest_periods(good_moves_seen(spots, context))
    now, then = spots.values_at(every.good), spots.values_at(every.good, 1)
    goes_on = (length > 0) & (follows == every.move_towards(now, then))
    spots, length, follows = spots.filter(goes_on), length[goes_on], follows[goes_on]
    corner = every.is_diagonal(
        spots.window(every.me, -context, 1), spots.window(every.good, -context, 1)
    )
    rim = (corner & (np.arange(-context, 1) >= -2 * length[:, None])).any(1)
    return make_hits(spots, 1 * (length > EASY_PERIOD) + rim, DIRECTIONS, follows)


def _predict_move(seen: History) -> str:
    period = find_period(moves_between(seen.good[: seen.asked_frame + 1], seen.size))
    return MOVES[period[0]] if period else "stay"


def _repeat_last_move(seen: History) -> str:
    """Return Good's last move."""
    move = moves_between(seen.good[: seen.asked_frame + 1], seen.size)[-1]
    return "stay" if move == HIDDEN else MOVES[move]


def _why_invalid(own: Track, scenario: Scenario) -> str | None:
    return None if good_period(own) else "Good's moves were not seen to repeat themselves"


def true_answer(own: Track) -> str:
    """Return Good's next move if it continues its period."""
    return MOVES[(good_period(own) or [STAY])[0]]


CATEGORY = build_question(
    "next-move",
    (
        "Good repeats its moves. In which direction will it move next? Say stay if it will not "
        "move.",
        "Which move will Good make next? Answer with a direction, or stay.",
        "Where will Good go with its next move? Say a direction, or stay if it will remain.",
    ),
    find_moments,
    true_answer,
    fault=_why_invalid,
    rubric=Rubric(
        done="The first word that the participant says is the direction of Good's first move after "
        "the takeover, or stay where Good does not move then.",
        guideline="It does not matter when it is said. A word about a later move is wrong. Silence "
        "is not done.",
    ),
    controls=Controls(
        probe=make_speaker(_predict_move), shortcut=make_speaker(_repeat_last_move), answers=MOVES
    ),
)
