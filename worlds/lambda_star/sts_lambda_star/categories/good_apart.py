"""Category good-apart."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.plugin import Scenario
from sts_lambda_star.agents.local_search import LocalSearch
from sts_scenarios.plugin import Rubric

from .batches import Ints, StepBatch, TrackBatch
from .grid_category import ActionCategory, GradedSteps
from .policies import DistanceForecast, History, cells_after_moves
from .tracks import FIRST_PLAYER, SIGHT, Track, distances, first_step, run_ends

STEPS, MAX_DISTANCE = 6, 2
EASY_CROWD, MEDIUM_CROWD = 0.5, 1.0


class GoodApart(ActionCategory):
    """Stay close to Good for some steps in a row, alone on the cell.

    Asked if Good and a teammate are in sight, Good leaves soon, and a player that goes straight
    after Good shares its cell; neither that nor repeating any move succeeds, and a solver that sees
    only what a player sees does. Easy: on average fewer than half a teammate is on Good's cell in
    the next steps; medium: fewer than one; hard: more.
    """

    name = "good-apart"
    templates = (
        "For {steps} steps in a row, stay within two cells of Good, with no other player on your "
        "cell.",
        "Stay at most two cells away from Good, with no other player on your cell, for {steps} "
        "steps in a row.",
        "Be within two cells of Good and alone on your cell for {steps} steps in a row.",
    )
    earlier_templates = (
        "For {steps} steps in a row, be within two cells of Good and on a cell that no other "
        "participant is on.",
        "Keep within two cells of Good and share your cell with no other participant, for {steps} "
        "steps in a row.",
        "Be at most two cells away from Good, and alone on your cell among the participants, for "
        "{steps} steps in a row.",
    )
    horizon = 10
    partner = "replay"
    rubric = Rubric(
        "After the takeover, there are {steps} steps in a row at which the player is at most "
        "two cells away from Good and no other player is on its cell.",
        "A diagonal step counts as one cell, also across the edges of the board. Being on "
        "Good's cell counts as within two cells. Good and Evil are not players. It does not "
        "matter who moved. After one step without all of this, the count starts again.",
        version="2",
    )
    steps = STEPS
    needs_solver = True
    shortcut = LocalSearch()

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps at which Good attracts several players onto one cell."""
        near = (batch.to_good <= SIGHT) & (batch.others_in_sight > 0)
        steps = StepBatch.select(batch, near, context, horizon)
        close = steps.distance_if_still(batch.good) <= MAX_DISTANCE
        steps = steps.filter(2 * close.sum(1) <= STEPS)
        other_cells = _other_cells(steps)
        straight = steps.chase_good()
        shared = (other_cells == straight[:, :, None]).any((1, 2))
        steps, other_cells, straight = steps.filter(shared), other_cells[shared], straight[shared]
        good, free = steps.values_after(batch.good), np.ones(len(steps.track), np.bool_)
        for cells in (straight, *steps.repeat_moves().me[:, :, 1:].swapaxes(0, 1)):
            is_alone = (other_cells != cells[:, :, None]).all(2)
            near_by = batch.distance(cells, good) <= MAX_DISTANCE
            free &= ~run_ends(is_alone & near_by, STEPS).any(1)
        beside = (other_cells == good[:, :, None]).sum(2).mean(1)[free]
        difficulty = np.where(beside < EASY_CROWD, 0, np.where(beside < MEDIUM_CROWD, 1, 2))
        return steps.filter(free), difficulty

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why Good and another player are not both seen; else None."""
        if track.to_good[-1] > SIGHT:
            return "Good is not in sight at the takeover"
        cells = track.scene[-1, FIRST_PLAYER:]
        near = (distances(cells, int(track.me[-1]), track.size) <= SIGHT).sum()
        return None if near > 1 else "no other player is in sight"

    def judge(self, track: Track, parameters: Mapping[str, Any]) -> Any:
        """Return success at the end of the first run of enough frames near Good, alone there."""
        is_alone = (track.scene[1:, FIRST_PLAYER:] == track.me[1:, None]).sum(1) == 1
        near = track.to_good[1:] <= MAX_DISTANCE
        return first_step(run_ends(near & is_alone, parameters["steps"]))

    def solver(self, history: History) -> int:
        """Return a move that stays near Good, away from where others are or will be."""
        good = DistanceForecast(history, history.good)
        crowd = np.isin(cells_after_moves(history), history.others[-1]) + good.chance_within(0)
        near = 10 * good.chance_within(MAX_DISTANCE) - 5 * crowd
        return int((near - abs(good.mean_distance - 1)).argmax())


def _other_cells(steps: StepBatch) -> Ints:
    """Return int[N, L, P - 1], the cells of the other players after each step."""
    players, player = steps.tracks.players, steps.track % steps.tracks.players
    index = (player[:, None] + np.arange(1, players)) % players
    tracks_ = (steps.track - player)[:, None] + index
    frames = steps.step[:, None] + np.arange(1, steps.horizon + 1)
    out: Ints = steps.tracks.me[tracks_[:, None, :], frames[:, :, None]]
    return out


CATEGORY = GoodApart().build()
