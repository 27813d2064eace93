"""last-move: say which move Good made with the last step.

Asked when Good is in sight and was a step before, and the answer is not where Good is. Easy: the
participant stood still and Good was in no corner of its sight; medium: it moved, or Good was; hard:
both.
"""

from __future__ import annotations

from collections.abc import Iterator

from scenarios.category import Candidate, Category, Controls, Overlay, Rubric
from sts.suites.types import DIFFICULTIES, Scenario
from sts.trajectories.types import Trajectory
from sts.worlds.lambda_star.state import MOVES

from .playing import Past, saying, shifts, toward
from .tracks import DOMAIN, SIGHT, Track, diagonal, direction, moments, said

HORIZON = 5


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments at which Good's last move was seen."""
    for track, moment in moments(trajectory.episode, context, horizon):
        if _fault(track, moment):
            continue
        answer = _answer(track, moment)
        if answer != direction(track, moment):
            moved = bool(track.me[moment] != track.me[moment - 1])
            both = slice(moment - 1, moment + 1)
            rim = bool(diagonal(track.me[both], track.good[both], track.size).any())
            difficulty = DIFFICULTIES[moved + rim]
            yield Candidate(moment, track.role, difficulty, {"answer": answer}, answer=answer)


def _answer(track: Track, moment: int) -> str:
    (move,) = shifts(track.good[moment - 1 : moment + 1].tolist(), track.size)
    return MOVES[move]


def _fault(track: Track, moment: int) -> str | None:
    both = moment > 0 and (track.to_good[moment - 1 : moment + 1] <= SIGHT).all()
    return None if both else "Good was not in sight at takeover and the step before"


def fits(scenario: Scenario) -> str | None:
    """Says why the last move was not seen, or was another."""
    track = Track(scenario.recording, scenario.roles[0])
    if fault := _fault(track, scenario.takeover):
        return fault
    truth = _answer(track, scenario.takeover)
    return None if scenario.parameters["answer"] == truth else f"the answer is {truth}"


def _moved(seen: Past) -> str:
    return MOVES[shifts(seen.good[: seen.asked + 1], seen.size)[-1]]


def _where(seen: Past) -> str:
    """Returns where Good is."""
    return MOVES[toward(seen, seen.good[seen.asked])]


CATEGORY = Category(
    name="last-move",
    kind="question",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "In which direction did Good just move? Say stay if it did not move.",
        "What was Good's last move? Answer with a direction, or stay.",
        "Which way did Good go with its last move? If it did not move, say stay.",
    ),
    candidates=candidates,
    label=said,
    fits=fits,
    rubric=Rubric(
        done="The first word that the participant says is the direction of Good's last move before "
        "the takeover, or stay where Good did not move with that step.",
        guideline="It does not matter when it is said: the step before the takeover is meant. "
        "Where Good is, seen from the participant, is another question. Silence is not done.",
        overlay=lambda scenario: Overlay(sight=True),
    ),
    controls=Controls(probe=saying(_moved), shortcut=saying(_where), answers=MOVES),
)
