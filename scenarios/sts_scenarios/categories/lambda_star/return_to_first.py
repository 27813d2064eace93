"""return-to-first: stand on the cell where Good was first seen.

Asked if that was four or more steps ago in the context, the cell is two to five cells away, and
neither chasing Good nor repeating one move crosses it. Difficulty rises by one level if the cell is
more than three away, and by one if it was diagonally next to the player when seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.suites.types import Scenario
from sts.worlds.lambda_star.state import MOVES
from sts_scenarios.category import Controls, Hits, Label, Overlay, Rubric

from .abreast import Ints, MomentBatch, TrackBatch
from .asking import build_instruction
from .playing import HIDDEN, STAY, History, chase_good, make_mover, move_towards
from .screening import make_hits
from .tracks import SIGHT, Track, distances, frames_since_sight, label_first_hit

HORIZON = 10
MIN_STEPS_AGO = 4
MIN_DISTANCE, EASY_DISTANCE, MAX_DISTANCE = 2, 3, 5


def find_moments(every: TrackBatch, context: int, horizon: int) -> Hits:
    """Find steps at which Good was first seen a while ago, on another cell."""
    age = _steps_since_first_sight(every, context)
    spots = MomentBatch.select(every, age >= MIN_STEPS_AGO, context, horizon)

    def cells(spots: MomentBatch) -> Any:
        return spots.values_at(every.good, -spots.values_at(age))

    away = every.distance(spots.values_at(every.me), cells(spots))
    spots = spots.filter((away >= MIN_DISTANCE) & (away <= MAX_DISTANCE))
    spots = spots.filter((spots.chase_good() != cells(spots)[:, None]).all(1))
    latest = spots.values_at(every.good, -spots.values_at(frames_since_sight(every.to_good)))
    me, free = spots.values_at(every.me), np.ones(len(spots.track), np.bool_)
    for _ in range(horizon):
        me = every.cell_after(me, every.move_towards(me, latest))
        free &= me != cells(spots)
    spots = spots.filter(free)
    spots = spots.filter(~spots.is_on_constant_path(cells(spots)))
    cell, me = cells(spots), spots.values_at(every.me)
    rim = every.is_diagonal(spots.values_at(every.me, -spots.values_at(age)), cell)
    codes, kind = np.unique(cell * 9 + every.move_towards(me, cell), return_inverse=True)
    kinds = [(MOVES[code % 9], {"cell": code // 9}) for code in codes.tolist()]
    return make_hits(spots, 1 * (every.distance(me, cell) > EASY_DISTANCE) + rim, kinds, kind)


def _steps_since_first_sight(every: TrackBatch, context: int) -> Ints:
    """Return how many frames ago Good was first in sight in the context; negative if never."""
    frames = np.arange(every.me.shape[1], dtype=np.int32)
    near = every.to_good <= SIGHT
    coming = np.where(near, frames, len(frames))[:, ::-1]
    sights = np.minimum.accumulate(coming, axis=1)[:, ::-1]
    age = np.full(near.shape, -1, np.int32)
    age[:, context:] = frames[context:] - sights[:, : len(frames) - context]
    return age


def _return_to_cell(seen: History) -> int:
    sights = [cell for cell in seen.good[: seen.asked_frame + 1] if cell != HIDDEN]
    return move_towards(seen, sights[0]) if sights else STAY


def _first_seen_frame(own: Track) -> int:
    """Return the first frame with Good in sight, or the number of frames if there is none.

    The first sighting in the context counts; a player remembers no more than that.
    """
    return int(np.argmax(np.append(own.to_good <= SIGHT, True)))


def _why_invalid(own: Track, scenario: Scenario) -> str | None:
    frame = _first_seen_frame(own)
    if len(own.me) - 1 - frame < MIN_STEPS_AGO:
        return f"Good was not first in sight {MIN_STEPS_AGO} steps ago or more"
    cell = int(own.good[frame])
    if not MIN_DISTANCE <= distances(int(own.me[-1]), cell, own.size) <= MAX_DISTANCE:
        return f"the cell is not {MIN_DISTANCE} to {MAX_DISTANCE} cells away"
    if scenario.parameters["cell"] != cell:
        row, column = divmod(cell, own.size.width)
        return f"Good was first seen in row {row + 1}, column {column + 1}"
    return None


def label_track(own: Track, parameters: Mapping[str, Any]) -> Label:
    """Return success at the first frame on the cell; else not_done."""
    return label_first_hit(own.me[1:] == parameters["cell"])


CATEGORY = build_instruction(
    "return-to-first",
    (
        "Go to the cell on which Good was when you first saw it.",
        "Return to the cell where Good stood when you first saw it.",
        "Stand on the cell where Good was the first time that you saw it.",
    ),
    find_moments,
    label_track,
    _why_invalid,
    horizon=HORIZON,
    rubric=Rubric(
        done="After the takeover the participant is on the marked cell, the one on which Good was "
        "when it was first on the participant's cell or one of the eight around it.",
        guideline="The first time in what is shown is meant. Passing over the cell is enough.",
        overlay=lambda scenario: Overlay((scenario.parameters["cell"],)),
    ),
    controls=Controls(
        probe=make_mover(_return_to_cell),
        shortcut=make_mover(chase_good),
        against_reward=True,
    ),
)
