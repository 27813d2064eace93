"""Category evade-evil."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.plugin import Scenario
from sts_lambda_star import torus
from sts_lambda_star.agents.local_search import LocalSearch
from sts_scenarios.plugin import Rubric

from .batches import StepBatch, TrackBatch
from .grid_category import ActionCategory, GradedSteps
from .policies import (
    HIDDEN,
    STAY,
    History,
    cells_after_moves,
    find_last_sighting,
    moves_between,
)
from .tracks import SIGHT, Track, distances, first_step, frames_since_sight, judge_no_miss

SEEN_WITHIN, DISTANCE = 2, 2
MAX_SAFE_PATHS = 3
HARD_STEP, MEDIUM_STEP, LATEST_STEP = 1, 3, 6


def flee(history: History) -> int:
    """Return the move that leads farthest from Evil's current and predicted next cell."""
    evil, since = find_last_sighting(history.evil)
    if evil == HIDDEN:
        return STAY
    moved = moves_between(history.evil, history.size)
    way = next((m for m in reversed(moved) if m != HIDDEN), STAY)
    soon = int(torus.move_cell(evil, way, *history.size))
    landing = cells_after_moves(history)
    at_once, later = (distances(landing, cell, history.size) for cell in (evil, soon))
    rank = 10 * np.minimum(at_once, later) + later
    return int(rank.argmax())


class EvadeEvil(ActionCategory):
    """Never be on Evil or next to it until the end; asked two cells away from it.

    Asked if Evil was in sight in the last two steps, is exactly two cells away, comes within six
    steps to a player that stands still, and is avoided by repeating at most three of the nine
    moves; and only if fleeing by what is seen succeeds. Easy: it comes with the fourth step or
    later; medium: with the second or third; hard: with the first.
    """

    name = "evade-evil"
    templates = (
        "Stay away from Evil until the end: it must never be on your cell or next to you.",
        "Until the end, never be on Evil's cell or next to it.",
        "Avoid Evil until the end. Never let it come next to you or onto your cell.",
    )
    earlier_templates = (
        "Evade Evil until the end: never let it be on your cell or next to you.",
        "Until the end, keep Evil off your cell and off the eight cells around it.",
        "Do not let Evil come next to you or onto your cell before the end.",
    )
    horizon = 10
    rubric = Rubric(
        "At every step after the takeover, Evil is neither on the player's cell nor on one of "
        "the eight cells around it.",
        "The takeover itself does not count. The eight cells may lie across the edges of the "
        "board. A single step next to Evil is a failure, no matter who moved.",
        version="2",
    )
    solver = staticmethod(flee)
    shortcut = LocalSearch()
    against_reward = False
    max_open_loop_rate = 0.4
    why_rate = "of nine moves some lead away from Evil whatever it does"

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps at which Evil has just gone out of sight and comes back."""
        lately = batch.since_evil <= min(SEEN_WITHIN, context)
        steps = StepBatch.select(batch, lately & (batch.to_evil == DISTANCE), context, horizon)
        return self.find_evadable(steps.filter(_arrival_step(steps) <= LATEST_STEP))

    def find_evadable(self, steps: StepBatch) -> GradedSteps:
        """Return the steps from which fleeing stays clear of Evil, but few repeated moves do.

        Difficulty depends on how soon Evil comes to a player that stands still.
        """
        safe_paths = self.judge_steps(steps.repeat_moves()) > 0
        steps = steps.filter(safe_paths.sum(1) <= MAX_SAFE_PATHS)
        steps = steps.filter(self.judge_steps(steps.flee_evil(waiting=False)) > 0)
        comes = _arrival_step(steps)
        return steps, np.where(comes <= HARD_STEP, 2, np.where(comes <= MEDIUM_STEP, 1, 0))

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why Evil is not where it has to be fled from; else None."""
        if track.to_evil[-1] != DISTANCE:
            return f"Evil is not {DISTANCE} cells away"
        return why_unseen(track)

    def judge(self, track: Track, parameters: Mapping[str, Any]) -> Any:
        """Return failure at the first frame next to Evil, or success at the end."""
        return judge_no_miss(track.to_evil[..., 1:] <= SIGHT)


def _arrival_step(steps: StepBatch) -> Any:
    """Return the step at which Evil reaches a player that stands still; L + 1 if it does not."""
    comes = first_step(steps.distance_if_still(steps.tracks.evil) <= SIGHT)
    return np.where(comes > 0, comes, steps.horizon + 1)


def why_unseen(track: Track) -> str | None:
    """Return why Evil's position is not known from the last steps; else None."""
    lately = frames_since_sight(track.to_evil)[-1] <= SEEN_WITHIN
    return None if lately else f"Evil was not in sight in the last {SEEN_WITHIN} steps"


CATEGORY = EvadeEvil().build()
