"""Category next-move."""

from typing import Any

import numpy as np

from sts.plugin import Scenario
from sts_lambda_star.state import MOVES
from sts_scenarios.plugin import Rubric

from .batches import StepBatch, TrackBatch
from .grid_category import GradedSteps, QuestionCategory
from .motion_prediction import shortest_periods
from .policies import HIDDEN, History, find_period, good_period, moves_between
from .screening import good_moves_seen
from .tracks import SIGHT, Track

EASY_PERIOD = 2


class NextMove(QuestionCategory):
    """Say which move Good will make next, after its moves have repeated.

    Asked if two whole periods of Good's moves have been seen without a gap, and it continues them.
    Difficulty rises by one level if the period is longer than two, and by one if Good was
    diagonally next to the player during these periods.
    """

    name = "next-move"
    templates = (
        "Good repeats its moves. In which direction will it move next? Say stay if it will not "
        "move.",
        "Which move will Good make next? Say a direction, or stay if it will not move.",
        "What will Good's next move be? Say a direction, or stay if it will not move.",
    )
    earlier_templates = (
        "Which move will Good make next? Answer with a direction, or stay.",
        "Where will Good go with its next move? Say a direction, or stay if it will remain.",
    )
    rubric = Rubric(
        "The first word that the player says after the takeover is the direction of Good's "
        "first move after the takeover, or stay if Good does not move in that step.",
        "Only that step matters, even if the player answers later. Saying nothing counts as "
        "not completed.",
        version="2",
    )

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps at which Good's moves have repeated in sight."""
        near = batch.to_good <= SIGHT
        for _ in range(2):  # two periods of the shortest length
            near[:, 2:] &= near[:, 1:-1] & near[:, :-2]
        steps = StepBatch.select(batch, near, context, horizon)
        length, follows = shortest_periods(good_moves_seen(steps))
        now, then = steps.values_at(batch.good), steps.values_at(batch.good, 1)
        goes_on = (length > 0) & (follows == batch.move_towards(now, then))
        steps, length = steps.filter(goes_on), length[goes_on]
        corner = batch.is_diagonal(
            steps.values_between(batch.me, -context, 1),
            steps.values_between(batch.good, -context, 1),
        )
        rim = (corner & (np.arange(-context, 1) >= -2 * length[:, None])).any(1)
        return steps, 1 * (length > EASY_PERIOD) + rim

    def answer(self, steps: StepBatch) -> Any:
        """Return int[N], Good's next move if it continues its period."""
        return shortest_periods(good_moves_seen(steps))[1]

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why the next move is not known; else None."""
        return None if good_period(track) else "Good's moves have not been seen to repeat"

    def solver(self, history: History) -> str:
        """Return the move that continues the period of Good's moves."""
        period = find_period(moves_between(history.good[: history.asked_frame + 1], history.size))
        return MOVES[period[0]] if period else "stay"

    def shortcut(self, history: History) -> str:
        """Return Good's last move."""
        move = moves_between(history.good[: history.asked_frame + 1], history.size)[-1]
        return "stay" if move == HIDDEN else MOVES[move]


CATEGORY = NextMove().build()
