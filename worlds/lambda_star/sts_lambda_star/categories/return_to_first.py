"""return-to-first: stand on the cell where Good was first seen.

Asked if that was four or more steps ago in the context, the cell is two to five cells away, and
neither chasing Good nor repeating one move crosses it. Difficulty rises by one level if the cell is
more than three away, and by one if it was diagonally next to the player when seen.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.plugin import Scenario
from sts_lambda_star.state import MOVES
from sts_scenarios.plugin import CandidateColumns, ControlPolicies, Label, Overlay, Rubric

from .batches import Ints, StepBatch, TrackBatch
from .builders import build_instruction
from .policies import HIDDEN, STAY, History, chase_good, make_mover, move_towards
from .screening import make_hits
from .tracks import SIGHT, Track, distances, frames_since_sight, label_first_hit

HORIZON = 10
MIN_STEPS_AGO = 4
MIN_DISTANCE, EASY_DISTANCE, MAX_DISTANCE = 2, 3, 5


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps at which Good was first seen a while ago, on another cell."""
    age = _steps_since_first_sight(batch, context)
    steps = StepBatch.select(batch, age >= MIN_STEPS_AGO, context, horizon)

    def cells(steps: StepBatch) -> Any:
        return steps.values_at(batch.good, -steps.values_at(age))

    distance = batch.distance(steps.values_at(batch.me), cells(steps))
    steps = steps.filter((distance >= MIN_DISTANCE) & (distance <= MAX_DISTANCE))
    steps = steps.filter((steps.chase_good() != cells(steps)[:, None]).all(1))
    latest = steps.values_at(batch.good, -steps.values_at(frames_since_sight(batch.to_good)))
    me, free = steps.values_at(batch.me), np.ones(len(steps.track), np.bool_)
    for _ in range(horizon):
        me = batch.cell_after(me, batch.move_towards(me, latest))
        free &= me != cells(steps)
    steps = steps.filter(free)
    steps = steps.filter(~steps.is_on_constant_path(cells(steps)))
    cell, me = cells(steps), steps.values_at(batch.me)
    rim = batch.is_diagonal(steps.values_at(batch.me, -steps.values_at(age)), cell)
    codes, kind = np.unique(cell * 9 + batch.move_towards(me, cell), return_inverse=True)
    kinds = [(MOVES[code % 9], {"cell": code // 9}) for code in codes.tolist()]
    return make_hits(steps, 1 * (batch.distance(me, cell) > EASY_DISTANCE) + rim, kinds, kind)


def _steps_since_first_sight(batch: TrackBatch, context: int) -> Ints:
    """Return how many frames ago Good was first in sight in the context; negative if never."""
    frames = np.arange(batch.me.shape[1], dtype=np.int32)
    near = batch.to_good <= SIGHT
    coming = np.where(near, frames, len(frames))[:, ::-1]
    sights = np.minimum.accumulate(coming, axis=1)[:, ::-1]
    age = np.full(near.shape, -1, np.int32)
    age[:, context:] = frames[context:] - sights[:, : len(frames) - context]
    return age


def _return_to_cell(history: History) -> int:
    sights = [cell for cell in history.good[: history.asked_frame + 1] if cell != HIDDEN]
    return move_towards(history, sights[0]) if sights else STAY


def _first_seen_frame(track: Track) -> int:
    """Return the first frame with Good in sight, or the number of frames if there is none.

    The first sighting in the context counts; a player remembers no more than that.
    """
    return int(np.argmax(np.append(track.to_good <= SIGHT, True)))


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    frame = _first_seen_frame(track)
    if len(track.me) - 1 - frame < MIN_STEPS_AGO:
        return f"Good was not first in sight {MIN_STEPS_AGO} steps ago or more"
    cell = int(track.good[frame])
    if not MIN_DISTANCE <= distances(int(track.me[-1]), cell, track.size) <= MAX_DISTANCE:
        return f"the cell is not {MIN_DISTANCE} to {MAX_DISTANCE} cells away"
    if scenario.parameters["cell"] != cell:
        row, column = divmod(cell, track.size.width)
        return f"Good was first seen in row {row + 1}, column {column + 1}"
    return None


def label_track(track: Track, parameters: Mapping[str, Any]) -> Label:
    """Return success at the first frame on the cell; else not_done."""
    return label_first_hit(track.me[1:] == parameters["cell"])


CATEGORY = build_instruction(
    "return-to-first",
    (
        "Go to the cell where Good was when you first saw it.",
        "Go back to the cell where Good was when you first saw it, and step onto it.",
        "Step onto the cell where Good was the first time that you saw it.",
    ),
    find_steps,
    label_track,
    _why_invalid,
    horizon=HORIZON,
    earlier_templates=(
        "Go to the cell on which Good was when you first saw it.",
        "Return to the cell where Good stood when you first saw it.",
        "Stand on the cell where Good was the first time that you saw it.",
    ),
    rubric=Rubric(
        success_criterion=(
            "At some step after the takeover, the player is on the marked cell. It is the cell "
            "where Good was when the player first saw it."
        ),
        edge_cases="First means the first time in this recording. Walking over the cell is enough.",
        overlay=lambda scenario: Overlay((scenario.parameters["cell"],)),
        version="2",
    ),
    controls=ControlPolicies(
        solver=make_mover(_return_to_cell), shortcut=make_mover(chase_good), against_reward=True
    ),
)
