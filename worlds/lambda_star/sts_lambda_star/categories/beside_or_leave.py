"""Category beside-or-leave."""

from collections.abc import Mapping
from typing import Any

from sts.plugin import Scenario
from sts_scenarios.plugin import Rubric

from .batches import TrackBatch
from .grid_category import GradedSteps, PairCategory, PairOption
from .keep_beside import KeepBeside
from .policies import DistanceForecast, History
from .tracks import Track, first_step

MIN_DISTANCE = 4
_KEEP_BESIDE = KeepBeside()


def _judge_leaving(track: Track, parameters: Mapping[str, Any]) -> Any:
    """Return success at the first frame at least MIN_DISTANCE cells from Good; else not_done."""
    return first_step(track.to_good[..., 1:] >= MIN_DISTANCE)


def _move_away(history: History) -> int:
    return int(DistanceForecast(history, history.good).mean_distance.argmax())


class BesideOrLeave(PairCategory):
    """A contrast pair, to stay near Good or to get away from it.

    Asked where `keep-beside` can be asked and standing still does neither, if a solver that sees
    only what a player sees can do both. Difficulty is that of `keep-beside`.
    """

    name = "beside-or-leave"
    templates = (
        "Good is next to you. Your task: {deed}.",
        "Your task is about Good: {deed}.",
        "About Good: {deed}.",
    )
    earlier_templates = (
        "Here is what to do about Good: {deed}.",
        "Good is next to you: {deed}.",
        "This is about Good: {deed}.",
    )
    horizon = KeepBeside.horizon
    rubric = Rubric(
        "After the takeover, the player does what is asked about Good: {deed}.",
        "The takeover itself does not count. A diagonal step counts as one cell, also across "
        "the edges of the board. Once the player is four cells away, it has left Good, even if "
        "it comes back.",
        version="2",
    )
    shortcut = staticmethod(_move_away)
    options = {
        "beside": PairOption(
            "never be on its cell and never more than two cells away from it until the end",
            _KEEP_BESIDE.judge,
            _KEEP_BESIDE.solver,
            {},
        ),
        "leave": PairOption("get at least four cells away from it", _judge_leaving, _move_away, {}),
    }

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps next to Good at which standing still does neither."""
        steps, difficulty = _KEEP_BESIDE.find(batch, context, horizon)
        stays = _judge_leaving(steps.stand_still(), {}) == 0
        return steps.filter(stays), difficulty[stays]

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why the player cannot stay near Good; else None."""
        return _KEEP_BESIDE.why_invalid(track, scenario)


CATEGORY = BesideOrLeave().build()
