"""Categories about teammates."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sts.plugin import Episode, Scenario, load_domain
from sts_lambda_star.agents.local_search import LocalSearch
from sts_scenarios.plugin import CandidateColumns, Overlay

from .batches import Ints, StepBatch, TrackBatch
from .grid_category import ActionCategory, GradedSteps
from .policies import STAY, History, move_towards
from .screening import make_hits
from .tracks import DOMAIN, FIRST_PLAYER, SIGHT, Track, first_step, frames_since, frames_since_sight

RECENT_STEPS = 3
"""Steps for which a player in sight can be confused with another."""


NEAR_GOOD, MAX_NEAR_GOOD_SHARE = 2, 0.3


def avoids_good(steps: StepBatch, values: Ints) -> Any:
    """Return bool[N], whether a teammate is rarely near Good: chasing Good does not lead to it.

    `values` has the cells of the teammate of each step, as `TrackBatch.player_cells`.
    """
    good, cells = (steps.values_after(place) for place in (steps.tracks.good, values))
    return (steps.tracks.distance(cells, good) <= NEAR_GOOD).mean(1) < MAX_NEAR_GOOD_SHARE


def teammate_name(names: Sequence[str], target: int) -> str:
    """Return the name of a teammate in instructions, given the names of all objects."""
    is_pair = len(names) == FIRST_PLAYER + 2
    return "your team-mate" if is_pair else f"participant {names[FIRST_PLAYER + target]}"


def mark_teammate(scenario: Scenario) -> Overlay:
    """Return an overlay that marks the teammate's cell at the takeover."""
    place = scenario.recording.scene[scenario.context, FIRST_PLAYER + scenario.parameters["target"]]
    return Overlay((int(place),))


def follow(history: History) -> int:
    """Return the move to a teammate in sight, or to where one was last seen."""
    cells = next((cells for cells in reversed(history.others) if cells), None)
    return move_towards(history, cells[0]) if cells else STAY


class MateCategory(ActionCategory):
    """A category about a teammate, by default to get onto its cell."""

    solver = staticmethod(follow)

    def template_fields(
        self, episode: Episode, player: int, parameters: Mapping[str, Any]
    ) -> dict[str, str]:
        """Return the template fields for the teammate and the number of steps."""
        names = load_domain(DOMAIN).scene_layout(episode.state).names
        fields = super().template_fields(episode, player, parameters)
        return {"mate": teammate_name(names, parameters["target"])} | fields

    def judge(self, track: Track, parameters: Mapping[str, Any]) -> Any:
        """Return success at the first frame on the teammate's cell; else not_done."""
        return first_step(track.me[1:] == track.scene[1:, FIRST_PLAYER + parameters["target"]])


class ReplayedMateCategory(MateCategory):
    """A category about a teammate who repeats the recording.

    Asked if the teammate is in sight and was the only one in the last steps.
    """

    partner = "replay"
    shortcut: Any = LocalSearch()

    def find_near(self, steps: StepBatch, cells: Ints) -> GradedSteps:
        """Return the steps to keep; `cells` are those of the teammate along the tracks."""
        raise NotImplementedError

    def find_columns(self, batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
        """Find steps with a single teammate in sight, who was the only one in the last steps."""
        players, player = range(batch.players), np.arange(len(batch.me)) % batch.players
        paths = [batch.player_cells(player) for player in players]
        near = [batch.distance(batch.me, path) <= SIGHT for path in paths]
        for other in players:
            near[other][player == other] = False
        recent = min(RECENT_STEPS, context)
        seen = np.sum([frames_since(near_player) <= recent for near_player in near], axis=0)
        hits_by_target = []
        for target in players:
            steps = StepBatch.select(batch, near[target] & (seen == 1), context, horizon)
            hits_by_target.append(make_hits(*self.find_near(steps, paths[target]), (), target))
        kinds = [("", {"target": target, **self.kinds[0][1]}) for target in players]
        episode, player, step, difficulty, kind = (
            np.concatenate(column)
            for column in zip(*(hits[:5] for hits in hits_by_target), strict=True)
        )
        return CandidateColumns(episode, player, step, difficulty, kind, kinds)

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why a player cannot be asked to do something with a teammate who moves."""
        target = scenario.parameters["target"]
        if target not in range(scenario.recording.n_players):
            return "this teammate does not exist"
        if scenario.partner == "no-op":
            return "the teammate stands still: expected a partner that moves"
        if target == track.player:
            return "a player cannot be its own teammate"
        if track.distance_to(target)[-1] > SIGHT:
            return "the teammate is not in sight at the takeover"
        return why_ambiguous(track, target)


def why_ambiguous(track: Track, target: int) -> str | None:
    """Return why a teammate can be confused with others; None if only it was recently in sight."""
    others = (p for p in range(track.scene.shape[1] - FIRST_PLAYER) if p != track.player)
    if [p for p in others if frames_since_sight(track.distance_to(p))[-1] <= RECENT_STEPS] != [
        target
    ]:
        return f"the teammate is not the only player in sight in the last {RECENT_STEPS} steps"
    return None
