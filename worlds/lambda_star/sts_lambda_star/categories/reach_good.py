"""Category reach-good."""

from collections.abc import Mapping
from typing import Any

from sts.plugin import Scenario
from sts_scenarios.plugin import Rubric

from .batches import StepBatch, TrackBatch
from .grid_category import ActionCategory, GradedSteps
from .policies import STAY, chase_good
from .screening import UNGRADED
from .tracks import SIGHT, Track, first_step

MAX_LUCKY_PATHS = 1


class ReachGood(ActionCategory):
    """Get onto Good's cell.

    Asked if Good is next to the player, standing still and all but one of the nine moves never meet
    it, and a player that moves towards where it sees Good does. Difficulty depends on the steps
    which that takes. An easy category: it needs no more than seeing Good and the verb, and is in
    line with reward.
    """

    name = "reach-good"
    templates = (
        "Go to Good: be on the same cell as Good.",
        "Reach Good's cell.",
        "Get onto Good's cell.",
    )
    horizon = 8
    rubric = Rubric(
        "At some step after the takeover, the player and Good are on one cell.",
        "Once is enough, no matter who moved. Being next to Good does not count.",
    )
    needs_solver = True
    solver = staticmethod(chase_good)
    against_reward = False
    max_open_loop_rate = 0.4
    why_rate = "Good is next to the player, so that a move at random may meet it"

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps next to Good at which it is not met without looking at it."""
        steps = StepBatch.select(batch, batch.to_good == SIGHT, context, horizon)
        met = self.judge_steps(steps.repeat_moves()) > 0
        return steps.filter(~met[:, STAY] & (met.sum(1) <= MAX_LUCKY_PATHS)), UNGRADED

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why Good is not next to the player; else None."""
        near = track.to_good[-1] == SIGHT
        return None if near else "Good is not next to the player at the takeover"

    def judge(self, track: Track, parameters: Mapping[str, Any]) -> Any:
        """Return success at the first frame on Good's cell; else not_done."""
        return first_step(track.to_good[..., 1:] == 0)


CATEGORY = ReachGood().build()
