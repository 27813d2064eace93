"""find-good-again: be on Good or next to it after it has gone out of sight.

Asked if Good was last in sight two to five steps ago and the reward around it is out of sight too;
standing still does not find it, repeating at most three of the nine moves does, and a solver that
extrapolates its moves finds it. Difficulty depends on the steps the solver needs.
"""

from collections.abc import Mapping
from typing import Any

from sts.plugin import Scenario
from sts_lambda_star.agents.local_search import LocalSearch
from sts_scenarios.plugin import CandidateColumns, ControlPolicies, Label, Rubric

from .batches import StepBatch, TrackBatch
from .builders import build_instruction
from .policies import STAY, DistanceForecast, History, make_mover
from .screening import UNGRADED, make_confirm, make_hits
from .tracks import SIGHT, Track, frames_since_sight, label_first_hit, show_sight

HORIZON = 6
MIN_STEPS_AGO, MAX_STEPS_AGO = 2, 5
MAX_LUCKY_PATHS = 3
REWARD_RADIUS = 2
"""Distance to Good at which the reward around it is still in sight."""


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps at which Good went out of sight a while ago."""
    unseen = frames_since_sight(batch.to_good)
    lost = (unseen >= MIN_STEPS_AGO) & (unseen <= min(MAX_STEPS_AGO, context))
    steps = StepBatch.select(batch, lost & (batch.to_good > REWARD_RADIUS), context, horizon)
    blind = (
        batch.distance(steps.constant_move_paths(), steps.values_after(batch.good)[:, None])
        <= SIGHT
    ).any(2)
    free = ~blind[:, STAY] & (blind.sum(1) <= MAX_LUCKY_PATHS)
    return make_hits(steps.filter(free), UNGRADED)


def _search_for_good(history: History) -> int:
    good = DistanceForecast(history, history.good)
    return int((5 * good.chance_within(SIGHT) - good.mean_distance).argmax())


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    if not MIN_STEPS_AGO <= frames_since_sight(track.to_good)[-1] <= MAX_STEPS_AGO:
        return f"Good was not lost {MIN_STEPS_AGO} to {MAX_STEPS_AGO} steps ago"
    return (
        "the reward around Good is still in sight" if track.to_good[-1] <= REWARD_RADIUS else None
    )


def label_track(track: Track, parameters: Mapping[str, Any]) -> Label:
    """Return success at the first frame on Good or next to it; else not_done."""
    return label_first_hit(track.to_good[1:] <= SIGHT)


CATEGORY = build_instruction(
    "find-good-again",
    (
        "Find Good again: get onto its cell or next to it.",
        "You no longer see Good. Look for it until you are on its cell or next to it.",
        "Search for Good until it is on your cell or next to you.",
    ),
    find_steps,
    label_track,
    _why_invalid,
    horizon=HORIZON,
    confirm=make_confirm(_search_for_good, label_track, {}),
    earlier_templates=(
        "Find Good again: be on it or next to it.",
        "You have lost sight of Good. Get next to it again, or onto it.",
        "Look for Good until you are on it or next to it again.",
    ),
    rubric=Rubric(
        success_criterion=(
            "At some step after the takeover, Good is on the player's cell or on one of the eight "
            "cells around it."
        ),
        edge_cases=(
            "The framed square shows all that the player sees. One step with Good in it is enough, "
            "no matter who moved."
        ),
        overlay=show_sight,
        version="2",
    ),
    controls=ControlPolicies(
        solver=make_mover(_search_for_good),
        shortcut=LocalSearch(),
        max_open_loop_rate=0.4,
        why="any way leads somewhere, and Good moves, too",
    ),
)
