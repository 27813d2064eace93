"""Category return-to-first."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.plugin import Scenario
from sts_lambda_star.state import MOVES
from sts_scenarios.plugin import CandidateColumns, Overlay, Rubric

from .batches import Ints, StepBatch, TrackBatch
from .grid_category import ActionCategory
from .policies import HIDDEN, STAY, History, chase_good, move_towards
from .screening import make_hits
from .tracks import SIGHT, Track, distances, first_step

MIN_STEPS_AGO = 4
MIN_DISTANCE, EASY_DISTANCE, MAX_DISTANCE = 2, 3, 5


class ReturnToFirst(ActionCategory):
    """Stand on the cell where Good was first seen.

    Asked if that was four or more steps ago in the context, the cell is two to five cells away, and
    neither chasing Good nor repeating one move crosses it. Difficulty rises by one level if the
    cell is more than three away, and by one if it was diagonally next to the player when seen.
    """

    name = "return-to-first"
    templates = (
        "Go to the cell where Good was when you first saw it.",
        "Go back to the cell where Good was when you first saw it, and step onto it.",
        "Step onto the cell where Good was the first time that you saw it.",
    )
    earlier_templates = (
        "Go to the cell on which Good was when you first saw it.",
        "Return to the cell where Good stood when you first saw it.",
        "Stand on the cell where Good was the first time that you saw it.",
    )
    horizon = 10
    rubric = Rubric(
        "At some step after the takeover, the player is on the marked cell. It is the cell "
        "where Good was when the player first saw it.",
        "First means the first time in this recording. Walking over the cell is enough.",
        overlay=lambda scenario: Overlay((scenario.parameters["cell"],)),
        version="2",
    )
    shortcut = staticmethod(chase_good)

    def find_columns(self, batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
        """Find steps at which Good was first seen a while ago, on another cell."""
        age = _steps_since_first_sight(batch, context)
        steps = StepBatch.select(batch, age >= MIN_STEPS_AGO, context, horizon)

        def cells(steps: StepBatch) -> Any:
            return steps.values_at(batch.good, -steps.values_at(age))

        distance = batch.distance(steps.values_at(batch.me), cells(steps))
        steps = steps.filter((distance >= MIN_DISTANCE) & (distance <= MAX_DISTANCE))
        steps = steps.filter((steps.chase_good() != cells(steps)[:, None]).all(1))
        latest = steps.values_at(batch.good, -steps.values_at(batch.since_good))
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

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why the cell is not known or too near or far, or is another one; else None."""
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

    def judge(self, track: Track, parameters: Mapping[str, Any]) -> Any:
        """Return success at the first frame on the cell; else not_done."""
        return first_step(track.me[..., 1:] == parameters["cell"])

    def solver(self, history: History) -> int:
        """Return the move to the cell where Good was first seen."""
        sights = [cell for cell in history.good[: history.asked_frame + 1] if cell != HIDDEN]
        return move_towards(history, sights[0]) if sights else STAY


def _steps_since_first_sight(batch: TrackBatch, context: int) -> Ints:
    """Return how many frames ago Good was first in sight in the context; negative if never."""
    frames = np.arange(batch.me.shape[1], dtype=np.int32)
    near = batch.to_good <= SIGHT
    coming = np.where(near, frames, len(frames))[:, ::-1]
    sights = np.minimum.accumulate(coming, axis=1)[:, ::-1]
    age = np.full(near.shape, -1, np.int32)
    age[:, context:] = frames[context:] - sights[:, : len(frames) - context]
    return age


def _first_seen_frame(track: Track) -> int:
    """Return the first frame with Good in sight, or the number of frames if there is none.

    The first sighting in the context counts; a player remembers no more than that.
    """
    return int(np.argmax(np.append(track.to_good <= SIGHT, True)))


CATEGORY = ReturnToFirst().build()
