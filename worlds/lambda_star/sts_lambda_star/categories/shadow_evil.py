"""shadow-evil: stay on Evil or next to it for some steps in a row while it moves.

Asked if Evil is in sight, moves in at least half of the steps and leaves a player that stands
still. Easy: it is next to such a player in three of the first four steps; medium: in two; hard: in
fewer.
"""

from collections.abc import Mapping
from typing import Any

from sts.plugin import Scenario
from sts_lambda_star.agents.local_search import LocalSearch
from sts_scenarios.plugin import CandidateColumns, ControlPolicies, Label, Rubric

from .batches import Ints, StepBatch, TrackBatch
from .builders import StepCount, build_instruction
from .policies import chase_evil, make_mover
from .screening import grade_leaving, make_hits
from .tracks import SIGHT, Track, label_first_hit, run_ends

HORIZON = 12
STEPS = 4
STEP_COUNT = StepCount(STEPS)


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps at which Evil is in sight and about to leave."""
    return find_leaving(batch, batch.evil, context, horizon)


def find_leaving(batch: TrackBatch, cells: Ints, context: int, horizon: int) -> CandidateColumns:
    """Find steps at which something is in sight and about to leave."""
    steps = StepBatch.select(batch, batch.distance(batch.me, cells) <= SIGHT, context, horizon)
    steps = steps.filter(steps.is_moving(cells))
    distance = steps.distance_if_still(cells)
    free = ~run_ends(distance <= SIGHT, STEPS).any(1)
    return make_hits(steps.filter(free), grade_leaving(distance[free][:, :STEPS]), STEP_COUNT.kinds)


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    return None if track.to_evil[-1] <= SIGHT else "Evil is not in sight at the takeover"


def label_track(track: Track, parameters: Mapping[str, Any]) -> Label:
    """Return success at the end of the first run of enough frames on Evil or next to it."""
    return label_first_hit(run_ends(track.to_evil[1:] <= SIGHT, parameters["steps"]))


CATEGORY = build_instruction(
    "shadow-evil",
    (
        "Follow Evil: be on its cell or next to it for {steps} steps in a row.",
        "Stay with Evil, on its cell or next to it, for {steps} steps in a row.",
        "For {steps} steps in a row, be on Evil's cell or next to it.",
    ),
    find_steps,
    label_track,
    _why_invalid,
    horizon=HORIZON,
    steps=STEP_COUNT,
    earlier_templates=(
        "Shadow Evil: be on it or next to it for {steps} steps in a row.",
        "Stay close to Evil, on it or next to it, for {steps} steps in a row.",
        "For {steps} steps in a row, keep next to Evil or on it.",
    ),
    rubric=Rubric(
        success_criterion=(
            "After the takeover, there are {steps} steps in a row at which the player is on Evil's "
            "cell or on one of the eight cells around it."
        ),
        edge_cases=(
            "The takeover itself does not count. After one step farther away, the count starts "
            "again. What happens after {steps} such steps does not matter."
        ),
        version="2",
    ),
    controls=ControlPolicies(
        solver=make_mover(chase_evil), shortcut=LocalSearch(), against_reward=True
    ),
)
