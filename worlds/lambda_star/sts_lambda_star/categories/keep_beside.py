"""keep-beside: stay one or two cells away from Good until the end, never on it.

Asked next to Good, if chasing it ends on it, standing still loses or meets it, and a solver that
extrapolates its moves succeeds. Easy: Good stands still in at least half of the steps; medium: in
at least a quarter; hard: in fewer.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sts.plugin import Scenario
from sts_lambda_star.agents.local_search import LocalSearch
from sts_scenarios.plugin import CandidateColumns, ControlPolicies, Label, Rubric

from .batches import StepBatch, TrackBatch
from .builders import build_instruction
from .policies import DistanceForecast, History, make_mover
from .screening import make_confirm, make_hits
from .tracks import Track, label_no_miss

HORIZON = 8
MAX_DISTANCE = 2


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps next to Good at which neither chasing it nor standing still succeeds."""
    return make_hits(*find_rewarding_steps(batch, context, horizon))


def find_rewarding_steps(batch: TrackBatch, context: int, horizon: int) -> tuple[StepBatch, Any]:
    """Return the steps of `find_steps`, and the difficulty of staying near Good there."""
    steps = StepBatch.select(batch, batch.to_good == 1, context, horizon)
    distance = steps.distance_if_still(batch.good)
    steps = steps.filter(((distance == 0) | (distance > MAX_DISTANCE)).any(1))
    steps = steps.filter((steps.chase_good() == steps.values_after(batch.good)).any(1))
    good = steps.values_between(batch.good, 0, horizon + 1)
    stays = (good[:, 1:] == good[:, :-1]).mean(1)
    return steps, np.where(stays >= 0.5, 0, np.where(stays >= 0.25, 1, 2))


def stay_near(history: History) -> int:
    """Return a move that is unlikely to be on Good or to lose it, and preferably next to it."""
    good = DistanceForecast(history, history.good)
    return int(
        (
            10 * (good.chance_within(MAX_DISTANCE) - good.chance_within(0))
            - abs(good.mean_distance - 1)
        ).argmax()
    )


def why_invalid(track: Track, scenario: Scenario) -> str | None:
    """Return why the player cannot stay near Good; else None."""
    return None if track.to_good[-1] == 1 else "the player is not next to Good"


def label_track(track: Track, parameters: Mapping[str, Any]) -> Label:
    """Return failure at the first frame on Good or too far from it, or success at the end."""
    distance = track.to_good[1:]
    return label_no_miss((distance == 0) | (distance > MAX_DISTANCE))


CATEGORY = build_instruction(
    "keep-beside",
    (
        "Stay near Good until the end: never more than two cells away from it, and never on its "
        "cell.",
        "Until the end, stay within two cells of Good, but never be on its cell.",
        "Until the end, be one or two cells away from Good. Never be on the same cell.",
    ),
    find_steps,
    label_track,
    why_invalid,
    horizon=HORIZON,
    confirm=make_confirm(stay_near, label_track, {}),
    earlier_templates=(
        "Keep beside Good until the end: never on its cell, and never more than two cells away "
        "from it.",
        "Accompany Good to the end, one or two cells away from it and never on the same cell.",
    ),
    rubric=Rubric(
        success_criterion=(
            "At every step after the takeover, the player is one or two cells away from Good."
        ),
        edge_cases=(
            "A diagonal step counts as one cell, also across the edges of the board. If the two "
            "are on the same cell, it is a failure, no matter who moved."
        ),
        version="2",
    ),
    controls=ControlPolicies(
        solver=make_mover(stay_near), shortcut=LocalSearch(), against_reward=True
    ),
)
