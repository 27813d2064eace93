"""where-was-evil: say in which direction the cell is where Evil was last in sight.

Asked two to eight steps after, if that cell is the player's own or in a straight or exactly
diagonal direction, but not in the direction of the player's own cell three or five steps ago.
Difficulty rises by one level after more than four steps, and by one if Evil was diagonally next to
the player.
"""

from typing import Any

from sts.plugin import Scenario
from sts_lambda_star.state import MOVES
from sts_scenarios.plugin import CandidateColumns, ControlPolicies, Overlay, Rubric

from .batches import StepBatch, TrackBatch
from .builders import build_question
from .policies import HIDDEN, STAY, History, find_last_sighting, make_speaker, move_towards
from .screening import DIRECTIONS, make_hits
from .tracks import NEVER, NONE, Track, directions, frames_since_sight, track_until_takeover

MIN_STEPS_AGO, MAX_STEPS_AGO = 2, 8
EASY_STEPS = 4
BACKTRACK_STEPS = (3, 5)
"""The direction to the player's own cell of so many steps ago must not be the answer."""


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps at which Evil was last seen elsewhere, a while ago."""
    unseen = frames_since_sight(batch.to_evil)
    hits = (unseen >= MIN_STEPS_AGO) & (unseen <= min(MAX_STEPS_AGO, context))
    steps = StepBatch.select(batch, hits, context, horizon)

    def answers(steps: StepBatch) -> Any:
        return batch.direction(
            steps.values_at(batch.me), steps.values_at(batch.evil, -steps.values_at(unseen))
        )

    steps = steps.filter(answers(steps) != NONE)
    for ago in BACKTRACK_STEPS:
        back = batch.direction(steps.values_at(batch.me), steps.values_at(batch.me, -ago))
        steps = steps.filter(back != answers(steps))
    ago = steps.values_at(unseen)
    rim = batch.is_diagonal(steps.values_at(batch.me, -ago), steps.values_at(batch.evil, -ago))
    return make_hits(steps, 1 * (ago > EASY_STEPS) + rim, DIRECTIONS, answers(steps))


def _direction_of_last_sight(history: History) -> str:
    cell = find_last_sighting(history.evil[: history.asked_frame + 1])[0]
    return MOVES[STAY if cell == HIDDEN else move_towards(history, cell)]


def _direction_back(history: History) -> str:
    """Return the direction to the player's own cell of a few steps ago."""
    return MOVES[
        move_towards(history, history.me[max(0, history.asked_frame - BACKTRACK_STEPS[0])])
    ]


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    if not MIN_STEPS_AGO <= frames_since_sight(track.to_evil)[-1] <= MAX_STEPS_AGO:
        return f"Evil was not last in sight {MIN_STEPS_AGO} to {MAX_STEPS_AGO} steps ago"
    if directions(track.me[-1], _last_seen_cell(track), track.size) == NONE:
        return "the cell is neither in a straight nor in a diagonal line from the player"
    return None


def _last_seen_cell(track: Track) -> int:
    """Return the cell where Evil was last in sight, or its current cell if it never was."""
    gone = frames_since_sight(track.to_evil)[-1]
    return int(track.evil[-1 - (gone if gone < NEVER else 0)])


def true_answer(track: Track) -> str:
    """Return the direction of the cell where Evil was last in sight."""
    return MOVES[directions(track.me[-1], _last_seen_cell(track), track.size)]


def _mark_cell(scenario: Scenario) -> Overlay:
    return Overlay((_last_seen_cell(track_until_takeover(scenario)),), player_view=True)


CATEGORY = build_question(
    "where-was-evil",
    (
        "Where did you last see Evil? Say the direction of that cell from you, or stay if you are "
        "on it.",
        "In which direction from you is the cell where you last saw Evil? Say stay if you are on "
        "it.",
        "Which way is the cell where Evil was when you last saw it? Say a direction, or stay if "
        "you are on it.",
    ),
    find_steps,
    true_answer,
    why_invalid=_why_invalid,
    earlier_templates=(
        "In which direction from you is the cell where Evil was when you last saw it? Say stay if "
        "you are on that cell.",
        "Where did you last see Evil? Answer with the direction of that cell from you, or stay if "
        "you are on it.",
        "Which way is the cell on which Evil was last in your sight? If you stand on it, say stay.",
    ),
    rubric=Rubric(
        success_criterion=(
            "The first word that the player says after the takeover is the direction from the "
            "player's cell at the takeover to the marked cell, or stay if it was on that cell. The "
            "marked cell is where Evil was when it was last in the framed square."
        ),
        edge_cases=(
            "Where Evil is now does not matter. If there are two ways around the board, the "
            "shorter one counts. Saying nothing counts as not completed."
        ),
        overlay=_mark_cell,
        version="2",
    ),
    controls=ControlPolicies(
        solver=make_speaker(_direction_of_last_sight),
        shortcut=make_speaker(_direction_back),
        answers=MOVES,
    ),
)
