"""Category where-is-good."""

from typing import Any

from sts.plugin import Scenario
from sts_lambda_star.state import MOVES
from sts_scenarios.plugin import Rubric

from .batches import StepBatch, TrackBatch
from .grid_category import GradedSteps, QuestionCategory
from .policies import History, move_towards
from .tracks import SIGHT, Track, show_sight


class WhereIsGood(QuestionCategory):
    """Say in which direction Good is at the takeover.

    Asked if Good is in sight. Difficulty rises by one level if anything else is in sight, and by
    one if Good is across the grid's edge.
    """

    name = "where-is-good"
    templates = (
        "Where is Good? Say its direction from you, or stay if you are on its cell.",
        "In which direction is Good from you? Say stay if you are on its cell.",
        "Which way is Good from you? Say a direction, or stay if you are on its cell.",
    )
    earlier_templates = (
        "In which direction is Good from you? Say stay if you are on it.",
        "Where is Good, seen from your cell? Answer with a direction, or stay if you are on it.",
        "Which way is Good right now? If you stand on it, say stay.",
    )
    rubric = Rubric(
        "The first word that the player says after the takeover is the direction from the "
        "player to Good at the takeover, or stay if they were on the same cell.",
        "Only their cells at the takeover matter, even if the player answers later. Good may "
        "be next to the player across the edge of the board. Saying nothing counts as not "
        "completed.",
        overlay=show_sight,
        version="2",
    )

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find every step with Good in sight."""
        steps = StepBatch.select(batch, batch.to_good <= SIGHT, context, horizon)
        me, good = steps.values_at(batch.me), steps.values_at(batch.good)
        crowded = (steps.values_at(batch.to_evil) <= SIGHT) | (
            steps.values_at(batch.others_in_sight) > 0
        )
        width = batch.size[1]
        rows, columns = abs(me // width - good // width), abs(me % width - good % width)
        return steps, 1 * crowded + ((rows > SIGHT) | (columns > SIGHT))

    def answer(self, steps: StepBatch) -> Any:
        """Return int[N], Good's direction from the player, as a move."""
        batch = steps.tracks
        return batch.move_towards(*map(steps.values_at, (batch.me, batch.good)))

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why Good is not seen; else None."""
        return None if track.to_good[-1] <= SIGHT else "Good is not in sight at the takeover"

    def solver(self, history: History) -> str:
        """Return Good's direction from the player."""
        return MOVES[move_towards(history, history.good[history.asked_frame])]


CATEGORY = WhereIsGood().build()
