"""follow-good: stay on Good or next to it for some steps in a row while it moves.

Asked as `shadow-evil` is, of Good. An easy category: it is in line with reward.
"""

from collections.abc import Mapping
from typing import Any

from sts.plugin import Scenario
from sts_scenarios.plugin import CandidateColumns, ControlPolicies, Label, Rubric

from . import shadow_evil
from .batches import TrackBatch
from .builders import build_instruction
from .policies import chase_good, make_mover
from .tracks import SIGHT, Track, label_first_hit, run_ends

HORIZON = shadow_evil.HORIZON


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps at which Good is in sight and about to leave."""
    return shadow_evil.find_leaving(batch, batch.good, context, horizon)


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    return None if track.to_good[-1] <= SIGHT else "Good is not in sight at the takeover"


def label_track(track: Track, parameters: Mapping[str, Any]) -> Label:
    """Return success at the end of the first run of enough frames on Good or next to it."""
    return label_first_hit(run_ends(track.to_good[1:] <= SIGHT, parameters["steps"]))


CATEGORY = build_instruction(
    "follow-good",
    (
        "Follow Good: be on its cell or next to it for {steps} steps in a row.",
        "Stay close to Good, on its cell or next to it, for {steps} steps in a row.",
        "For {steps} steps in a row, stay next to Good or on its cell.",
    ),
    find_steps,
    label_track,
    _why_invalid,
    horizon=HORIZON,
    steps=shadow_evil.STEP_COUNT,
    rubric=Rubric(
        success_criterion=(
            "After the takeover, there are {steps} steps in a row at which the player is on Good's "
            "cell or on one of the eight cells around it."
        ),
        edge_cases=(
            "The takeover itself does not count. After one step farther away, the count starts "
            "again. What happens after {steps} such steps does not matter."
        ),
    ),
    controls=ControlPolicies(solver=make_mover(chase_good)),
)
