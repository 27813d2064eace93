"""follow-mate: stay with a teammate, who repeats the recording, for some steps in a row.

Asked if the teammate is in sight and was the only one in the last steps, moves in two of three
steps, is rarely near Good (so that chasing Good is not following), and leaves a player that stands
still. Easy: it is next to such a player in three of the first four steps; medium: in two; hard: in
fewer.
"""

from collections.abc import Mapping
from typing import Any

from sts.plugin import Episode, Scenario
from sts_lambda_star.agents.local_search import LocalSearch
from sts_scenarios.plugin import CandidateColumns, ControlPolicies, Label, Rubric

from . import teammates
from .batches import Ints, StepBatch, TrackBatch
from .builders import StepCount, build_instruction
from .policies import make_mover
from .screening import grade_leaving
from .tracks import SIGHT, Track, label_first_hit, run_ends

HORIZON = 12
STEPS, DIFFICULTY_STEPS = 5, 4
STEP_COUNT = StepCount(STEPS)


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps with a single teammate in sight that is about to leave, and not towards Good."""

    def find_leaving(steps: StepBatch, cells: Ints) -> tuple[StepBatch, Any]:
        path = steps.values_between(cells, 0, steps.horizon + 1)
        moves = 3 * (path[:, 1:] != path[:, :-1]).mean(1) >= 2
        steps = steps.filter(moves & teammates.avoids_good(steps, cells))
        distance = steps.distance_if_still(cells)
        free = ~run_ends(distance <= SIGHT, STEPS).any(1)
        return steps.filter(free), grade_leaving(distance[free][:, :DIFFICULTY_STEPS])

    return teammates.find_single(batch, context, horizon, find_leaving, {"steps": STEPS})


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    return STEP_COUNT.why_too_few(scenario) or teammates.why_unfit(track, scenario)


def template_fields(episode: Episode, player: int, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return the template fields for the teammate and the number of steps."""
    fields = teammates.template_fields(episode, player, parameters)
    return fields | STEP_COUNT.template_fields(episode, player, parameters)


def label_track(track: Track, parameters: Mapping[str, Any]) -> Label:
    """Return success at the end of the first run of enough frames next to the teammate."""
    close = track.distance_to(parameters["target"]) <= SIGHT
    return label_first_hit(run_ends(close[1:], parameters["steps"]))


CATEGORY = build_instruction(
    "follow-mate",
    (
        "Follow {mate}: be on its cell or next to it for {steps} steps in a row.",
        "Stay with {mate} for {steps} steps in a row, on the same cell or next to it.",
        "For {steps} steps in a row, be on the same cell as {mate} or next to it.",
    ),
    find_steps,
    label_track,
    _why_invalid,
    horizon=HORIZON,
    words=template_fields,
    partner="replay",
    earlier_templates=(
        "Follow {mate}: be on the same cell or next to it for {steps} steps in a row.",
        "Stay close to {mate}, on the same cell or next to it, for {steps} steps in a row.",
        "For {steps} steps in a row, keep next to {mate} or on the same cell.",
    ),
    rubric=Rubric(
        success_criterion=(
            "After the takeover, there are {steps} steps in a row at which the player is on the "
            "same cell as {mate} or on one of the eight cells around it."
        ),
        edge_cases=(
            "The marked cell shows where {mate} was at the takeover. The takeover itself does not "
            "count. After one step farther away, the count starts again."
        ),
        overlay=teammates.mark_teammate,
        version="2",
    ),
    controls=ControlPolicies(
        solver=make_mover(teammates.follow), shortcut=LocalSearch(), against_reward=True
    ),
)
