"""join-mate: get onto the cell of a teammate, who repeats the recording.

Asked as `follow-mate` is, if the teammate is next to the player, standing still does not meet it,
and a player that moves towards where it sees the teammate does. Difficulty depends on the steps
which that takes. An easy category: it needs no more than seeing the teammate and the verb.
"""

from typing import Any

import numpy as np

from sts.plugin import DIFFICULTIES
from sts_lambda_star.agents.local_search import LocalSearch
from sts_scenarios.plugin import CandidateColumns, ControlPolicies, Rubric, difficulty_by_steps

from . import teammates
from .batches import Ints, StepBatch, TrackBatch
from .builders import build_instruction
from .policies import make_mover
from .tracks import first_step

HORIZON = 8


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps with a single teammate in sight that can be caught up with."""
    return teammates.find_single(batch, context, horizon, _find_reachable, {})


def _find_reachable(steps: StepBatch, cells: Ints) -> tuple[StepBatch, Any]:
    steps = steps.filter(teammates.avoids_good(steps, cells))
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


CATEGORY = build_instruction(
    "join-mate",
    (
        "Go to {mate}: be on the same cell.",
        "Join {mate}: get onto the same cell.",
        "Go to the cell of {mate}.",
    ),
    find_steps,
    teammates.label_meeting,
    teammates.why_unfit,
    horizon=HORIZON,
    words=teammates.template_fields,
    partner="replay",
    rubric=Rubric(
        success_criterion=(
            "At some step after the takeover, the player and {mate} are on the same cell."
        ),
        edge_cases=(
            "Once is enough, no matter who moved. Being next to each other does not count. The "
            "marked cell shows where {mate} was at the takeover."
        ),
        overlay=teammates.mark_teammate,
    ),
    controls=ControlPolicies(
        solver=make_mover(teammates.follow), shortcut=LocalSearch(), against_reward=True
    ),
)
