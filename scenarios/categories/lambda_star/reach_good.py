"""reach-good: stand on the cell of Good, who keeps moving.

Asked when Good was in sight a moment ago and whoever stands still will not be met by it. Easy: a
participant that always steps to where Good is meets it within a third of the steps; medium: later;
hard: never, so that Good's next move has to be foreseen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenarios.category import Candidate, Category, Label
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory

from .tracks import DOMAIN, Track, ago, chase, first, moments, once

HORIZON = 15
RECENT = 2


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments shortly after Good was seen."""
    for track, moment in moments(trajectory.episode, context, horizon):
        ahead = slice(moment + 1, moment + horizon + 1)
        if _fault(track, moment, context) or (track.good[ahead] == track.me[moment]).any():
            continue
        yield Candidate(moment, track.role, _difficulty(track, moment, horizon))


def _difficulty(track: Track, moment: int, horizon: int) -> str:
    good = track.good[moment + 1 : moment + horizon + 1]
    met = first(chase(track, moment, horizon) == good)
    if met is None:
        return "hard"
    return "easy" if met <= horizon // 3 else "medium"


def _fault(track: Track, moment: int, context: int) -> str | None:
    seen = ago(track.to_good, moment, context)
    if seen is None or seen > RECENT:
        return f"Good was not in sight in the last {RECENT} steps"
    return "the participant is on Good already" if track.to_good[moment] == 0 else None


def fits(scenario: Scenario) -> str | None:
    """Says why Good cannot be asked for at takeover."""
    track = Track(scenario.recording, scenario.roles[0])
    return _fault(track, scenario.takeover, scenario.takeover)


def label(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Success at the first frame after takeover with the participant on Good; else not_done."""
    track = Track(episode, roles[0])
    return once(track.to_good[takeover + 1 :] == 0)


CATEGORY = Category(
    name="reach-good",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Reach Good: stand on its cell.",
        "Go to Good and get onto its cell.",
        "Get onto the cell that Good is on.",
        "Please stand on Good.",
    ),
    candidates=candidates,
    label=label,
    fits=fits,
    superseded=True,
)
