"""beside-or-leave: a contrast pair, to stay near Good or to get away from it.

Asked where `keep-beside` can be asked and standing still does neither, if a solver that sees only
what a player sees can do both. Difficulty is that of `keep-beside`.
"""

from collections.abc import Mapping
from typing import Any

from sts_scenarios.plugin import Label, Rubric

from . import keep_beside
from .batches import StepBatch, TrackBatch
from .builders import PairOption, build_pair
from .policies import DistanceForecast, History
from .tracks import Track, label_first_hit

HORIZON = keep_beside.HORIZON
MIN_DISTANCE = 4


def _label_leaving(track: Track, parameters: Mapping[str, Any]) -> Label:
    """Return success at the first frame at least MIN_DISTANCE cells from Good; else not_done."""
    return label_first_hit(track.to_good[1:] >= MIN_DISTANCE)


def _move_away(history: History) -> int:
    return int(DistanceForecast(history, history.good).mean_distance.argmax())


OPTIONS = {
    "beside": PairOption(
        "never be on its cell and never more than two cells away from it until the end",
        keep_beside.label_track,
        keep_beside.stay_near,
        {},
    ),
    "leave": PairOption("get at least four cells away from it", _label_leaving, _move_away, {}),
}


def find_steps(batch: TrackBatch, context: int, horizon: int) -> tuple[StepBatch, Any]:
    """Find steps next to Good at which standing still does neither."""
    steps, difficulty = keep_beside.find_rewarding_steps(batch, context, horizon)
    stays = (steps.distance_if_still(batch.good) < MIN_DISTANCE).all(1)
    return steps.filter(stays), difficulty[stays]


CATEGORY = build_pair(
    "beside-or-leave",
    (
        "Good is next to you. Your task: {deed}.",
        "Your task is about Good: {deed}.",
        "About Good: {deed}.",
    ),
    find_steps,
    OPTIONS,
    keep_beside.why_invalid,
    horizon=HORIZON,
    earlier_templates=(
        "Here is what to do about Good: {deed}.",
        "Good is next to you: {deed}.",
        "This is about Good: {deed}.",
    ),
    rubric=Rubric(
        success_criterion="After the takeover, the player does what is asked about Good: {deed}.",
        edge_cases=(
            "The takeover itself does not count. A diagonal step counts as one cell, also across "
            "the edges of the board. Once the player is four cells away, it has left Good, even if "
            "it comes back."
        ),
        version="2",
    ),
    shortcut=_move_away,
)
