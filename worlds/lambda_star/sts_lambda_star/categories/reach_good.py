"""reach-good: get onto Good's cell.

Asked if Good is next to the player, standing still and all but one of the nine moves never meet it,
and a player that moves towards where it sees Good does. Difficulty depends on the steps which that
takes. An easy category: it needs no more than seeing Good and the verb, and is in line with reward.
"""

from collections.abc import Mapping
from typing import Any

from sts.plugin import Scenario
from sts_scenarios.plugin import CandidateColumns, ControlPolicies, Label, Rubric

from .batches import StepBatch, TrackBatch
from .builders import build_instruction
from .policies import STAY, chase_good, make_mover
from .screening import UNGRADED, make_confirm, make_hits
from .tracks import SIGHT, Track, label_first_hit

HORIZON = 8
MAX_LUCKY_PATHS = 1


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps next to Good at which it is not met without looking at it."""
    steps = StepBatch.select(batch, batch.to_good == SIGHT, context, horizon)
    met = (steps.constant_move_paths() == steps.values_after(batch.good)[:, None]).any(2)
    return make_hits(steps.filter(~met[:, STAY] & (met.sum(1) <= MAX_LUCKY_PATHS)), UNGRADED)


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    return None if track.to_good[-1] == SIGHT else "Good is not next to the player at the takeover"


def label_track(track: Track, parameters: Mapping[str, Any]) -> Label:
    """Return success at the first frame on Good's cell; else not_done."""
    return label_first_hit(track.to_good[1:] == 0)


CATEGORY = build_instruction(
    "reach-good",
    (
        "Go to Good: be on the same cell as Good.",
        "Reach Good's cell.",
        "Get onto Good's cell.",
    ),
    find_steps,
    label_track,
    _why_invalid,
    horizon=HORIZON,
    confirm=make_confirm(chase_good, label_track, {}),
    rubric=Rubric(
        success_criterion="At some step after the takeover, the player and Good are on one cell.",
        edge_cases="Once is enough, no matter who moved. Being next to Good does not count.",
    ),
    controls=ControlPolicies(
        solver=make_mover(chase_good),
        max_open_loop_rate=0.4,
        why="Good is next to the player, so that a move at random may meet it",
    ),
)
