"""evade-or-shadow: a contrast pair, to keep away from Evil or to stay next to it.

Asked if Evil was in sight in the last two steps, is at most two cells away and moves in at least
half of the steps; standing still does neither, repeating at most three of the nine moves keeps
away, and a solver that sees only what a player sees can do both. Difficulty is as in `evade-evil`.
"""

from typing import Any

from sts.plugin import Scenario
from sts_scenarios.plugin import Rubric

from . import evade_evil, shadow_evil
from .batches import StepBatch, TrackBatch
from .builders import PairOption, build_pair
from .evade_evil import count_safe_paths, flee, grade_haste, is_evadable, why_unseen
from .policies import chase_evil
from .tracks import SIGHT, Track, frames_since_sight, run_ends

HORIZON = 12
STEPS = shadow_evil.STEPS
MAX_DISTANCE, MAX_SAFE_PATHS = 2, 3
OPTIONS = {
    "evade": PairOption(
        "never be on it or next to it until the end", evade_evil.label_track, flee, {}
    ),
    "shadow": PairOption(
        f"be on it or next to it for {STEPS} steps in a row",
        shadow_evil.label_track,
        chase_evil,
        {"steps": STEPS},
    ),
}


def find_steps(batch: TrackBatch, context: int, horizon: int) -> tuple[StepBatch, Any]:
    """Find steps close to Evil at which standing still does neither."""
    lately = frames_since_sight(batch.to_evil) <= min(evade_evil.SEEN_WITHIN, context)
    near = (batch.to_evil > 0) & (batch.to_evil <= MAX_DISTANCE)
    steps = StepBatch.select(batch, lately & near, context, horizon)
    steps = steps.filter(steps.is_moving(batch.evil))
    close = steps.distance_if_still(batch.evil) <= SIGHT
    steps = steps.filter(close.any(1) & ~run_ends(close, STEPS).any(1))
    steps = steps.filter(count_safe_paths(steps) <= MAX_SAFE_PATHS)
    steps = steps.filter(is_evadable(steps, context))
    return steps, grade_haste(steps)


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    if scenario.parameters["asked"] not in OPTIONS:
        return "this instruction is not an option of the category"
    if not 0 < track.to_evil[-1] <= MAX_DISTANCE:
        return f"Evil is not one to {MAX_DISTANCE} cells away"
    return why_unseen(track)


CATEGORY = build_pair(
    "evade-or-shadow",
    (
        "Evil is near you. Your task: {deed}.",
        "Your task is about Evil: {deed}.",
        "About Evil: {deed}.",
    ),
    find_steps,
    OPTIONS,
    _why_invalid,
    horizon=HORIZON,
    earlier_templates=(
        "Here is what to do about Evil: {deed}.",
        "Evil is at hand: {deed}.",
        "This is about Evil: {deed}.",
    ),
    rubric=Rubric(
        success_criterion="After the takeover, the player does what is asked about Evil: {deed}.",
        edge_cases=(
            "The takeover itself does not count. Next to it means on one of the eight cells around "
            "it, also across the edges of the board. In a row means without a break."
        ),
        version="2",
    ),
    shortcut=OPTIONS["shadow"].policy,
)
