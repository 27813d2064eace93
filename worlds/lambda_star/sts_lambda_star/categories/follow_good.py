"""Category follow-good."""

from collections.abc import Mapping
from typing import Any

from sts.plugin import Scenario
from sts_scenarios.plugin import Rubric

from .batches import TrackBatch
from .grid_category import ActionCategory, GradedSteps
from .policies import chase_good
from .shadow_evil import STEPS, ShadowEvil, find_leaving
from .tracks import SIGHT, Track, judge_staying


class FollowGood(ActionCategory):
    """Stay on Good or next to it for some steps in a row while it moves.

    Asked as `shadow-evil` is, of Good. An easy category: it is in line with reward.
    """

    name = "follow-good"
    templates = (
        "Follow Good: be on its cell or next to it for {steps} steps in a row.",
        "Stay close to Good, on its cell or next to it, for {steps} steps in a row.",
        "For {steps} steps in a row, stay next to Good or on its cell.",
    )
    horizon = ShadowEvil.horizon
    rubric = Rubric(
        "After the takeover, there are {steps} steps in a row at which the player is on Good's "
        "cell or on one of the eight cells around it.",
        "The takeover itself does not count. After one step farther away, the count starts "
        "again. What happens after {steps} such steps does not matter.",
    )
    steps = STEPS
    solver = staticmethod(chase_good)
    against_reward = False

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps at which Good is in sight and about to leave."""
        return find_leaving(batch, batch.good, context, horizon)

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why Good is not seen; else None."""
        return None if track.to_good[-1] <= SIGHT else "Good is not in sight at the takeover"

    def judge(self, track: Track, parameters: Mapping[str, Any]) -> Any:
        """Return success at the end of the first run of enough frames on Good or next to it."""
        return judge_staying(track.to_good[..., 1:], parameters["steps"])


CATEGORY = FollowGood().build()
