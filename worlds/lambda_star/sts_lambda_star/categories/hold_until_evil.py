"""Category hold-until-evil."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.plugin import Scenario
from sts_scenarios.plugin import Rubric

from .batches import StepBatch, TrackBatch
from .evade_evil import flee
from .grid_category import ActionCategory, GradedSteps
from .policies import HIDDEN, STAY, History
from .tracks import SIGHT, Track, first_step

EARLIEST_STEP, EASY_STEP, LATEST_STEP = 2, 3, 6
STEPS = 3


class HoldUntilEvil(ActionCategory):
    """Stand still until Evil comes, then get away from it within some steps.

    Asked if Evil is out of sight, was seen before and comes with the second to sixth step, where
    neither standing still throughout nor fleeing at once succeeds. Easy: it comes with the second
    or third step, and not to a diagonal neighbour; medium: later, or diagonally; hard: both.
    """

    name = "hold-until-evil"
    templates = (
        "Stand still until Evil is next to you or on your cell. Then get at least two cells away "
        "from it within {steps} steps.",
        "Do not move before Evil comes next to you or onto your cell. After that, get at least two "
        "cells away from it within {steps} steps.",
        "Wait without moving until Evil comes next to you or onto your cell. Then be at least two "
        "cells away from it within {steps} steps.",
    )
    earlier_templates = (
        "Do not move until Evil is next to you or on your cell; then be at least two cells away "
        "from it within {steps} steps.",
        "Wait without a move until Evil comes next to you or onto your cell. Then get at least two "
        "cells away from it within {steps} steps.",
        "Hold still. When Evil is next to you or on your cell, and not before, get at least two "
        "cells away from it within {steps} steps.",
    )
    horizon = 12
    rubric = Rubric(
        "After the takeover, the player does not move until Evil is on its cell or on one of "
        "the eight cells around it. Within the next {steps} steps, the player is at least two "
        "cells away from Evil.",
        "Moving in the step in which Evil comes is moving too early. Once the two are two "
        "cells apart, the task is completed, even if Evil comes back.",
        version="2",
    )
    steps = STEPS
    spare_steps = 1
    shortcut = staticmethod(flee)

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps at which Evil is about to come."""
        hits = (batch.to_evil > SIGHT) & (batch.since_evil <= context)
        steps = StepBatch.select(batch, hits, context, horizon)
        close = steps.distance_if_still(batch.evil) <= SIGHT
        comes = first_step(close)
        in_time = (comes >= EARLIEST_STEP) & (comes <= min(LATEST_STEP, horizon - STEPS))
        steps, close, comes = steps.filter(in_time), close[in_time], comes[in_time]
        caught: Any = np.take_along_axis(close, comes[:, None] + np.arange(STEPS), 1).all(axis=1)
        steps, comes = steps.filter(caught), comes[caught]
        fled, waited = (self.judge_steps(steps.flee_evil(waiting=waits)) for waits in (False, True))
        done = (fled < 0) & (waited > 0)
        steps, comes = steps.filter(done), comes[done]
        rim = batch.is_diagonal(steps.values_at(batch.me), steps.values_at(batch.evil, comes))
        return steps, 1 * (comes > EASY_STEP) + rim

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why Evil cannot be waited for; else None."""
        return None if track.to_evil[-1] > SIGHT else "Evil is already in sight"

    def judge(self, track: Track, parameters: Mapping[str, Any]) -> Any:
        """Return failure for a move before Evil comes, or if it is not left behind in time.

        Return success at the first frame more than one cell from it after it came.
        """
        close = track.to_evil[..., 1:] <= SIGHT
        moved = first_step(track.me[..., 1:] != track.me[..., :-1])
        came = first_step(close)
        left = first_step(~close & np.logical_or.accumulate(close, -1))
        late = came + parameters["steps"]
        verdict = np.where(late <= close.shape[-1], -late, 0)
        verdict = np.where((left > 0) & (left <= late), left, verdict)
        too_early = (moved > 0) & ((came == 0) | (moved <= came))
        return np.where(too_early, -moved, np.where(came, verdict, 0))

    def solver(self, history: History) -> int:
        """Stand still until Evil has come into sight, and then flee."""
        came = any(cell != HIDDEN for cell in history.evil[history.asked_frame + 1 :])
        return flee(history) if came else STAY


CATEGORY = HoldUntilEvil().build()
