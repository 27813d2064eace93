"""avoid-evil: never be on Evil or next to it until the end.

Asked when Evil was in sight at takeover or the step before, is at most two cells away, and comes
for whoever stands still. A flight is one of the eight directions held for three steps, then
standing still. Easy: the flight straight away from Evil escapes; medium: another does; hard: none,
so that Evil's path has to be foreseen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from scenarios.category import Candidate, Category, Label
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory
from sts.worlds.lambda_star.state import MOVES

from .tracks import DOMAIN, SIGHT, Track, ago, distances, heading, moments, never, offsets

HORIZON = 10
FLIGHT, NEAR = 3, 2


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments at which Evil is near and standing still ends badly."""
    for track, moment in moments(trajectory.episode, context, horizon):
        if _fault(track, moment, context) or escapes(track, moment, horizon, 0, 0):
            continue
        if _possible(track, moment, horizon):
            yield Candidate(moment, track.role, _difficulty(track, moment, horizon))


def _difficulty(track: Track, moment: int, horizon: int) -> str:
    down, right = offsets(track.evil[moment], track.me[moment], track.size)
    if escapes(track, moment, horizon, np.sign(down), np.sign(right)):
        return "easy"
    flights = (heading(move) for move in MOVES)
    return "medium" if any(escapes(track, moment, horizon, *way) for way in flights) else "hard"


def escapes(track: Track, moment: int, horizon: int, down: int, right: int) -> bool:
    """Says whether FLIGHT steps that way and then standing still keep clear of Evil."""
    steps = np.minimum(np.arange(1, horizon + 1), FLIGHT)
    row, column = divmod(int(track.me[moment]), track.size.width)
    rows, columns = (
        (row + down * steps) % track.size.height,
        (column + right * steps) % track.size.width,
    )
    cells = rows * track.size.width + columns
    evil = track.evil[moment + 1 : moment + horizon + 1]
    return bool((distances(cells, evil, track.size) > SIGHT).all())


def _possible(track: Track, moment: int, horizon: int) -> bool:
    """Says whether any moves at all keep clear of Evil."""
    size = track.size
    everywhere = np.arange(size.height * size.width)
    free = (everywhere == track.me[moment]).reshape(size)
    for evil in track.evil[moment + 1 : moment + horizon + 1]:
        wide = free | np.roll(free, 1, 0) | np.roll(free, -1, 0)
        reached = wide | np.roll(wide, 1, 1) | np.roll(wide, -1, 1)
        free = reached & (distances(everywhere, int(evil), size) > SIGHT).reshape(size)
    return bool(free.any())


def _fault(track: Track, moment: int, context: int) -> str | None:
    seen = ago(track.to_evil, moment, context)
    if seen is None or seen > 1:
        return "Evil was not in sight at takeover or the step before"
    if track.to_evil[moment] == 0:
        return "the participant is on Evil"
    return f"Evil is more than {NEAR} cells away" if track.to_evil[moment] > NEAR else None


def fits(scenario: Scenario) -> str | None:
    """Says why Evil need not or cannot be avoided at takeover."""
    track = Track(scenario.recording, scenario.roles[0])
    return _fault(track, scenario.takeover, scenario.takeover)


def label(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Failure at the first frame after takeover within 1 of Evil; success at the end if none is."""
    track = Track(episode, roles[0])
    return never(track.to_evil[takeover + 1 :] <= 1)


CATEGORY = Category(
    name="avoid-evil",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Avoid Evil until the end: never be on it or next to it.",
        "Keep away from Evil until the end, at least two cells from it.",
        "Stay clear of Evil: from now on never be on it or next to it.",
    ),
    candidates=candidates,
    label=label,
    fits=fits,
    superseded=True,
)
