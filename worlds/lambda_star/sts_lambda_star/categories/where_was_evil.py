"""Category where-was-evil."""

from typing import Any

from sts.plugin import Scenario
from sts_lambda_star.state import MOVES
from sts_scenarios.plugin import Overlay, Rubric

from .batches import StepBatch, TrackBatch
from .grid_category import GradedSteps, QuestionCategory
from .policies import HIDDEN, STAY, History, find_last_sighting, move_towards
from .tracks import NEVER, NONE, Track, directions, frames_since_sight, track_until_takeover

MIN_STEPS_AGO, MAX_STEPS_AGO = 2, 8
EASY_STEPS = 4
BACKTRACK_STEPS = (3, 5)
"""The direction to the player's own cell of so many steps ago must not be the answer."""


def _last_seen_cell(track: Track) -> int:
    """Return the cell where Evil was last in sight, or its current cell if it never was."""
    gone = frames_since_sight(track.to_evil)[-1]
    return int(track.evil[-1 - (gone if gone < NEVER else 0)])


def _mark_cell(scenario: Scenario) -> Overlay:
    return Overlay((_last_seen_cell(track_until_takeover(scenario)),), player_view=True)


class WhereWasEvil(QuestionCategory):
    """Say in which direction the cell is where Evil was last in sight.

    Asked two to eight steps after, if that cell is the player's own or in a straight or exactly
    diagonal direction, but not in the direction of the player's own cell three or five steps ago.
    Difficulty rises by one level after more than four steps, and by one if Evil was diagonally next
    to the player.
    """

    name = "where-was-evil"
    templates = (
        "Where did you last see Evil? Say the direction of that cell from you, or stay if you are "
        "on it.",
        "In which direction from you is the cell where you last saw Evil? Say stay if you are on "
        "it.",
        "Which way is the cell where Evil was when you last saw it? Say a direction, or stay if "
        "you are on it.",
    )
    earlier_templates = (
        "In which direction from you is the cell where Evil was when you last saw it? Say stay if "
        "you are on that cell.",
        "Where did you last see Evil? Answer with the direction of that cell from you, or stay if "
        "you are on it.",
        "Which way is the cell on which Evil was last in your sight? If you stand on it, say stay.",
    )
    rubric = Rubric(
        "The first word that the player says after the takeover is the direction from the "
        "player's cell at the takeover to the marked cell, or stay if it was on that cell. The "
        "marked cell is where Evil was when it was last in the framed square.",
        "Where Evil is now does not matter. If there are two ways around the board, the "
        "shorter one counts. Saying nothing counts as not completed.",
        overlay=_mark_cell,
        version="2",
    )

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps at which Evil was last seen elsewhere, a while ago."""
        unseen = batch.since_evil
        hits = (unseen >= MIN_STEPS_AGO) & (unseen <= min(MAX_STEPS_AGO, context))
        steps = StepBatch.select(batch, hits, context, horizon)
        steps = steps.filter(self.answer(steps) != NONE)
        for ago in BACKTRACK_STEPS:
            back = batch.direction(steps.values_at(batch.me), steps.values_at(batch.me, -ago))
            steps = steps.filter(back != self.answer(steps))
        ago = steps.values_at(unseen)
        rim = batch.is_diagonal(steps.values_at(batch.me, -ago), steps.values_at(batch.evil, -ago))
        return steps, 1 * (ago > EASY_STEPS) + rim

    def answer(self, steps: StepBatch) -> Any:
        """Return int[N], the direction of the cell where Evil was last in sight, as a move."""
        batch = steps.tracks
        last_cell = steps.values_at(batch.evil, -steps.values_at(batch.since_evil))
        return batch.direction(steps.values_at(batch.me), last_cell)

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why there is no single answer from memory; else None."""
        if not MIN_STEPS_AGO <= frames_since_sight(track.to_evil)[-1] <= MAX_STEPS_AGO:
            return f"Evil was not last in sight {MIN_STEPS_AGO} to {MAX_STEPS_AGO} steps ago"
        if directions(track.me[-1], _last_seen_cell(track), track.size) == NONE:
            return "the cell is neither in a straight nor in a diagonal line from the player"
        return None

    def solver(self, history: History) -> str:
        """Return the direction of the cell where Evil was last in sight."""
        cell = find_last_sighting(history.evil[: history.asked_frame + 1])[0]
        return MOVES[STAY if cell == HIDDEN else move_towards(history, cell)]

    def shortcut(self, history: History) -> str:
        """Return the direction to the player's own cell of a few steps ago."""
        before = max(0, history.asked_frame - BACKTRACK_STEPS[0])
        return MOVES[move_towards(history, history.me[before])]


CATEGORY = WhereWasEvil().build()
