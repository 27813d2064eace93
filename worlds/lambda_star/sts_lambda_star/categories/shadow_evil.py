"""Category shadow-evil."""

from collections.abc import Mapping
from typing import Any

from sts.plugin import Scenario
from sts_lambda_star.agents.local_search import LocalSearch
from sts_scenarios.plugin import Rubric

from .batches import Ints, StepBatch, TrackBatch
from .grid_category import ActionCategory, GradedSteps
from .policies import chase_evil
from .screening import grade_leaving
from .tracks import SIGHT, Track, judge_staying

STEPS = 4


class ShadowEvil(ActionCategory):
    """Stay on Evil or next to it for some steps in a row while it moves.

    Asked if Evil is in sight, moves in at least half of the steps and leaves a player that stands
    still. Easy: it is next to such a player in three of the first four steps; medium: in two; hard:
    in fewer.
    """

    name = "shadow-evil"
    templates = (
        "Follow Evil: be on its cell or next to it for {steps} steps in a row.",
        "Stay with Evil, on its cell or next to it, for {steps} steps in a row.",
        "For {steps} steps in a row, be on Evil's cell or next to it.",
    )
    earlier_templates = (
        "Shadow Evil: be on it or next to it for {steps} steps in a row.",
        "Stay close to Evil, on it or next to it, for {steps} steps in a row.",
        "For {steps} steps in a row, keep next to Evil or on it.",
    )
    horizon = 12
    rubric = Rubric(
        "After the takeover, there are {steps} steps in a row at which the player is on Evil's "
        "cell or on one of the eight cells around it.",
        "The takeover itself does not count. After one step farther away, the count starts "
        "again. What happens after {steps} such steps does not matter.",
        version="2",
    )
    steps = STEPS
    solver = staticmethod(chase_evil)
    shortcut = LocalSearch()

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps at which Evil is in sight and about to leave."""
        return find_leaving(batch, batch.evil, context, horizon)

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why Evil is not seen; else None."""
        return None if track.to_evil[-1] <= SIGHT else "Evil is not in sight at the takeover"

    def judge(self, track: Track, parameters: Mapping[str, Any]) -> Any:
        """Return success at the end of the first run of enough frames on Evil or next to it."""
        return judge_staying(track.to_evil[..., 1:], parameters["steps"])


def find_leaving(batch: TrackBatch, cells: Ints, context: int, horizon: int) -> GradedSteps:
    """Return the steps at which something is in sight and about to leave."""
    steps = StepBatch.select(batch, batch.distance(batch.me, cells) <= SIGHT, context, horizon)
    steps = steps.filter(steps.is_moving(cells))
    distance = steps.distance_if_still(cells)
    free = judge_staying(distance, STEPS) == 0
    return steps.filter(free), grade_leaving(distance[free][:, :STEPS])


CATEGORY = ShadowEvil().build()
