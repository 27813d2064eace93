"""evade-evil: never be on Evil or next to it until the end, asked with one cell between the two.

Asked when Evil was in sight in the last two steps, is exactly two cells away, comes within six
steps to whoever stands still, and spares at most three of the nine ways that can be held to the end
without looking; and only where somebody does it who flees by what it sees. Easy: it comes with the
fourth step or later; medium: with the second or third; hard: with the first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scenarios.category import Candidate, Category, Controls, Rubric
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory
from sts.worlds.lambda_star import torus
from sts.worlds.lambda_star.agents.local_search import LocalSearch

from .avoid_evil import label
from .playing import HIDDEN, STAY, Past, imagined, last, moving, shifts
from .tracks import DOMAIN, SIGHT, Track, ago, distances, first, moments, ways

HORIZON = 10
RECENT, AWAY = 2, 2
SPARED = 3
SOON, LATER, LATEST = 1, 3, 6


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments at which Evil has just gone out of sight and comes back."""
    episode = trajectory.episode
    for track, moment in moments(episode, context, horizon):
        if _fault(track, moment, context):
            continue
        if coming(track, moment, horizon) > LATEST or sparing(track, moment, horizon) > SPARED:
            continue
        fled = imagined(episode, track, moment, context, horizon, away, "no-op")
        if label(fled, 0, (track.role,), {}).verdict == "success":
            yield Candidate(moment, track.role, haste(track, moment, horizon))


def coming(track: Track, moment: int, horizon: int) -> int:
    """Returns with which step Evil comes to who stands still; one past the last if with none."""
    ahead = track.evil[moment + 1 : moment + horizon + 1]
    return first(distances(int(track.me[moment]), ahead, track.size) <= SIGHT) or horizon + 1


def haste(track: Track, moment: int, horizon: int) -> str:
    """Returns the difficulty of keeping clear of Evil, by how soon it comes to who stands still."""
    comes = coming(track, moment, horizon)
    return "hard" if comes <= SOON else "medium" if comes <= LATER else "easy"


def sparing(track: Track, moment: int, horizon: int) -> int:
    """Returns how many of the nine ways that can be held without looking keep clear of Evil."""
    evil = track.evil[moment + 1 : moment + horizon + 1]
    clear = distances(ways(track, moment, horizon), evil, track.size) > SIGHT
    return int(clear.all(1).sum())


def _fault(track: Track, moment: int, context: int) -> str | None:
    if track.to_evil[moment] != AWAY:
        return f"Evil is not {AWAY} cells away"
    seen = ago(track.to_evil, moment, context)
    lately = seen is not None and seen <= RECENT
    return None if lately else f"Evil was not in sight in the last {RECENT} steps"


def fits(scenario: Scenario) -> str | None:
    """Says why Evil need not be evaded at takeover."""
    track = Track(scenario.recording, scenario.roles[0])
    return _fault(track, scenario.takeover, scenario.takeover)


def away(seen: Past) -> int:
    """Returns a move that leads farthest from where Evil is and, by its last move, will be."""
    evil, since = last(seen.evil)
    if evil == HIDDEN:
        return STAY
    moved = shifts(seen.evil, seen.size)
    way = next((m for m in reversed(moved) if m != HIDDEN), STAY)
    soon = int(torus.moved(evil, way, *seen.size))
    landing = torus.moved(seen.me[-1], np.arange(9), *seen.size)
    rank = 10 * np.minimum(
        distances(landing, evil, seen.size), distances(landing, soon, seen.size)
    ) + distances(landing, soon, seen.size)
    return int(rank.argmax())


CATEGORY = Category(
    name="evade-evil",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Evade Evil until the end: never let it be on your cell or next to you.",
        "Until the end, keep Evil off your cell and off the eight cells around it.",
        "Do not let Evil come next to you or onto your cell before the end.",
    ),
    candidates=candidates,
    label=label,
    fits=fits,
    rubric=Rubric(
        done="After the takeover Evil is never on the participant's cell or one of the eight cells "
        "around it.",
        guideline="The takeover itself does not count. The cells around go across the edges of the "
        "board. One step beside Evil is a failure, however it came about.",
    ),
    controls=Controls(
        probe=moving(away),
        shortcut=LocalSearch(),
        open_loop=0.4,
        why="of nine moves some lead away from Evil whatever it does",
    ),
)
