"""next-move: say which move Good will make next, after its moves have repeated themselves.

Asked when two whole periods of its moves have been seen, all of them, and it goes on so. Easy: it
repeats two moves, and was in no corner of the sight meanwhile; medium: more, or it was; hard: both.
"""

from __future__ import annotations

from collections.abc import Iterator

from scenarios.category import Candidate, Category, Controls, Rubric
from sts.suites.types import DIFFICULTIES, Scenario
from sts.trajectories.types import Trajectory
from sts.worlds.lambda_star.state import MOVES

from .playing import HIDDEN, Past, repeated, rhythm, saying, shifts
from .tracks import DOMAIN, Track, diagonal, moments, said

HORIZON = 5
SHORT = 2


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments at which Good's moves have repeated themselves in sight."""
    for track, moment in moments(trajectory.episode, context, horizon):
        period = rhythm(track, moment, context)
        (follows,) = shifts(track.good[moment : moment + 2].tolist(), track.size)
        if period and period[0] == follows:
            answer = MOVES[follows]
            frames = slice(moment - 2 * len(period), moment + 1)
            rim = diagonal(track.me[frames], track.good[frames], track.size).any()
            difficulty = DIFFICULTIES[(len(period) > SHORT) + bool(rim)]
            yield Candidate(moment, track.role, difficulty, {"answer": answer}, answer=answer)


def fits(scenario: Scenario) -> str | None:
    """Says why the next move cannot be told, or is another."""
    track = Track(scenario.recording, scenario.roles[0])
    period = rhythm(track, scenario.takeover, scenario.takeover)
    if period is None:
        return "Good's moves were not seen to repeat themselves"
    truth = MOVES[period[0]]
    return None if scenario.parameters["answer"] == truth else f"the answer is {truth}"


def _follows(seen: Past) -> str:
    period = repeated(shifts(seen.good[: seen.asked + 1], seen.size))
    return MOVES[period[0]] if period else "stay"


def _again(seen: Past) -> str:
    """Returns Good's last move."""
    move = shifts(seen.good[: seen.asked + 1], seen.size)[-1]
    return "stay" if move == HIDDEN else MOVES[move]


CATEGORY = Category(
    name="next-move",
    kind="question",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Good repeats its moves. In which direction will it move next? Say stay if it will not "
        "move.",
        "Which move will Good make next? Answer with a direction, or stay.",
        "Where will Good go with its next move? Say a direction, or stay if it will remain.",
    ),
    candidates=candidates,
    label=said,
    fits=fits,
    rubric=Rubric(
        done="The first word that the participant says is the direction of Good's first move after "
        "the takeover, or stay where Good does not move then.",
        guideline="It does not matter when it is said. A word about a later move is wrong. Silence "
        "is not done.",
    ),
    controls=Controls(probe=saying(_follows), shortcut=saying(_again), answers=MOVES),
)
