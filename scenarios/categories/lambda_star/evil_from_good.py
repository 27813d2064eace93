"""evil-from-good: say in which direction Evil is, seen from Good.

Asked when both are in sight, on different cells, straight or exactly diagonally from each other,
and the answer is not where Evil is from the participant. Easy: nobody else is in sight, the grid's
edge does not come between the two, and neither is in a corner of the sight; medium: one of them is,
or somebody is or the edge does; hard: both.
"""

from __future__ import annotations

from collections.abc import Iterator

from scenarios.category import Candidate, Category, Controls, Overlay, Rubric
from sts.suites.types import DIFFICULTIES, Scenario
from sts.trajectories.types import Trajectory
from sts.worlds.lambda_star import torus
from sts.worlds.lambda_star.state import MOVES

from .playing import STAY, Past, saying, toward
from .tracks import (
    DOMAIN,
    FIRST,
    SIGHT,
    Track,
    between,
    diagonal,
    distances,
    moments,
    said,
    split,
)

HORIZON = 5
ANSWERS = tuple(move for move in MOVES if move != "stay")


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments with Good and Evil in sight."""
    episode = trajectory.episode
    for track, moment in moments(episode, context, horizon):
        if _fault(track, moment):
            continue
        me, good, evil = (int(path[moment]) for path in (track.me, track.good, track.evil))
        answer = between(good, evil, track.size)
        if answer is not None and answer != between(me, evil, track.size):
            people = episode.scene[moment, FIRST:].astype("int64")
            crowded = int((distances(people, me, track.size) <= SIGHT).sum()) > 1
            confusing = crowded or split(track.size, good, evil)
            rim = diagonal(me, good, track.size) or diagonal(me, evil, track.size)
            difficulty = DIFFICULTIES[confusing + bool(rim)]
            yield Candidate(moment, track.role, difficulty, {"answer": answer}, answer=answer)


def _fault(track: Track, moment: int) -> str | None:
    if track.to_good[moment] > SIGHT or track.to_evil[moment] > SIGHT:
        return "Good and Evil are not both in sight"
    return None


def fits(scenario: Scenario) -> str | None:
    """Says why there is no such answer at takeover."""
    track, takeover = Track(scenario.recording, scenario.roles[0]), scenario.takeover
    if fault := _fault(track, takeover):
        return fault
    truth = between(int(track.good[takeover]), int(track.evil[takeover]), track.size)
    if truth is None:
        return "Evil is neither straight nor diagonally from Good"
    return None if scenario.parameters["answer"] == truth else f"the answer is {truth}"


def _from_good(seen: Past) -> str:
    good, evil = seen.good[seen.asked], seen.evil[seen.asked]
    return MOVES[int(torus.toward(good, evil, *seen.size, torus.BACK))]


def _from_me(seen: Past) -> str:
    """Returns where Evil is from the participant."""
    move = toward(seen, seen.evil[seen.asked])
    return ANSWERS[0] if move == STAY else MOVES[move]


CATEGORY = Category(
    name="evil-from-good",
    kind="question",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "In which direction is Evil, seen from Good?",
        "Seen from Good's cell, which way is Evil? Answer with a direction.",
        "Say in which direction Evil lies from Good.",
    ),
    candidates=candidates,
    label=said,
    fits=fits,
    rubric=Rubric(
        done="The first word that the participant says is the direction in which Evil was from "
        "Good at the takeover.",
        guideline="Where they were at the takeover counts, whenever it is said. Of two ways round "
        "the board the shorter is meant. Silence is not done.",
        overlay=lambda scenario: Overlay(sight=True),
    ),
    controls=Controls(probe=saying(_from_good), shortcut=saying(_from_me), answers=ANSWERS),
)
