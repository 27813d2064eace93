"""find-good-again: be on Good or next to it, which has gone out of sight.

Asked when Good was last in sight two to five steps ago and the reward around it is not in sight
either, whoever waits does not see it again, at
most three of the nine ways that can be held without looking lead to it, and somebody finds it who
goes by what it did. Difficulty is by how many of the steps they need.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenarios.categories.tried import margin
from scenarios.category import Candidate, Category, Controls, Label, Overlay, Rubric
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory
from sts.worlds.lambda_star.agents.local_search import LocalSearch

from .playing import STAY, Past, Prospects, imagined, moving
from .tracks import DOMAIN, SIGHT, Track, ago, distances, moments, once, ways

HORIZON = 6
LATEST, EARLIEST = 2, 5
SPARED = 3
SHINES = 2
"""So far away Good is out of sight, and the reward around it is not."""


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments at which Good was lost a while ago."""
    episode = trajectory.episode
    for track, moment in moments(episode, context, horizon):
        if _fault(track, moment, context):
            continue
        good = track.good[moment + 1 : moment + horizon + 1]
        blind = (distances(ways(track, moment, horizon), good, track.size) <= SIGHT).any(1)
        if blind[STAY] or blind.sum() > SPARED:
            continue
        sought = imagined(episode, track, moment, context, horizon, _seek, "no-op")
        found = label(sought, 0, (track.role,), {})
        if found.verdict == "success":
            yield Candidate(moment, track.role, margin(found.step, horizon))


def _fault(track: Track, moment: int, context: int) -> str | None:
    seen = ago(track.to_good, moment, context)
    lost = seen is not None and LATEST <= seen <= EARLIEST
    if not lost:
        return f"Good was not lost {LATEST} to {EARLIEST} steps ago"
    return "what it gives is still in sight" if track.to_good[moment] <= SHINES else None


def fits(scenario: Scenario) -> str | None:
    """Says why Good is not to be found again."""
    track = Track(scenario.recording, scenario.roles[0])
    return _fault(track, scenario.takeover, scenario.takeover)


def label(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Success at the first frame after takeover within 1 of Good; else not_done."""
    return once(Track(episode, roles[0]).to_good[takeover + 1 :] <= SIGHT)


def _seek(seen: Past) -> int:
    good = Prospects(seen, seen.good)
    return int((5 * good.within(SIGHT) - good.apart).argmax())


CATEGORY = Category(
    name="find-good-again",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Find Good again: be on it or next to it.",
        "You have lost sight of Good. Get next to it again, or onto it.",
        "Look for Good until you are on it or next to it again.",
    ),
    candidates=candidates,
    label=label,
    fits=fits,
    rubric=Rubric(
        done="After the takeover Good is on the participant's cell or one of the eight around it.",
        guideline="The framed square is all that the participant sees. One step with Good in it is "
        "enough, and it does not matter who came to whom.",
        overlay=lambda scenario: Overlay(sight=True),
    ),
    controls=Controls(
        probe=moving(_seek),
        shortcut=LocalSearch(),
        open_loop=0.4,
        why="any way leads somewhere, and Good moves, too",
    ),
)
