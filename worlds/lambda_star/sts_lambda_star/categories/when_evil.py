"""when-evil: say how many steps ago Evil was last in sight.

Asked if it is in sight or was at most eight steps ago. Difficulty rises by one level if that is
more than three steps ago, and by one if Evil was diagonally next to the player.
"""

from sts.plugin import Scenario
from sts_scenarios.plugin import CandidateColumns, ControlPolicies, Rubric

from .batches import StepBatch, TrackBatch
from .builders import build_question
from .policies import History, find_last_sighting, make_speaker
from .screening import COUNTS, make_hits
from .tracks import NEVER, Track, frames_since_sight, show_sight

MAX_STEPS, MORE = 8, "more"
ANSWERS = tuple(str(n) for n in range(MAX_STEPS + 1))
EASY_STEPS = 3


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps at which Evil has been in sight in the context."""
    unseen = frames_since_sight(batch.to_evil)
    steps = StepBatch.select(batch, unseen <= min(MAX_STEPS, context), context, horizon)
    ago = steps.values_at(unseen)
    rim = batch.is_diagonal(steps.values_at(batch.me, -ago), steps.values_at(batch.evil, -ago))
    return make_hits(steps, 1 * (ago > EASY_STEPS) + rim, COUNTS, ago)


def _format_steps(steps: int) -> str:
    return str(steps) if steps <= MAX_STEPS else MORE


def _steps_since_evil(history: History) -> str:
    return _format_steps(find_last_sighting(history.evil[: history.asked_frame + 1])[1])


def _steps_since_good(history: History) -> str:
    """Return how many steps ago Good was last in sight."""
    return _format_steps(find_last_sighting(history.good[: history.asked_frame + 1])[1])


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    return "Evil was never in sight" if frames_since_sight(track.to_evil)[-1] >= NEVER else None


def true_answer(track: Track) -> str:
    """Return how many steps ago Evil was last in sight."""
    return _format_steps(frames_since_sight(track.to_evil)[-1])


CATEGORY = build_question(
    "when-evil",
    (
        "How many steps ago did you last see Evil? Say a number from 0 to 8, or more.",
        "How long ago did you last see Evil? Say the number of steps, from 0 to 8, or more.",
        "When did you last see Evil? Say how many steps ago, from 0 to 8, or more.",
    ),
    find_steps,
    true_answer,
    why_invalid=_why_invalid,
    earlier_templates=(
        "How many steps is it since Evil was last on your cell or next to you? Answer 0 to 8, or "
        "more.",
        "How long ago, in steps, was Evil last in sight? Say 0 to 8, or more.",
    ),
    rubric=Rubric(
        success_criterion=(
            "The first word that the player says after the takeover is the number of steps from "
            "the last time that Evil was in the framed square to the takeover, or more if there "
            "are nine or more steps."
        ),
        edge_cases=(
            "0 means that Evil was in the square at the takeover. Steps after the takeover do not "
            "count, even if the player answers later. Saying nothing counts as not completed."
        ),
        overlay=show_sight,
        version="2",
    ),
    controls=ControlPolicies(
        solver=make_speaker(_steps_since_evil),
        shortcut=make_speaker(_steps_since_good),
        answers=ANSWERS,
    ),
)
