"""where-is-good: say in which direction Good is at the takeover.

Asked if Good is in sight. Difficulty rises by one level if anything else is in sight, and by one if
Good is across the grid's edge.
"""

from sts.plugin import Scenario
from sts_lambda_star import torus
from sts_lambda_star.state import MOVES
from sts_scenarios.plugin import CandidateColumns, ControlPolicies, Rubric

from .batches import StepBatch, TrackBatch
from .builders import build_question
from .policies import History, make_speaker, move_towards
from .screening import DIRECTIONS, make_hits
from .tracks import SIGHT, Track, show_sight


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find every step with Good in sight."""
    steps = StepBatch.select(batch, batch.to_good <= SIGHT, context, horizon)
    me, good = steps.values_at(batch.me), steps.values_at(batch.good)
    crowded = (steps.values_at(batch.to_evil) <= SIGHT) | (
        steps.values_at(batch.count_others()) > 0
    )
    width = batch.size[1]
    rows, columns = abs(me // width - good // width), abs(me % width - good % width)
    across = (rows > SIGHT) | (columns > SIGHT)
    return make_hits(steps, 1 * crowded + across, DIRECTIONS, batch.move_towards(me, good))


def _direction_of_good(history: History) -> str:
    return MOVES[move_towards(history, history.good[history.asked_frame])]


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    return None if track.to_good[-1] <= SIGHT else "Good is not in sight at the takeover"


def true_answer(track: Track) -> str:
    """Return Good's direction from the player."""
    return MOVES[int(torus.first_move(track.me[-1], track.good[-1], *track.size, torus.TIE_BACK))]


CATEGORY = build_question(
    "where-is-good",
    (
        "Where is Good? Say its direction from you, or stay if you are on its cell.",
        "In which direction is Good from you? Say stay if you are on its cell.",
        "Which way is Good from you? Say a direction, or stay if you are on its cell.",
    ),
    find_steps,
    true_answer,
    why_invalid=_why_invalid,
    earlier_templates=(
        "In which direction is Good from you? Say stay if you are on it.",
        "Where is Good, seen from your cell? Answer with a direction, or stay if you are on it.",
        "Which way is Good right now? If you stand on it, say stay.",
    ),
    rubric=Rubric(
        success_criterion=(
            "The first word that the player says after the takeover is the direction from the "
            "player to Good at the takeover, or stay if they were on the same cell."
        ),
        edge_cases=(
            "Only their cells at the takeover matter, even if the player answers later. Good may "
            "be next to the player across the edge of the board. Saying nothing counts as not "
            "completed."
        ),
        overlay=show_sight,
        version="2",
    ),
    controls=ControlPolicies(solver=make_speaker(_direction_of_good), answers=tuple(MOVES)),
)
