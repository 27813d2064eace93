"""good-apart: stay close to Good for some steps in a row, alone on the cell.

Asked if Good and a teammate are in sight, Good leaves soon, and a player that goes straight after
Good shares its cell; neither that nor repeating any move succeeds, and a solver that sees only what
a player sees does. Easy: on average fewer than half a teammate is on Good's cell in the next steps;
medium: fewer than one; hard: more.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.plugin import Scenario
from sts_lambda_star.agents.local_search import LocalSearch
from sts_scenarios.plugin import CandidateColumns, ControlPolicies, Label, Rubric

from .batches import Ints, StepBatch, TrackBatch
from .builders import StepCount, build_instruction
from .policies import DistanceForecast, History, cells_after_moves, make_mover
from .screening import make_confirm, make_hits
from .tracks import FIRST_PLAYER, SIGHT, Track, distances, label_first_hit, run_ends

HORIZON = 10
STEPS, MAX_DISTANCE = 6, 2
STEP_COUNT = StepCount(STEPS)
EASY_CROWD, MEDIUM_CROWD = 0.5, 1.0


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps at which Good attracts several players onto one cell."""
    near = (batch.to_good <= SIGHT) & (batch.count_others() > 0)
    steps = StepBatch.select(batch, near, context, horizon)
    close = steps.distance_if_still(batch.good) <= MAX_DISTANCE
    steps = steps.filter(2 * close.sum(1) <= STEPS)
    other_cells = _other_cells(steps)
    straight = steps.chase_good()
    shared = (other_cells == straight[:, :, None]).any((1, 2))
    steps, other_cells, straight = steps.filter(shared), other_cells[shared], straight[shared]
    good, free = steps.values_after(batch.good), np.ones(len(steps.track), np.bool_)
    for cells in (straight, *steps.constant_move_paths().swapaxes(0, 1)):
        is_alone = (other_cells != cells[:, :, None]).all(2)
        near_by = batch.distance(cells, good) <= MAX_DISTANCE
        free &= ~run_ends(is_alone & near_by, STEPS).any(1)
    beside = (other_cells == good[:, :, None]).sum(2).mean(1)[free]
    difficulty = np.where(beside < EASY_CROWD, 0, np.where(beside < MEDIUM_CROWD, 1, 2))
    return make_hits(steps.filter(free), difficulty, STEP_COUNT.kinds)


def _other_cells(steps: StepBatch) -> Ints:
    """Return int[N, L, P - 1], the cells of the other players after each step."""
    players, player = steps.tracks.players, steps.track % steps.tracks.players
    index = (player[:, None] + np.arange(1, players)) % players
    tracks_ = (steps.track - player)[:, None] + index
    frames = steps.step[:, None] + np.arange(1, steps.horizon + 1)
    out: Ints = steps.tracks.me[tracks_[:, None, :], frames[:, :, None]]
    return out


def _keep_clear(history: History) -> int:
    """Return a move that stays near Good and avoids cells where other players are or will be."""
    good = DistanceForecast(history, history.good)
    crowd = np.isin(cells_after_moves(history), history.others[-1]) + good.chance_within(0)
    return int(
        (10 * good.chance_within(MAX_DISTANCE) - 5 * crowd - abs(good.mean_distance - 1)).argmax()
    )


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    if track.to_good[-1] > SIGHT:
        return "Good is not in sight at the takeover"
    near = (distances(track.scene[-1, FIRST_PLAYER:], int(track.me[-1]), track.size) <= SIGHT).sum()
    return None if near > 1 else "no other player is in sight"


def label_track(track: Track, parameters: Mapping[str, Any]) -> Label:
    """Return success at the end of the first run of enough frames near Good, alone on the cell."""
    is_alone = (track.scene[1:, FIRST_PLAYER:] == track.me[1:, None]).sum(1) == 1
    return label_first_hit(
        run_ends((track.to_good[1:] <= MAX_DISTANCE) & is_alone, parameters["steps"])
    )


CATEGORY = build_instruction(
    "good-apart",
    (
        "For {steps} steps in a row, stay within two cells of Good, with no other player on your "
        "cell.",
        "Stay at most two cells away from Good, with no other player on your cell, for {steps} "
        "steps in a row.",
        "Be within two cells of Good and alone on your cell for {steps} steps in a row.",
    ),
    find_steps,
    label_track,
    _why_invalid,
    horizon=HORIZON,
    steps=STEP_COUNT,
    confirm=make_confirm(_keep_clear, label_track, {"steps": STEPS}, "replay"),
    partner="replay",
    earlier_templates=(
        "For {steps} steps in a row, be within two cells of Good and on a cell that no other "
        "participant is on.",
        "Keep within two cells of Good and share your cell with no other participant, for {steps} "
        "steps in a row.",
        "Be at most two cells away from Good, and alone on your cell among the participants, for "
        "{steps} steps in a row.",
    ),
    rubric=Rubric(
        success_criterion=(
            "After the takeover, there are {steps} steps in a row at which the player is at most "
            "two cells away from Good and no other player is on its cell."
        ),
        edge_cases=(
            "A diagonal step counts as one cell, also across the edges of the board. Being on "
            "Good's cell counts as within two cells. Good and Evil are not players. It does not "
            "matter who moved. After one step without all of this, the count starts again."
        ),
        version="2",
    ),
    controls=ControlPolicies(
        solver=make_mover(_keep_clear), shortcut=LocalSearch(), against_reward=True
    ),
)
