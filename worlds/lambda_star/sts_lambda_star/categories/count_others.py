"""Category count-others."""

from typing import Any

import numpy as np

from sts_scenarios.plugin import Rubric

from .batches import StepBatch, TrackBatch
from .grid_category import GradedSteps, QuestionCategory
from .policies import History
from .screening import COUNTS
from .tracks import show_sight

MAX_COUNT = 4


class CountOthers(QuestionCategory):
    """Say how many other players are in sight.

    Asked if the number has changed since the last step and is at most four. Easy: none or one;
    medium: two; hard: more.
    """

    name = "count-others"
    templates = (
        "How many other players are on your cell or next to you now? Say a number from 0 to 8.",
        "How many other players do you see now? Say a number from 0 to 8.",
        "Count the other players on your cell and next to you. Say the number, from 0 to 8.",
    )
    earlier_templates = (
        "How many other participants are on your cell or next to you right now? Say a number from "
        "0 to 8.",
        "How many other participants do you see right now? Answer with a number from 0 to 8.",
        "Count the other participants in sight, on your cell or next to you, and say the number.",
    )
    rubric = Rubric(
        "The first word that the player says after the takeover is the number of other players "
        "in the framed square at the takeover.",
        "Good and Evil are not players. If several players share a cell, each of them counts. "
        "What changes after the takeover does not matter. Saying nothing counts as not "
        "completed.",
        overlay=show_sight,
        version="2",
    )
    kinds = COUNTS
    answers = tuple(str(n) for n in range(MAX_COUNT + 1))

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps at which another player has come into sight or left it."""
        crowd = batch.others_in_sight
        changed = np.zeros(crowd.shape, np.bool_)
        changed[:, 1:] = (crowd[:, 1:] != crowd[:, :-1]) & (crowd[:, 1:] <= MAX_COUNT)
        steps = StepBatch.select(batch, changed, context, horizon)
        return steps, np.clip(self.answer(steps) - 1, 0, 2)

    def answer(self, steps: StepBatch) -> Any:
        """Return int[N], how many other players are in sight."""
        return steps.values_at(steps.tracks.others_in_sight)

    def format_answer(self, answer: int) -> str:
        """Return the number."""
        return str(answer)

    def solver(self, history: History) -> str:
        """Return how many other players are in sight."""
        return str(min(len(history.others[history.asked_frame]), 8))

    def shortcut(self, history: History) -> str:
        """Return how many other players were in sight one step before."""
        return str(min(len(history.others[history.asked_frame - 1]), 8))


CATEGORY = CountOthers().build()
