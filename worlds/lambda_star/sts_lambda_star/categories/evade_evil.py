"""evade-evil: never be on Evil or next to it until the end; asked two cells away from it.

Asked if Evil was in sight in the last two steps, is exactly two cells away, comes within six steps
to a player that stands still, and is avoided by repeating at most three of the nine moves; and only
if fleeing by what is seen succeeds. Easy: it comes with the fourth step or later; medium: with the
second or third; hard: with the first.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.plugin import Scenario
from sts_lambda_star import torus
from sts_lambda_star.agents.local_search import LocalSearch
from sts_scenarios.plugin import CandidateColumns, ControlPolicies, Label, Rubric

from .batches import StepBatch, TrackBatch
from .builders import build_instruction
from .policies import (
    HIDDEN,
    STAY,
    History,
    cells_after_moves,
    find_last_sighting,
    make_mover,
    moves_between,
)
from .screening import make_hits
from .tracks import SIGHT, Track, distances, first_step, frames_since_sight, label_no_miss

HORIZON = 10
SEEN_WITHIN, DISTANCE = 2, 2
MAX_SAFE_PATHS = 3
HARD_STEP, MEDIUM_STEP, LATEST_STEP = 1, 3, 6


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps at which Evil has just gone out of sight and comes back."""
    lately = frames_since_sight(batch.to_evil) <= min(SEEN_WITHIN, context)
    steps = StepBatch.select(batch, lately & (batch.to_evil == DISTANCE), context, horizon)
    steps = steps.filter(_arrival_step(steps) <= LATEST_STEP)
    steps = steps.filter(count_safe_paths(steps) <= MAX_SAFE_PATHS)
    steps = steps.filter(is_evadable(steps, context))
    return make_hits(steps, grade_haste(steps))


def count_safe_paths(steps: StepBatch) -> Any:
    """Return how many of the nine moves, repeated blindly, stay clear of Evil."""
    evil = steps.values_after(steps.tracks.evil)[:, None]
    return (steps.tracks.distance(steps.constant_move_paths(), evil) > SIGHT).all(2).sum(1)


def grade_haste(steps: StepBatch) -> Any:
    """Return the difficulty, by how soon Evil comes to a player that stands still."""
    comes = _arrival_step(steps)
    return np.where(comes <= HARD_STEP, 2, np.where(comes <= MEDIUM_STEP, 1, 0))


def _arrival_step(steps: StepBatch) -> Any:
    """Return the step at which Evil reaches a player that stands still; L + 1 if it does not."""
    comes = first_step(steps.distance_if_still(steps.tracks.evil) <= SIGHT)
    return np.where(comes > 0, comes, steps.horizon + 1)


def is_evadable(steps: StepBatch, context: int) -> Any:
    """Return True where a player that flees by what it sees stays clear of Evil."""
    path = steps.flee_evil(context, waiting=False)[:, 1:]
    return (steps.tracks.distance(path, steps.values_after(steps.tracks.evil)) > SIGHT).all(1)


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


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    if track.to_evil[-1] != DISTANCE:
        return f"Evil is not {DISTANCE} cells away"
    return why_unseen(track)


def why_unseen(track: Track) -> str | None:
    """Return why Evil's position is not known from the last steps; else None."""
    lately = frames_since_sight(track.to_evil)[-1] <= SEEN_WITHIN
    return None if lately else f"Evil was not in sight in the last {SEEN_WITHIN} steps"


def label_track(track: Track, parameters: Mapping[str, Any]) -> Label:
    """Return failure at the first frame next to Evil, or success at the end."""
    return label_no_miss(track.to_evil[1:] <= SIGHT)


CATEGORY = build_instruction(
    "evade-evil",
    (
        "Stay away from Evil until the end: it must never be on your cell or next to you.",
        "Until the end, never be on Evil's cell or next to it.",
        "Avoid Evil until the end. Never let it come next to you or onto your cell.",
    ),
    find_steps,
    label_track,
    _why_invalid,
    horizon=HORIZON,
    earlier_templates=(
        "Evade Evil until the end: never let it be on your cell or next to you.",
        "Until the end, keep Evil off your cell and off the eight cells around it.",
        "Do not let Evil come next to you or onto your cell before the end.",
    ),
    rubric=Rubric(
        success_criterion=(
            "At every step after the takeover, Evil is neither on the player's cell nor on one of "
            "the eight cells around it."
        ),
        edge_cases=(
            "The takeover itself does not count. The eight cells may lie across the edges of the "
            "board. A single step next to Evil is a failure, no matter who moved."
        ),
        version="2",
    ),
    controls=ControlPolicies(
        solver=make_mover(flee),
        shortcut=LocalSearch(),
        max_open_loop_rate=0.4,
        why="of nine moves some lead away from Evil whatever it does",
    ),
)
