"""Category evil-from-good."""

from typing import Any

from sts.plugin import Scenario
from sts_lambda_star import torus
from sts_lambda_star.state import MOVES
from sts_scenarios.plugin import Rubric

from .batches import StepBatch, TrackBatch
from .grid_category import GradedSteps, QuestionCategory
from .policies import STAY, History, move_towards
from .tracks import NONE, SIGHT, Track, directions, show_sight


class EvilFromGood(QuestionCategory):
    """Say in which direction Evil is, seen from Good.

    Asked if both are in sight, on different cells, in a straight or exactly diagonal line, and the
    answer differs from Evil's direction as seen from the player. Difficulty rises by one level if
    another player is in sight or the grid's edge lies between the two, and by one if either is
    diagonally next to the player.
    """

    name = "evil-from-good"
    templates = (
        "Where is Evil, seen from Good? Say a direction.",
        "Seen from Good's cell, in which direction is Evil?",
        "Say in which direction Evil is from Good.",
    )
    earlier_templates = (
        "In which direction is Evil, seen from Good?",
        "Seen from Good's cell, which way is Evil? Answer with a direction.",
        "Say in which direction Evil lies from Good.",
    )
    rubric = Rubric(
        "The first word that the player says after the takeover is the direction from Good to "
        "Evil at the takeover.",
        "Only their cells at the takeover matter, even if the player answers later. If there "
        "are two ways around the board, the shorter one counts. Saying nothing counts as not "
        "completed.",
        overlay=show_sight,
        version="2",
    )
    answers = tuple(move for move in MOVES if move != "stay")

    def find(self, batch: TrackBatch, context: int, horizon: int) -> GradedSteps:
        """Find steps with Good and Evil in sight."""
        both = (batch.to_good <= SIGHT) & (batch.to_evil <= SIGHT)
        steps = StepBatch.select(batch, both, context, horizon)
        answer = self.answer(steps)
        from_player = batch.direction(*map(steps.values_at, (batch.me, batch.evil)))
        steps = steps.filter((answer != NONE) & (answer != from_player))
        me, good, evil = (steps.values_at(cells) for cells in (batch.me, batch.good, batch.evil))
        height, width = batch.size
        rows, columns = abs(good // width - evil // width), abs(good % width - evil % width)
        crowded = steps.values_at(batch.others_in_sight) > 0
        confusing = (2 * rows > height) | (2 * columns > width) | crowded
        rim = batch.is_diagonal(me, good) | batch.is_diagonal(me, evil)
        return steps, 1 * confusing + rim

    def answer(self, steps: StepBatch) -> Any:
        """Return int[N], Evil's direction from Good, as a move."""
        batch = steps.tracks
        return batch.direction(*map(steps.values_at, (batch.good, batch.evil)))

    def why_invalid(self, track: Track, scenario: Scenario) -> str | None:
        """Return why there is no single answer; else None."""
        if track.to_good[-1] > SIGHT or track.to_evil[-1] > SIGHT:
            return "Good and Evil are not both in sight"
        if directions(track.good[-1], track.evil[-1], track.size) == NONE:
            return "Evil is neither in a straight nor in a diagonal line from Good"
        return None

    def solver(self, history: History) -> str:
        """Return Evil's direction from Good."""
        good, evil = history.good[history.asked_frame], history.evil[history.asked_frame]
        return MOVES[int(torus.first_move(good, evil, *history.size, torus.TIE_BACK))]

    def shortcut(self, history: History) -> str:
        """Return Evil's direction from the player."""
        move = move_towards(history, history.evil[history.asked_frame])
        return self.answers[0] if move == STAY else MOVES[move]


CATEGORY = EvilFromGood().build()
