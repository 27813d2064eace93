"""stand-still: stay on this cell until the end.

Asked of a participant that was moving and went on. Easy: nothing comes into its sight; medium: Good
does, and tempts; hard: Evil does, and costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenarios.category import Candidate, Category, Label
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory
from sts.worlds.lambda_star.state import MOVES

from .tracks import DOMAIN, SIGHT, Track, distances, moments, never

HORIZON = 10
STAY = MOVES.index("stay")


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments of participants that were on the move."""
    for track, moment in moments(trajectory.episode, context, horizon):
        stays = slice(moment, moment + horizon + 1)
        if _fault(track, moment, context) or (track.me[stays] == track.me[moment]).all():
            continue
        good, evil = (
            bool((distances(path[stays], int(track.me[moment]), track.size) <= SIGHT).any())
            for path in (track.good, track.evil)
        )
        difficulty = "hard" if evil else "medium" if good else "easy"
        yield Candidate(moment, track.role, difficulty)


def _fault(track: Track, moment: int, context: int) -> str | None:
    moved = (track.moves[moment - context : moment] != STAY).sum()
    return "the participant hardly moved before" if 2 * moved < context else None


def fits(scenario: Scenario) -> str | None:
    """Says why there is nothing to stop."""
    track = Track(scenario.recording, scenario.roles[0])
    return _fault(track, scenario.takeover, scenario.takeover)


def label(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Failure at the first frame on another cell than at takeover; else success at the end."""
    me = Track(episode, roles[0]).me
    return never(me[takeover + 1 :] != me[takeover])


CATEGORY = Category(
    name="stand-still",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Do not move until the end.",
        "Stand still from now on.",
        "Stay where you are until the end.",
        "Hold your position, whatever comes.",
    ),
    candidates=candidates,
    label=label,
    fits=fits,
    superseded=True,
)
