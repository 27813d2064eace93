"""last-move: say which move Good made with the last step.

Asked when Good is in sight and was a step before, and the answer is not where Good is. Easy: the
participant stood still and Good was in no corner of its sight; medium: it moved, or Good was; hard:
both.
"""

from __future__ import annotations

from scenarios.category import Category, Controls, Hits, Overlay, Rubric
from sts.suites.types import Scenario
from sts.worlds.lambda_star.state import MOVES

from .abreast import Spots, Tracks
from .playing import Past, saying, shifts, toward
from .screening import DIRECTIONS, batched, hits
from .tracks import DOMAIN, SIGHT, Track, said

HORIZON = 5


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find moments at which Good's last move was seen."""
    near = every.to_good <= SIGHT
    near[:, 1:] &= near[:, :-1]
    near[:, 0] = False
    spots = Spots.of(every, near, context, horizon)
    me, good = spots.span(every.me, -1, 1), spots.span(every.good, -1, 1)
    move = every.toward(good[:, 0], good[:, 1])
    rim = every.diagonal(me, good).any(1)
    difficulty = 1 * (me[:, 0] != me[:, 1]) + rim
    differs = move != every.toward(me[:, 1], good[:, 1])
    return hits(spots.where(differs), difficulty[differs], DIRECTIONS, move[differs])


MOMENTS = batched(find)


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
    candidates=MOMENTS.candidates,
    screen=MOMENTS.screen,
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
