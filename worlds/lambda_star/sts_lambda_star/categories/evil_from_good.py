"""evil-from-good: say in which direction Evil is, seen from Good.

Asked if both are in sight, on different cells, in a straight or exactly diagonal line, and the
answer differs from Evil's direction as seen from the player. Difficulty rises by one level if
another player is in sight or the grid's edge lies between the two, and by one if either is
diagonally next to the player.
"""

from sts.plugin import Scenario
from sts_lambda_star import torus
from sts_lambda_star.state import MOVES
from sts_scenarios.plugin import CandidateColumns, ControlPolicies, Rubric

from .batches import StepBatch, TrackBatch
from .builders import build_question
from .policies import STAY, History, make_speaker, move_towards
from .screening import DIRECTIONS, make_hits
from .tracks import NONE, SIGHT, Track, directions, show_sight

ANSWERS = tuple(move for move in MOVES if move != "stay")


def find_steps(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
    """Find steps with Good and Evil in sight."""
    both = (batch.to_good <= SIGHT) & (batch.to_evil <= SIGHT)
    steps = StepBatch.select(batch, both, context, horizon)
    answer = batch.direction(steps.values_at(batch.good), steps.values_at(batch.evil))
    hits = (answer != NONE) & (
        answer != batch.direction(*map(steps.values_at, (batch.me, batch.evil)))
    )
    steps = steps.filter(hits)
    me, good, evil = (steps.values_at(cells) for cells in (batch.me, batch.good, batch.evil))
    height, width = batch.size
    rows, columns = abs(good // width - evil // width), abs(good % width - evil % width)
    confusing = (
        (2 * rows > height) | (2 * columns > width) | (steps.values_at(batch.count_others()) > 0)
    )
    rim = batch.is_diagonal(me, good) | batch.is_diagonal(me, evil)
    return make_hits(steps, 1 * confusing + rim, DIRECTIONS, answer[hits])


def _direction_from_good(history: History) -> str:
    good, evil = history.good[history.asked_frame], history.evil[history.asked_frame]
    return MOVES[int(torus.first_move(good, evil, *history.size, torus.TIE_BACK))]


def _direction_from_self(history: History) -> str:
    """Return Evil's direction from the player."""
    move = move_towards(history, history.evil[history.asked_frame])
    return ANSWERS[0] if move == STAY else MOVES[move]


def _why_invalid(track: Track, scenario: Scenario) -> str | None:
    if track.to_good[-1] > SIGHT or track.to_evil[-1] > SIGHT:
        return "Good and Evil are not both in sight"
    apart = directions(track.good[-1], track.evil[-1], track.size)
    return (
        "Evil is neither in a straight nor in a diagonal line from Good" if apart == NONE else None
    )


def true_answer(track: Track) -> str:
    """Return Evil's direction from Good."""
    return MOVES[directions(track.good[-1], track.evil[-1], track.size)]


CATEGORY = build_question(
    "evil-from-good",
    (
        "Where is Evil, seen from Good? Say a direction.",
        "Seen from Good's cell, in which direction is Evil?",
        "Say in which direction Evil is from Good.",
    ),
    find_steps,
    true_answer,
    why_invalid=_why_invalid,
    earlier_templates=(
        "In which direction is Evil, seen from Good?",
        "Seen from Good's cell, which way is Evil? Answer with a direction.",
        "Say in which direction Evil lies from Good.",
    ),
    rubric=Rubric(
        success_criterion=(
            "The first word that the player says after the takeover is the direction from Good to "
            "Evil at the takeover."
        ),
        edge_cases=(
            "Only their cells at the takeover matter, even if the player answers later. If there "
            "are two ways around the board, the shorter one counts. Saying nothing counts as not "
            "completed."
        ),
        overlay=show_sight,
        version="2",
    ),
    controls=ControlPolicies(
        solver=make_speaker(_direction_from_good),
        shortcut=make_speaker(_direction_from_self),
        answers=ANSWERS,
    ),
)
