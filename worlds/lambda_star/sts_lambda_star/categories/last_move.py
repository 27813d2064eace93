"""Category last-move."""

from typing import Any

from sts.plugin import Scenario
from sts_lambda_star.state import MOVES
from sts_scenarios.plugin import Rubric

from .batches import StepBatch, TrackBatch
from .grid_category import GradedSteps, QuestionCategory
from .policies import History, move_towards, moves_between
from .tracks import SIGHT, Track, show_sight


class LastMove(QuestionCategory):
    """Say which move Good made in the last step.

    Asked if Good is in sight and was one step before, and the answer differs from Good's direction.
    Difficulty rises by one level if the player moved, and by one if Good was diagonally next to it.
    """

    name = "last-move"
    templates = (
        "In which direction did Good just move? Say stay if it did not move.",
        "What was Good's last move? Say a direction, or stay if it did not move.",
        "Which way did Good go in its last move? If it did not move, say stay.",
    )
    earlier_templates = (
        "What was Good's last move? Answer with a direction, or stay.",
        "Which way did Good go with its last move? If it did not move, say stay.",
    )
    rubric = Rubric(
        "The first word that the player says after the takeover is the direction of Good's "
        "move in the last step before the takeover, or stay if Good did not move in it.",
        "Only that step matters, even if the player answers later. The question is how Good "
        "moved, not where it is. Saying nothing counts as not completed.",
        overlay=show_sight,
        version="2",
    )

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps at which Good's last move was seen."""
        near = batch.to_good <= SIGHT
        near[:, 1:] &= near[:, :-1]
        near[:, 0] = False
        steps = StepBatch.select(batch, near, context, horizon)
        me, good = steps.values_at(batch.me), steps.values_at(batch.good)
        steps = steps.filter(self.answer(steps) != batch.move_towards(me, good))
        me, good = (steps.values_between(cells, -1, 1) for cells in (batch.me, batch.good))
        return steps, 1 * (me[:, 0] != me[:, 1]) + batch.is_diagonal(me, good).any(1)

    def answer(self, steps: StepBatch) -> Any:
        """Return int[N], Good's last move."""
        good = steps.values_between(steps.tracks.good, -1, 1)
        return steps.tracks.move_towards(good[:, 0], good[:, 1])

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why Good's last move was not seen; else None."""
        both = len(track.me) > 1 and (track.to_good[-2:] <= SIGHT).all()
        return None if both else "Good was not in sight at the takeover and one step before"

    def solver(self, history: History) -> str:
        """Return Good's last move."""
        return MOVES[moves_between(history.good[: history.asked_frame + 1], history.size)[-1]]

    def shortcut(self, history: History) -> str:
        """Return Good's direction from the player."""
        return MOVES[move_towards(history, history.good[history.asked_frame])]


CATEGORY = LastMove().build()
