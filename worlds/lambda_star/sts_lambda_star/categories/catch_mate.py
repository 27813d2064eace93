"""Category catch-mate."""

from typing import Any

import numpy as np

from sts.plugin import Scenario
from sts_scenarios.plugin import Rubric

from .batches import StepBatch, TrackBatch
from .grid_category import GradedSteps
from .policies import History
from .teammates import RECENT_STEPS, MateCategory, follow, mark_teammate
from .tracks import FIRST_PLAYER, SIGHT, Track, distances, frames_since_sight

MAX_DISTANCE = 4


class CatchMate(MateCategory):
    """Get onto the cell of a teammate that runs away when approached.

    From the takeover on the teammate is a `fugitive`: it flees for two steps, rests for one, and
    stands still out of sight. Asked in teams of two, if the teammate was in sight in the last steps
    and has moved at most one cell since. Easy: it is one cell away; medium: two, just out of sight;
    hard: three or four.
    """

    name = "catch-mate"
    templates = (
        "Catch {mate}, who runs away from you: be on the same cell once.",
        "Run after {mate} until you are both on the same cell.",
        "Get onto the same cell as {mate}, who runs away when you come near.",
    )
    earlier_templates = (
        "Catch {mate}, who runs away from you: be on the same cell.",
        "Chase {mate} until you are both on one cell.",
        "Try to get onto the cell of {mate}, who steps away when you come near.",
    )
    horizon = 10
    partner = "agent:fugitive"
    rubric = Rubric(
        "At some step after the takeover, the player and {mate} are on the same cell.",
        "Once is enough, no matter who moved. Being next to each other does not count, nor "
        "does swapping cells in one step. The marked cell shows where {mate} was at the "
        "takeover.",
        overlay=mark_teammate,
        version="2",
    )
    kinds = [("", {"target": target}) for target in (1, 0)]  # indexed by the evaluated player

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps near the teammate, in teams of two."""
        if batch.players != 2:
            nowhere = np.zeros(batch.me.shape, np.bool_)
            return StepBatch.select(batch, nowhere, context, horizon), 0
        mate = batch.me.reshape(-1, 2, batch.me.shape[1])[:, ::-1].reshape(batch.me.shape)
        distance = batch.distance(batch.me, mate)
        unseen = frames_since_sight(distance)
        near = (unseen <= min(RECENT_STEPS, context)) & (distance > 0) & (distance <= MAX_DISTANCE)
        steps = StepBatch.select(batch, near, context, horizon)
        last_cell = steps.values_at(mate, -steps.values_at(unseen))
        steps = steps.filter(batch.distance(steps.values_at(mate), last_cell) <= SIGHT)
        return steps, np.minimum(steps.values_at(distance), 3) - 1

    def choose_kind(self, steps: StepBatch) -> Any:
        """Return the evaluated players."""
        return steps.track % steps.tracks.players

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why the teammate cannot be caught, or is not known from the last steps."""
        if scenario.partner != self.partner:
            return "the teammate is not played by an agent that runs away"
        if scenario.recording.n_players != 2:
            return "there is more than one teammate"
        if scenario.parameters["target"] != 1 - track.player:
            return "this teammate does not exist"
        distance = track.distance_to(1 - track.player)
        if distance[-1] == 0:
            return "the two already share a cell"
        if distance[-1] > MAX_DISTANCE:
            return f"the teammate is more than {MAX_DISTANCE} cells away"
        if (unseen := frames_since_sight(distance)[-1]) > RECENT_STEPS:
            return f"the teammate was not in sight in the last {RECENT_STEPS} steps"
        mate = track.scene[:, FIRST_PLAYER + 1 - track.player]
        if distances(mate[-1], mate[-1 - unseen], track.size) > SIGHT:
            return "the teammate is not near where it was last in sight"
        return None

    def shortcut(self, history: History) -> int:
        """Return the move to where the teammate was last in sight when the instruction came."""
        return follow(history._replace(others=history.others[: history.asked_frame + 1]))


CATEGORY = CatchMate().build()
