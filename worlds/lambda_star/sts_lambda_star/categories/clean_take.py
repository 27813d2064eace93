"""Category clean-take."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.plugin import Scenario
from sts_scenarios.plugin import Label, Rubric

from .batches import StepBatch, TrackBatch
from .grid_category import ActionCategory, GradedSteps, Start
from .policies import DistanceForecast, History, chase_good
from .screening import UNGRADED
from .tracks import SIGHT, Track, first_step, frames_since_sight

GOOD_SEEN_WITHIN, EVIL_SEEN_WITHIN = 2, 3


class CleanTake(ActionCategory):
    """Stand on Good, without being on Evil or next to it before.

    Asked if Good was in sight in the last two steps and Evil in the last three; waiting, going
    straight after Good and going where most reward is expected all fail; and a solver that sees
    only what a player sees succeeds. Difficulty depends on the steps the solver needs.
    """

    name = "clean-take"
    templates = (
        "Go onto Good's cell. On the way, never be next to Evil or on its cell.",
        "Get to Good's cell, and never be next to Evil or on its cell before you are there.",
        "Reach Good's cell without ever being next to Evil or on its cell.",
    )
    earlier_templates = (
        "Get onto Good's cell without ever being on Evil or next to it.",
        "Reach Good's cell, and on the way never be next to Evil or on it.",
        "Stand on Good, and until then never be on Evil or next to it.",
    )
    horizon = 15
    rubric = Rubric(
        "After the takeover, the player and Good are on the same cell. Until then, Evil is "
        "never on the player's cell or on one of the eight cells around it, not even in that "
        "last step.",
        "The takeover itself does not count. It does not matter whether the player or Good "
        "moved. What happens after they meet does not matter.",
        version="2",
    )
    needs_solver = True
    shortcut = staticmethod(chase_good)
    against_reward = False

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps from which standing still does not reach Good without Evil."""
        hits = (batch.since_good <= min(GOOD_SEEN_WITHIN, context)) & (batch.to_good > 0)
        hits &= batch.since_evil <= min(EVIL_SEEN_WITHIN, context)
        steps = StepBatch.select(batch, hits, context, horizon)
        return steps.filter(self.judge_steps(steps.stand_still()) <= 0), UNGRADED

    def confirm(self, start: Start) -> Label | None:
        """Return the solver's label if neither going straight for Good nor for reward succeeds."""
        careful = super().confirm(start)
        greedy = (chase_good, _maximise_reward)
        if careful is None or any(self.try_policy(policy, start, {}) for policy in greedy):
            return None
        return careful

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why the positions are not known, or the player is on Good; else None."""
        for name, distance, steps in (
            ("Good", track.to_good, GOOD_SEEN_WITHIN),
            ("Evil", track.to_evil, EVIL_SEEN_WITHIN),
        ):
            if frames_since_sight(distance)[-1] > steps:
                return f"{name} was not in sight in the last {steps} steps"
        return "the player is already on Good" if track.to_good[-1] == 0 else None

    def judge(self, track: Track, parameters: Mapping[str, Any]) -> Any:
        """Return failure at the first frame next to Evil, or success if Good is reached before."""
        hit = first_step(track.to_evil[..., 1:] <= SIGHT)
        met = first_step(track.to_good[..., 1:] == 0)
        return np.where((hit > 0) & ((met == 0) | (hit <= met)), -hit, met)

    def solver(self, history: History) -> int:
        """Return a move towards Good's expected cell that is unlikely to come close to Evil."""
        good = DistanceForecast(history, history.good)
        evil = DistanceForecast(history, history.evil)
        return int(
            (good.chance_within(0) - good.mean_distance - 10 * evil.chance_within(SIGHT)).argmax()
        )


def _maximise_reward(history: History) -> int:
    """Return the move with the highest expected reward; ties are broken towards Good."""
    good, evil = DistanceForecast(history, history.good), DistanceForecast(history, history.evil)
    gain = (
        good.chance_within(0)
        + good.chance_within(1)
        - evil.chance_within(0)
        - evil.chance_within(1)
    )
    return int((gain - 0.01 * good.mean_distance).argmax())


CATEGORY = CleanTake().build()
