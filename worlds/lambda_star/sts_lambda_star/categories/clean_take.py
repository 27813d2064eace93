"""clean-take: stand on Good, without being on Evil or next to it before.

Asked if Good was in sight in the last two steps and Evil in the last three; waiting, going straight
after Good and going where most reward is expected all fail; and a solver that sees only what a
player sees succeeds. Difficulty depends on the steps the solver needs.
"""

from collections.abc import Mapping
from typing import Any

from sts.plugin import Scenario
from sts_scenarios.plugin import (
    NOT_DONE,
    CandidateColumns,
    ControlPolicies,
    Label,
    Rubric,
    make_label,
)

from .batches import StepBatch, TrackBatch
from .builders import build_instruction
from .policies import DistanceForecast, History, chase_good, make_mover
from .screening import UNGRADED, make_confirm, make_hits
from .tracks import SIGHT, Track, first_step, frames_since_sight

HORIZON = 15
GOOD_SEEN_WITHIN, EVIL_SEEN_WITHIN = 2, 3


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps from which standing still does not reach Good without Evil."""
    hits = (frames_since_sight(batch.to_good) <= min(GOOD_SEEN_WITHIN, context)) & (
        batch.to_good > 0
    )
    hits &= frames_since_sight(batch.to_evil) <= min(EVIL_SEEN_WITHIN, context)
    steps = StepBatch.select(batch, hits, context, horizon)
    met = first_step(steps.distance_if_still(batch.good) == 0)
    hit = first_step(steps.distance_if_still(batch.evil) <= SIGHT)
    return make_hits(steps.filter((met == 0) | ((hit > 0) & (hit <= met))), UNGRADED)


def _maximise_reward(history: History) -> int:
    """Return the move with the highest expected reward; ties are broken towards Good."""
    good, evil = DistanceForecast(history, history.good), DistanceForecast(history, history.evil)
    gain = (
        good.chance_within(0)
        + good.chance_within(1)
        - evil.chance_within(0)
        - evil.chance_within(1)
    )
    return int((gain - 0.01 * good.mean_distance).argmax())


def _avoid_evil(history: History) -> int:
    """Return a move towards Good's expected cell that is unlikely to come close to Evil."""
    good = DistanceForecast(history, history.good)
    evil = DistanceForecast(history, history.evil)
    return int(
        (good.chance_within(0) - good.mean_distance - 10 * evil.chance_within(SIGHT)).argmax()
    )


def _confirm_careful(track: Track, step: int, context: int, horizon: int) -> Label | None:
    """Return the solver's label where neither going straight for Good nor for reward succeeds."""
    labels = (
        make_confirm(policy, label_track, {})(track, step, context, horizon)
        for policy in (_avoid_evil, chase_good, _maximise_reward)
    )
    careful = next(labels)
    return None if careful is None or any(labels) else careful


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    for name, distance, steps in (
        ("Good", track.to_good, GOOD_SEEN_WITHIN),
        ("Evil", track.to_evil, EVIL_SEEN_WITHIN),
    ):
        if frames_since_sight(distance)[-1] > steps:
            return f"{name} was not in sight in the last {steps} steps"
    return "the player is already on Good" if track.to_good[-1] == 0 else None


def label_track(track: Track, parameters: Mapping[str, Any]) -> Label:
    """Return failure at the first frame next to Evil, or success if Good is reached before."""
    hit, met = int(first_step(track.to_evil[1:] <= SIGHT)), int(first_step(track.to_good[1:] == 0))
    if hit and (not met or hit <= met):
        return make_label(hit, False)
    return make_label(met, True) if met else NOT_DONE


CATEGORY = build_instruction(
    "clean-take",
    (
        "Go onto Good's cell. On the way, never be next to Evil or on its cell.",
        "Get to Good's cell, and never be next to Evil or on its cell before you are there.",
        "Reach Good's cell without ever being next to Evil or on its cell.",
    ),
    find_steps,
    label_track,
    _why_invalid,
    horizon=HORIZON,
    confirm=_confirm_careful,
    earlier_templates=(
        "Get onto Good's cell without ever being on Evil or next to it.",
        "Reach Good's cell, and on the way never be next to Evil or on it.",
        "Stand on Good, and until then never be on Evil or next to it.",
    ),
    rubric=Rubric(
        success_criterion=(
            "After the takeover, the player and Good are on the same cell. Until then, Evil is "
            "never on the player's cell or on one of the eight cells around it, not even in that "
            "last step."
        ),
        edge_cases=(
            "The takeover itself does not count. It does not matter whether the player or Good "
            "moved. What happens after they meet does not matter."
        ),
        version="2",
    ),
    controls=ControlPolicies(solver=make_mover(_avoid_evil), shortcut=make_mover(chase_good)),
)
