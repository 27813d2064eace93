"""Category evade-or-shadow."""

from sts.plugin import Scenario
from sts_scenarios.plugin import Rubric

from .batches import StepBatch, TrackBatch
from .evade_evil import SEEN_WITHIN, EvadeEvil, why_unseen
from .grid_category import GradedSteps, PairCategory, PairOption
from .policies import chase_evil
from .shadow_evil import STEPS, ShadowEvil
from .tracks import Track

MAX_DISTANCE = 2
_EVADE, _SHADOW = EvadeEvil(), ShadowEvil()


class EvadeOrShadow(PairCategory):
    """A contrast pair, to keep away from Evil or to stay next to it.

    Asked if Evil was in sight in the last two steps, is at most two cells away and moves in at
    least half of the steps; standing still does neither, repeating at most three of the nine moves
    keeps away, and a solver that sees only what a player sees can do both. Difficulty is as in
    `evade-evil`.
    """

    name = "evade-or-shadow"
    templates = (
        "Evil is near you. Your task: {deed}.",
        "Your task is about Evil: {deed}.",
        "About Evil: {deed}.",
    )
    earlier_templates = (
        "Here is what to do about Evil: {deed}.",
        "Evil is at hand: {deed}.",
        "This is about Evil: {deed}.",
    )
    horizon = 12
    rubric = Rubric(
        "After the takeover, the player does what is asked about Evil: {deed}.",
        "The takeover itself does not count. Next to it means on one of the eight cells around "
        "it, also across the edges of the board. In a row means without a break.",
        version="2",
    )
    options = {
        "evade": PairOption(
            "never be on it or next to it until the end", _EVADE.judge, _EVADE.solver, {}
        ),
        "shadow": PairOption(
            f"be on it or next to it for {STEPS} steps in a row",
            _SHADOW.judge,
            _SHADOW.solver,
            {"steps": STEPS},
        ),
    }
    shortcut = staticmethod(chase_evil)

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps close to Evil at which standing still does neither."""
        lately = batch.since_evil <= min(SEEN_WITHIN, context)
        near = (batch.to_evil > 0) & (batch.to_evil <= MAX_DISTANCE)
        steps = StepBatch.select(batch, lately & near, context, horizon)
        steps = steps.filter(steps.is_moving(batch.evil))
        still = steps.stand_still()
        caught = _EVADE.judge_steps(still) < 0
        return _EVADE.find_evadable(steps.filter(caught & (_SHADOW.judge_steps(still) == 0)))

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why Evil is not where it can be fled from and followed; else None."""
        if scenario.parameters["asked"] not in self.options:
            return "this instruction is not an option of the category"
        if not 0 < track.to_evil[-1] <= MAX_DISTANCE:
            return f"Evil is not one to {MAX_DISTANCE} cells away"
        return why_unseen(track)


CATEGORY = EvadeOrShadow().build()
