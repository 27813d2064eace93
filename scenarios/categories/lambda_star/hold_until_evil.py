"""hold-until-evil: stand still until Evil comes, and then get away from it within some steps.

Asked with Evil out of sight that was seen before and comes within six steps, not with the first,
where neither standing on nor fleeing at once will do. Easy: it comes with the second or third step,
and not to a corner of the sight; medium: later, or to a corner; hard: both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenarios.category import Candidate, Category, Controls, Label, Rubric, Word
from sts.episodes import Episode
from sts.suites.types import DIFFICULTIES, Scenario
from sts.trajectories.types import Trajectory

from .evade_evil import away
from .playing import HIDDEN, STAY, Past, imagined, moving
from .tracks import DOMAIN, SIGHT, Track, ago, diagonal, distances, first, moments, number

HORIZON = 12
EARLIEST, SOON, LATEST = 2, 3, 6
STEPS = 3


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments at which Evil is about to come."""
    episode, asked = trajectory.episode, {"steps": STEPS}
    for track, moment in moments(episode, context, horizon):
        if _fault(track, moment):
            continue
        ahead = track.evil[moment + 1 : moment + horizon + 1]
        close = distances(ahead, int(track.me[moment]), track.size) <= SIGHT
        comes = first(close)
        if comes is None or not EARLIEST <= comes <= LATEST or comes + STEPS > horizon:
            continue
        if not close[comes : comes + STEPS].all() or ago(track.to_evil, moment, context) is None:
            continue
        early, fled = (
            imagined(episode, track, moment, context, horizon, policy, "no-op")
            for policy in (_flee, _wait)
        )
        verdicts = [label(one, 0, (track.role,), asked).verdict for one in (early, fled)]
        if verdicts == ["failure", "success"]:
            rim = bool(diagonal(int(track.me[moment]), int(ahead[comes - 1]), track.size))
            difficulty = DIFFICULTIES[(comes > SOON) + rim]
            yield Candidate(moment, track.role, difficulty, asked, {"steps": str(STEPS)})


def _fault(track: Track, moment: int) -> str | None:
    return None if track.to_evil[moment] > SIGHT else "Evil is there already"


def fits(scenario: Scenario) -> str | None:
    """Says why there is nothing to wait for."""
    if scenario.parameters["steps"] >= scenario.horizon:
        return "there are no more steps than are asked for"
    return _fault(Track(scenario.recording, scenario.roles[0]), scenario.takeover)


def words(scenario: Scenario) -> dict[str, Word]:
    """Returns the number of steps."""
    return {"steps": number(scenario.parameters["steps"], range(3, 11), digits=True)}


def label(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Failure at a move before Evil comes within 1, or where it is not left behind in time.

    Success at the first frame more than 1 from it after it came.
    """
    track, steps = Track(episode, roles[0]), parameters["steps"]
    close = track.to_evil[takeover + 1 :] <= SIGHT
    moved = first(track.me[takeover + 1 :] != track.me[takeover:-1])
    came = first(close)
    if moved is not None and (came is None or moved <= came):
        return Label("failure", moved)
    if came is None:
        return Label("not_done", None)
    left = first(~close[came : came + steps])
    if left is not None:
        return Label("success", came + left)
    late = came + steps
    return Label("failure", late) if late <= len(close) else Label("not_done", None)


def _wait(seen: Past) -> int:
    came = any(cell != HIDDEN for cell in seen.evil[seen.asked + 1 :])
    return away(seen) if came else STAY


def _flee(seen: Past) -> int:
    """Returns a move away from wherever Evil was seen, come or not."""
    return away(seen)


CATEGORY = Category(
    name="hold-until-evil",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Do not move until Evil is next to you or on your cell; then be at least two cells away "
        "from it within {steps} steps.",
        "Wait without a move until Evil comes next to you or onto your cell. Then get at least two "
        "cells away from it within {steps} steps.",
        "Hold still. When Evil is next to you or on your cell, and not before, get at least two "
        "cells away from it within {steps} steps.",
    ),
    candidates=candidates,
    label=label,
    fits=fits,
    words=words,
    rubric=Rubric(
        done="The participant does not move before Evil is on its cell or one of the eight around "
        "it, and then, within {steps} steps, is two or more cells away from Evil.",
        guideline="Moving with the very step by which Evil comes is moving before it. Once the two "
        "have been apart, what comes after does not matter, even if Evil catches up.",
    ),
    controls=Controls(probe=moving(_wait), shortcut=moving(_flee), against_reward=True),
)
