"""Category follow-mate."""

from collections.abc import Mapping
from typing import Any

from sts_scenarios.plugin import Rubric

from .batches import Ints, StepBatch
from .grid_category import GradedSteps
from .screening import grade_leaving
from .teammates import ReplayedMateCategory, avoids_good, mark_teammate
from .tracks import Track, judge_staying

STEPS, DIFFICULTY_STEPS = 5, 4


class FollowMate(ReplayedMateCategory):
    """Stay with a teammate, who repeats the recording, for some steps in a row.

    Asked if the teammate is in sight and was the only one in the last steps, moves in two of three
    steps, is rarely near Good (so that chasing Good is not following), and leaves a player that
    stands still. Easy: it is next to such a player in three of the first four steps; medium: in
    two; hard: in fewer.
    """

    name = "follow-mate"
    templates = (
        "Follow {mate}: be on its cell or next to it for {steps} steps in a row.",
        "Stay with {mate} for {steps} steps in a row, on the same cell or next to it.",
        "For {steps} steps in a row, be on the same cell as {mate} or next to it.",
    )
    earlier_templates = (
        "Follow {mate}: be on the same cell or next to it for {steps} steps in a row.",
        "Stay close to {mate}, on the same cell or next to it, for {steps} steps in a row.",
        "For {steps} steps in a row, keep next to {mate} or on the same cell.",
    )
    horizon = 12
    rubric = Rubric(
        "After the takeover, there are {steps} steps in a row at which the player is on the "
        "same cell as {mate} or on one of the eight cells around it.",
        "The marked cell shows where {mate} was at the takeover. The takeover itself does not "
        "count. After one step farther away, the count starts again.",
        overlay=mark_teammate,
        version="2",
    )
    steps = STEPS

    def find_near(self, steps: StepBatch, cells: Ints) -> GradedSteps:
        """Find steps at which the teammate is about to leave, and not towards Good."""
        path = steps.values_between(cells, 0, steps.horizon + 1)
        moves = 3 * (path[:, 1:] != path[:, :-1]).mean(1) >= 2
        steps = steps.filter(moves & avoids_good(steps, cells))
        distance = steps.distance_if_still(cells)
        free = judge_staying(distance, STEPS) == 0
        return steps.filter(free), grade_leaving(distance[free][:, :DIFFICULTY_STEPS])

    def judge(self, track: Track, parameters: Mapping[str, Any]) -> Any:
        """Return success at the end of the first run of enough frames next to the teammate."""
        return judge_staying(track.distance_to(parameters["target"])[1:], parameters["steps"])


CATEGORY = FollowMate().build()
