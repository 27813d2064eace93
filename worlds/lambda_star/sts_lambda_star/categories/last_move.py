"""last-move: say which move Good made in the last step.

Asked if Good is in sight and was one step before, and the answer differs from Good's direction.
Difficulty rises by one level if the player moved, and by one if Good was diagonally next to it.
"""

from sts.plugin import Scenario
from sts_lambda_star.state import MOVES
from sts_scenarios.plugin import CandidateColumns, ControlPolicies, Rubric

from .batches import StepBatch, TrackBatch
from .builders import build_question
from .policies import History, make_speaker, move_towards, moves_between
from .screening import DIRECTIONS, make_hits
from .tracks import SIGHT, Track, show_sight


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps at which Good's last move was seen."""
    near = batch.to_good <= SIGHT
    near[:, 1:] &= near[:, :-1]
    near[:, 0] = False
    steps = StepBatch.select(batch, near, context, horizon)
    me, good = steps.values_between(batch.me, -1, 1), steps.values_between(batch.good, -1, 1)
    move = batch.move_towards(good[:, 0], good[:, 1])
    rim = batch.is_diagonal(me, good).any(1)
    difficulty = 1 * (me[:, 0] != me[:, 1]) + rim
    differs = move != batch.move_towards(me[:, 1], good[:, 1])
    return make_hits(steps.filter(differs), difficulty[differs], DIRECTIONS, move[differs])


def _last_move(history: History) -> str:
    return MOVES[moves_between(history.good[: history.asked_frame + 1], history.size)[-1]]


def _direction_of_good(history: History) -> str:
    """Return Good's direction from the player."""
    return MOVES[move_towards(history, history.good[history.asked_frame])]


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    both = len(track.me) > 1 and (track.to_good[-2:] <= SIGHT).all()
    return None if both else "Good was not in sight at the takeover and one step before"


def true_answer(track: Track) -> str:
    """Return Good's last move."""
    (move,) = moves_between(track.good[-2:].tolist(), track.size)
    return MOVES[move]


CATEGORY = build_question(
    "last-move",
    (
        "In which direction did Good just move? Say stay if it did not move.",
        "What was Good's last move? Say a direction, or stay if it did not move.",
        "Which way did Good go in its last move? If it did not move, say stay.",
    ),
    find_steps,
    true_answer,
    why_invalid=_why_invalid,
    earlier_templates=(
        "What was Good's last move? Answer with a direction, or stay.",
        "Which way did Good go with its last move? If it did not move, say stay.",
    ),
    rubric=Rubric(
        success_criterion=(
            "The first word that the player says after the takeover is the direction of Good's "
            "move in the last step before the takeover, or stay if Good did not move in it."
        ),
        edge_cases=(
            "Only that step matters, even if the player answers later. The question is how Good "
            "moved, not where it is. Saying nothing counts as not completed."
        ),
        overlay=show_sight,
        version="2",
    ),
    controls=ControlPolicies(
        solver=make_speaker(_last_move), shortcut=make_speaker(_direction_of_good), answers=MOVES
    ),
)
