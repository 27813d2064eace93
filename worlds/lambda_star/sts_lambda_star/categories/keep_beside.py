"""Category keep-beside."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.plugin import Scenario
from sts_lambda_star.agents.local_search import LocalSearch
from sts_scenarios.plugin import Rubric

from .batches import StepBatch, TrackBatch
from .grid_category import ActionCategory, GradedSteps
from .policies import DistanceForecast, History
from .tracks import Track, judge_no_miss

MAX_DISTANCE = 2


class KeepBeside(ActionCategory):
    """Stay one or two cells away from Good until the end, never on it.

    Asked next to Good, if chasing it ends on it, standing still loses or meets it, and a solver
    that extrapolates its moves succeeds. Easy: Good stands still in at least half of the steps;
    medium: in at least a quarter; hard: in fewer.
    """

    name = "keep-beside"
    templates = (
        "Stay near Good until the end: never more than two cells away from it, and never on its "
        "cell.",
        "Until the end, stay within two cells of Good, but never be on its cell.",
        "Until the end, be one or two cells away from Good. Never be on the same cell.",
    )
    earlier_templates = (
        "Keep beside Good until the end: never on its cell, and never more than two cells away "
        "from it.",
        "Accompany Good to the end, one or two cells away from it and never on the same cell.",
    )
    horizon = 8
    rubric = Rubric(
        "At every step after the takeover, the player is one or two cells away from Good.",
        "A diagonal step counts as one cell, also across the edges of the board. If the two "
        "are on the same cell, it is a failure, no matter who moved.",
        version="2",
    )
    needs_solver = True
    shortcut = LocalSearch()

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps next to Good at which neither chasing it nor standing still succeeds."""
        steps = StepBatch.select(batch, batch.to_good == 1, context, horizon)
        steps = steps.filter(self.judge_steps(steps.stand_still()) < 0)
        steps = steps.filter((steps.chase_good() == steps.values_after(batch.good)).any(1))
        good = steps.values_between(batch.good, 0, horizon + 1)
        stays = (good[:, 1:] == good[:, :-1]).mean(1)
        return steps, np.where(stays >= 0.5, 0, np.where(stays >= 0.25, 1, 2))

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why the player cannot stay near Good; else None."""
        return None if track.to_good[-1] == 1 else "the player is not next to Good"

    def judge(self, track: Track, parameters: Mapping[str, Any]) -> Any:
        """Return failure at the first frame on Good or too far from it, or success at the end."""
        distance = track.to_good[..., 1:]
        return judge_no_miss((distance == 0) | (distance > MAX_DISTANCE))

    def solver(self, history: History) -> int:
        """Return a move that is unlikely to be on Good or to lose it, and preferably next to it."""
        good = DistanceForecast(history, history.good)
        near = good.chance_within(MAX_DISTANCE) - good.chance_within(0)
        return int((10 * near - abs(good.mean_distance - 1)).argmax())


CATEGORY = KeepBeside().build()
