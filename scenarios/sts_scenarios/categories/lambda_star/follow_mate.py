"""follow-mate: stay with a teammate, who repeats the recording, for some steps in a row.

Asked if the teammate is in sight and was the only one in the last steps, moves in two of three
steps, is rarely near Good (so that chasing Good is not following), and leaves a player that stands
still. Easy: it is next to such a player in three of the first four steps; medium: in two; hard: in
fewer.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.worlds.lambda_star.agents.local_search import LocalSearch
from sts_scenarios.category import CandidateColumns, ControlPolicies, Label, Rubric

from . import teammates
from .batches import Ints, StepBatch, TrackBatch
from .builders import StepCount, build_instruction
from .policies import make_mover
from .screening import grade_leaving, make_hits
from .tracks import SIGHT, Track, frames_since, label_first_hit, run_ends

HORIZON = 12
STEPS, DIFFICULTY_STEPS = 5, 4
STEP_COUNT = StepCount(STEPS)
NEAR_GOOD, MAX_NEAR_GOOD_SHARE = 2, 0.3


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps with a single teammate in sight that is about to leave, and not towards Good."""
    players, player = range(batch.players), np.arange(len(batch.me)) % batch.players
    paths = [batch.player_cells(player) for player in players]
    near = [batch.distance(batch.me, path) <= SIGHT for path in paths]
    for other in players:
        near[other][player == other] = False
    recent = min(teammates.RECENT_STEPS, context)
    is_single = np.sum([frames_since(near_player) <= recent for near_player in near], axis=0) == 1
    hits_by_target = []
    for target in players:
        moments = StepBatch.select(batch, near[target] & is_single, context, horizon)
        moments = moments.filter(_avoids_good(moments, paths[target]))
        distance = moments.distance_if_still(paths[target])
        free = ~run_ends(distance <= SIGHT, STEPS).any(1)
        hits_by_target.append(
            make_hits(
                moments.filter(free),
                grade_leaving(distance[free][:, :DIFFICULTY_STEPS]),
                (),
                target,
            )
        )
    kinds = [("", {"target": target, "steps": STEPS}) for target in players]
    episode, player, moment, difficulty, kind = (
        np.concatenate(column)
        for column in zip(*(hits[:5] for hits in hits_by_target), strict=True)
    )
    return CandidateColumns(episode, player, moment, difficulty, kind, kinds)


def _avoids_good(moments: StepBatch, values: Ints) -> Any:
    """Return True where a teammate keeps moving and stays away from Good."""
    path = moments.values_between(values, 0, moments.horizon + 1)
    actions = (path[:, 1:] != path[:, :-1]).mean(1)
    by_good = (
        moments.tracks.distance(path[:, 1:], moments.values_after(moments.tracks.good)) <= NEAR_GOOD
    )
    return (3 * actions >= 2) & (by_good.mean(1) < MAX_NEAR_GOOD_SHARE)


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    target, players = scenario.parameters["target"], range(scenario.recording.n_players)
    if target not in players:
        return "this teammate does not exist"
    if few := STEP_COUNT.why_too_few(scenario):
        return few
    if scenario.partner == "no-op":
        return "the teammate stands still: expected a partner that moves"
    if target == track.player:
        return "a player cannot follow itself"
    if track.distance_to(target)[-1] > SIGHT:
        return "the teammate is not in sight at the takeover"
    return teammates.why_ambiguous(track, target)


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
        "Follow {mate}: be on the same cell or next to it for {steps} steps in a row.",
        "Stay close to {mate}, on the same cell or next to it, for {steps} steps in a row.",
        "For {steps} steps in a row, keep next to {mate} or on the same cell.",
    ),
    find_steps,
    label_track,
    _why_invalid,
    horizon=HORIZON,
    words=template_fields,
    partner="replay",
    rubric=Rubric(
        success_criterion=(
            "After the takeover there are {steps} steps in a row, one directly after the other, at "
            "each of which the player is on the same cell as {mate} or on one of the eight "
            "around it."
        ),
        edge_cases=(
            "The marked cell is where that one was at the takeover. The takeover itself does not "
            "count. A single step farther away starts the count again."
        ),
        overlay=teammates.mark_teammate,
    ),
    controls=ControlPolicies(
        solver=make_mover(teammates.follow), shortcut=LocalSearch(), against_reward=True
    ),
)
