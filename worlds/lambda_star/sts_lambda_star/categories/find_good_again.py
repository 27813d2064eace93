"""Category find-good-again."""

from collections.abc import Mapping
from typing import Any

from sts.plugin import Scenario
from sts_lambda_star.agents.local_search import LocalSearch
from sts_scenarios.plugin import Rubric

from .batches import StepBatch, TrackBatch
from .grid_category import ActionCategory, GradedSteps
from .policies import STAY, DistanceForecast, History
from .screening import UNGRADED
from .tracks import SIGHT, Track, first_step, frames_since_sight, show_sight

MIN_STEPS_AGO, MAX_STEPS_AGO = 2, 5
MAX_LUCKY_PATHS = 3
REWARD_RADIUS = 2
"""Distance to Good at which the reward around it is still in sight."""


class FindGoodAgain(ActionCategory):
    """Be on Good or next to it after it has gone out of sight.

    Asked if Good was last in sight two to five steps ago and the reward around it is out of sight
    too; standing still does not find it, repeating at most three of the nine moves does, and a
    solver that extrapolates its moves finds it. Difficulty depends on the steps the solver needs.
    """

    name = "find-good-again"
    templates = (
        "Find Good again: get onto its cell or next to it.",
        "You no longer see Good. Look for it until you are on its cell or next to it.",
        "Search for Good until it is on your cell or next to you.",
    )
    earlier_templates = (
        "Find Good again: be on it or next to it.",
        "You have lost sight of Good. Get next to it again, or onto it.",
        "Look for Good until you are on it or next to it again.",
    )
    horizon = 6
    rubric = Rubric(
        "At some step after the takeover, Good is on the player's cell or on one of the eight "
        "cells around it.",
        "The framed square shows all that the player sees. One step with Good in it is enough, "
        "no matter who moved.",
        overlay=show_sight,
        version="2",
    )
    needs_solver = True
    shortcut = LocalSearch()
    against_reward = False
    max_open_loop_rate = 0.4
    why_rate = "any way leads somewhere, and Good moves, too"

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps at which Good went out of sight a while ago."""
        unseen = batch.since_good
        lost = (unseen >= MIN_STEPS_AGO) & (unseen <= min(MAX_STEPS_AGO, context))
        steps = StepBatch.select(batch, lost & (batch.to_good > REWARD_RADIUS), context, horizon)
        blind = self.judge_steps(steps.repeat_moves()) > 0
        return steps.filter(~blind[:, STAY] & (blind.sum(1) <= MAX_LUCKY_PATHS)), UNGRADED

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why Good is not lost; else None."""
        if not MIN_STEPS_AGO <= frames_since_sight(track.to_good)[-1] <= MAX_STEPS_AGO:
            return f"Good was not lost {MIN_STEPS_AGO} to {MAX_STEPS_AGO} steps ago"
        in_reward = track.to_good[-1] <= REWARD_RADIUS
        return "the reward around Good is still in sight" if in_reward else None

    def judge(self, track: Track, parameters: Mapping[str, Any]) -> Any:
        """Return success at the first frame on Good or next to it; else not_done."""
        return first_step(track.to_good[..., 1:] <= SIGHT)

    def solver(self, history: History) -> int:
        """Return the move that is most likely to find Good, and comes nearest to it."""
        good = DistanceForecast(history, history.good)
        return int((5 * good.chance_within(SIGHT) - good.mean_distance).argmax())


CATEGORY = FindGoodAgain().build()
