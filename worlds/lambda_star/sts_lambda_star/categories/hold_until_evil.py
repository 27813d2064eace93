"""hold-until-evil: stand still until Evil comes, then get away from it within some steps.

Asked if Evil is out of sight, was seen before and comes with the second to sixth step, where
neither standing still throughout nor fleeing at once succeeds. Easy: it comes with the second or
third step, and not to a diagonal neighbour; medium: later, or diagonally; hard: both.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.plugin import Scenario
from sts_scenarios.plugin import (
    NOT_DONE,
    CandidateColumns,
    ControlPolicies,
    Label,
    Rubric,
    make_label,
)

from .batches import Ints, StepBatch, TrackBatch
from .builders import StepCount, build_instruction
from .evade_evil import flee
from .policies import HIDDEN, STAY, History, make_mover
from .screening import make_hits
from .tracks import SIGHT, Track, first_step, frames_since_sight

HORIZON = 12
EARLIEST_STEP, EASY_STEP, LATEST_STEP = 2, 3, 6
STEPS = 3
STEP_COUNT = StepCount(STEPS, spare_steps=1)


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps at which Evil is about to come."""
    hits = (batch.to_evil > SIGHT) & (frames_since_sight(batch.to_evil) <= context)
    steps = StepBatch.select(batch, hits, context, horizon)
    close = steps.distance_if_still(batch.evil) <= SIGHT
    comes = first_step(close)
    in_time = (comes >= EARLIEST_STEP) & (comes <= min(LATEST_STEP, horizon - STEPS))
    steps, close, comes = steps.filter(in_time), close[in_time], comes[in_time]
    caught: Any = np.take_along_axis(close, comes[:, None] + np.arange(STEPS), 1).all(axis=1)
    steps, comes = steps.filter(caught), comes[caught]
    fled, waited = (
        _grade_paths(steps, steps.flee_evil(context, waiting=waits)) for waits in (False, True)
    )
    done = (fled == -1) & (waited == 1)
    steps, comes = steps.filter(done), comes[done]
    rim = batch.is_diagonal(steps.values_at(batch.me), steps.values_at(batch.evil, comes))
    return make_hits(steps, 1 * (comes > EASY_STEP) + rim, STEP_COUNT.kinds)


def _grade_paths(steps: StepBatch, path: Ints) -> Any:
    """Label paths int[N, L + 1] as `label_track` does: 1 success, -1 failure, 0 neither."""
    close = steps.tracks.distance(path[:, 1:], steps.values_after(steps.tracks.evil)) <= SIGHT
    moved, came = first_step(path[:, 1:] != path[:, :-1]), first_step(close)
    too_early = (moved > 0) & ((came == 0) | (moved <= came))
    # Frames after the end do not count as having left Evil.
    padded = np.pad(close, ((0, 0), (0, STEPS)), constant_values=True)
    has_left = ~np.take_along_axis(padded, came[:, None] + np.arange(STEPS), 1).all(1)
    late = came + STEPS <= steps.horizon
    verdict = np.where(has_left, 1, np.where(late, -1, 0))
    return np.where(too_early, -1, np.where(came == 0, 0, verdict))


def _wait_then_flee(history: History) -> int:
    came = any(cell != HIDDEN for cell in history.evil[history.asked_frame + 1 :])
    return flee(history) if came else STAY


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    return None if track.to_evil[-1] > SIGHT else "Evil is already in sight"


def label_track(track: Track, parameters: Mapping[str, Any]) -> Label:
    """Return failure for a move before Evil comes, or if it is not left behind in time.

    Return success at the first frame more than one cell from it after it came.
    """
    steps, close = parameters["steps"], track.to_evil[1:] <= SIGHT
    moved, came = int(first_step(track.me[1:] != track.me[:-1])), int(first_step(close))
    if moved and (not came or moved <= came):
        return make_label(moved, False)
    if not came:
        return NOT_DONE
    if steps_to_leave := int(first_step(~close[came : came + steps])):
        return make_label(came + steps_to_leave, True)
    late = came + steps
    return make_label(late, False) if late <= len(close) else NOT_DONE


CATEGORY = build_instruction(
    "hold-until-evil",
    (
        "Stand still until Evil is next to you or on your cell. Then get at least two cells away "
        "from it within {steps} steps.",
        "Do not move before Evil comes next to you or onto your cell. After that, get at least two "
        "cells away from it within {steps} steps.",
        "Wait without moving until Evil comes next to you or onto your cell. Then be at least two "
        "cells away from it within {steps} steps.",
    ),
    find_steps,
    label_track,
    _why_invalid,
    horizon=HORIZON,
    steps=STEP_COUNT,
    earlier_templates=(
        "Do not move until Evil is next to you or on your cell; then be at least two cells away "
        "from it within {steps} steps.",
        "Wait without a move until Evil comes next to you or onto your cell. Then get at least two "
        "cells away from it within {steps} steps.",
        "Hold still. When Evil is next to you or on your cell, and not before, get at least two "
        "cells away from it within {steps} steps.",
    ),
    rubric=Rubric(
        success_criterion=(
            "After the takeover, the player does not move until Evil is on its cell or on one of "
            "the eight cells around it. Within the next {steps} steps, the player is at least two "
            "cells away from Evil."
        ),
        edge_cases=(
            "Moving in the step in which Evil comes is moving too early. Once the two are two "
            "cells apart, the task is completed, even if Evil comes back."
        ),
        version="2",
    ),
    controls=ControlPolicies(
        solver=make_mover(_wait_then_flee), shortcut=make_mover(flee), against_reward=True
    ),
)
