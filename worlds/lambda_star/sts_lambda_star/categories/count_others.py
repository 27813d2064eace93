"""count-others: say how many other players are in sight.

Asked if the number has changed since the last step and is at most four. Easy: none or one; medium:
two; hard: more.
"""

import numpy as np

from sts_scenarios.plugin import CandidateColumns, ControlPolicies, Rubric

from .batches import StepBatch, TrackBatch
from .builders import build_question
from .policies import History, make_speaker
from .screening import COUNTS, make_hits
from .tracks import FIRST_PLAYER, SIGHT, Track, distances, show_sight

MAX_COUNT = 4
ANSWERS = tuple(str(n) for n in range(MAX_COUNT + 1))


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps at which another player has come into sight or left it."""
    crowd = batch.count_others()
    changed = np.zeros(crowd.shape, np.bool_)
    changed[:, 1:] = (crowd[:, 1:] != crowd[:, :-1]) & (crowd[:, 1:] <= MAX_COUNT)
    steps = StepBatch.select(batch, changed, context, horizon)
    count = steps.values_at(crowd)
    return make_hits(steps, np.where(count < 2, 0, np.where(count == 2, 1, 2)), COUNTS, count)


def _count_now(history: History) -> str:
    return str(min(len(history.others[history.asked_frame]), 8))


def _count_before(history: History) -> str:
    """Return how many other players were in sight one step before."""
    return str(min(len(history.others[history.asked_frame - 1]), 8))


def true_answer(track: Track) -> str:
    """Return how many other players are in sight."""
    near = distances(track.scene[-1, FIRST_PLAYER:], int(track.me[-1]), track.size) <= SIGHT
    return str(near.sum() - 1)  # without the player itself


CATEGORY = build_question(
    "count-others",
    (
        "How many other players are on your cell or next to you now? Say a number from 0 to 8.",
        "How many other players do you see now? Say a number from 0 to 8.",
        "Count the other players on your cell and next to you. Say the number, from 0 to 8.",
    ),
    find_steps,
    true_answer,
    earlier_templates=(
        "How many other participants are on your cell or next to you right now? Say a number from "
        "0 to 8.",
        "How many other participants do you see right now? Answer with a number from 0 to 8.",
        "Count the other participants in sight, on your cell or next to you, and say the number.",
    ),
    rubric=Rubric(
        success_criterion=(
            "The first word that the player says after the takeover is the number of other players "
            "in the framed square at the takeover."
        ),
        edge_cases=(
            "Good and Evil are not players. If several players share a cell, each of them counts. "
            "What changes after the takeover does not matter. Saying nothing counts as not "
            "completed."
        ),
        overlay=show_sight,
        version="2",
    ),
    controls=ControlPolicies(
        solver=make_speaker(_count_now), shortcut=make_speaker(_count_before), answers=ANSWERS
    ),
)
