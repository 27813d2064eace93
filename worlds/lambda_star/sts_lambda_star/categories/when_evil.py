"""Category when-evil."""

from typing import Any

from sts.plugin import Scenario
from sts_scenarios.plugin import Rubric

from .batches import StepBatch, TrackBatch
from .grid_category import GradedSteps, QuestionCategory
from .policies import History, find_last_sighting
from .screening import COUNTS
from .tracks import NEVER, Track, frames_since_sight, show_sight

MAX_STEPS, MORE = 8, "more"
EASY_STEPS = 3


class WhenEvil(QuestionCategory):
    """Say how many steps ago Evil was last in sight.

    Asked if it is in sight or was at most eight steps ago. Difficulty rises by one level if that is
    more than three steps ago, and by one if Evil was diagonally next to the player.
    """

    name = "when-evil"
    templates = (
        "How many steps ago did you last see Evil? Say a number from 0 to 8, or more.",
        "How long ago did you last see Evil? Say the number of steps, from 0 to 8, or more.",
        "When did you last see Evil? Say how many steps ago, from 0 to 8, or more.",
    )
    earlier_templates = (
        "How many steps is it since Evil was last on your cell or next to you? Answer 0 to 8, or "
        "more.",
        "How long ago, in steps, was Evil last in sight? Say 0 to 8, or more.",
    )
    rubric = Rubric(
        "The first word that the player says after the takeover is the number of steps from "
        "the last time that Evil was in the framed square to the takeover, or more if there "
        "are nine or more steps.",
        "0 means that Evil was in the square at the takeover. Steps after the takeover do not "
        "count, even if the player answers later. Saying nothing counts as not completed.",
        overlay=show_sight,
        version="2",
    )
    kinds = COUNTS
    answers = tuple(str(n) for n in range(MAX_STEPS + 1))

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps at which Evil has been in sight in the context."""
        seen = batch.since_evil <= min(MAX_STEPS, context)
        steps = StepBatch.select(batch, seen, context, horizon)
        ago = self.answer(steps)
        rim = batch.is_diagonal(steps.values_at(batch.me, -ago), steps.values_at(batch.evil, -ago))
        return steps, 1 * (ago > EASY_STEPS) + rim

    def answer(self, steps: StepBatch) -> Any:
        """Return int[N], how many steps ago Evil was last in sight."""
        return steps.values_at(steps.tracks.since_evil)

    def format_answer(self, answer: int) -> str:
        """Return the number of steps, or "more"."""
        return str(answer) if answer <= MAX_STEPS else MORE

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return that Evil was never seen; else None."""
        return "Evil was never in sight" if frames_since_sight(track.to_evil)[-1] >= NEVER else None

    def solver(self, history: History) -> str:
        """Return how many steps ago Evil was last in sight."""
        return self.format_answer(find_last_sighting(history.evil[: history.asked_frame + 1])[1])

    def shortcut(self, history: History) -> str:
        """Return how many steps ago Good was last in sight."""
        return self.format_answer(find_last_sighting(history.good[: history.asked_frame + 1])[1])


CATEGORY = WhenEvil().build()
