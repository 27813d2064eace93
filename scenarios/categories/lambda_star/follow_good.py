"""follow-good: stay on Good or next to it for some steps in a row while it moves.

Asked when Good is in sight, can be kept in sight, and leaves whoever stands still. Easy: 4 steps in
a row; medium: 7; hard: 10, with Evil next to Good on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scenarios.category import Candidate, Category, Label, Word
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory

from .tracks import DOMAIN, SIGHT, Track, chase, distances, moments, number, once

HORIZON = 15
STEPS = {"easy": 4, "medium": 7, "hard": 10}


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments at which Good is in sight and about to lead somewhere."""
    for track, moment in moments(trajectory.episode, context, horizon):
        if _fault(track, moment):
            continue
        ahead = slice(moment + 1, moment + horizon + 1)
        good, size = track.good[ahead], track.size
        moving = good != track.good[moment : moment + horizon]
        followed = distances(chase(track, moment, horizon), good, size) <= SIGHT
        if 2 * moving.sum() < horizon or not followed.all():
            continue
        waiting = distances(good, int(track.me[moment]), size) <= SIGHT
        evil = distances(good, track.evil[ahead], size) <= SIGHT
        for difficulty, steps in STEPS.items():
            if steps > horizon:
                continue
            harmless = difficulty == "hard" and not evil.any()
            if not in_a_row(waiting, steps).any() and not harmless:
                yield Candidate(
                    moment, track.role, difficulty, {"steps": steps}, {"steps": str(steps)}
                )


def in_a_row(hits: NDArray[np.bool_], count: int) -> NDArray[np.bool_]:
    """Returns where `count` consecutive hits end."""
    total = np.concatenate(([0], np.cumsum(hits)))
    out = np.zeros(len(hits), np.bool_)
    out[count - 1 :] = total[count:] - total[:-count] == count
    return out


def _fault(track: Track, moment: int) -> str | None:
    return None if track.to_good[moment] <= SIGHT else "Good is not in sight at takeover"


def fits(scenario: Scenario) -> str | None:
    """Says why Good cannot be followed from takeover on."""
    if scenario.parameters["steps"] > scenario.horizon:
        return "there are fewer steps than are asked for"
    return _fault(Track(scenario.recording, scenario.roles[0]), scenario.takeover)


def words(scenario: Scenario) -> dict[str, Word]:
    """Returns the number of steps."""
    return {"steps": number(scenario.parameters["steps"], STEPS.values(), digits=True)}


def label(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Success where enough frames in a row after takeover, all within 1 of Good, first end."""
    close = Track(episode, roles[0]).to_good[takeover + 1 :] <= 1
    return once(in_a_row(close, parameters["steps"]))


CATEGORY = Category(
    name="follow-good",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Follow Good: be on it or next to it for {steps} steps in a row.",
        "Stay close to Good, on it or next to it, for {steps} steps in a row.",
        "For {steps} steps in a row, keep next to Good or on it.",
    ),
    candidates=candidates,
    label=label,
    fits=fits,
    words=words,
    superseded=True,
)
