"""Category join-mate."""

import numpy as np

from sts.plugin import DIFFICULTIES
from sts_scenarios.plugin import Rubric, difficulty_by_steps

from .batches import Ints, StepBatch
from .grid_category import GradedSteps
from .teammates import ReplayedMateCategory, avoids_good, mark_teammate
from .tracks import first_step


class JoinMate(ReplayedMateCategory):
    """Get onto the cell of a teammate, who repeats the recording.

    Asked as `follow-mate` is, if the teammate is next to the player, standing still does not meet
    it, and a player that moves towards where it sees the teammate does. Difficulty depends on the
    steps which that takes. An easy category: it needs no more than seeing the teammate and the
    verb.
    """

    name = "join-mate"
    templates = (
        "Go to {mate}: be on the same cell.",
        "Join {mate}: get onto the same cell.",
        "Go to the cell of {mate}.",
    )
    horizon = 8
    rubric = Rubric(
        "At some step after the takeover, the player and {mate} are on the same cell.",
        "Once is enough, no matter who moved. Being next to each other does not count. The "
        "marked cell shows where {mate} was at the takeover.",
        overlay=mark_teammate,
    )

    def find_near(self, steps: StepBatch, cells: Ints) -> GradedSteps:
        """Find steps at which the teammate can be caught up with."""
        steps = steps.filter(avoids_good(steps, cells))
        steps = steps.filter((steps.distance_if_still(cells) > 0).all(1))
        batch, me, path = steps.tracks, steps.values_at(steps.tracks.me), []
        for step in range(steps.horizon):
            me = batch.cell_after(me, batch.move_towards(me, steps.values_at(cells, step)))
            path.append(me)
        met = first_step(np.stack(path, 1) == steps.values_after(cells))
        grades = [
            DIFFICULTIES.index(difficulty_by_steps(step, steps.horizon))
            for step in range(steps.horizon + 1)
        ]
        return steps.filter(met > 0), np.array(grades)[met[met > 0]]


CATEGORY = JoinMate().build()
