"""evade-evil: never be on Evil or next to it until the end, asked with one cell between the two.

Asked when Evil was in sight in the last two steps, is exactly two cells away, comes for whoever
stands still, and spares at most three of the nine ways that can be held to the end without looking;
and only where somebody does it who flees by what it sees. Easy: going three steps straight away and
then standing would do; medium: it would not, or Evil was last seen two steps ago; hard: both.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scenarios.category import Candidate, Category, Controls, Rubric
from sts.suites.types import DIFFICULTIES, Scenario
from sts.trajectories.types import Trajectory
from sts.worlds.lambda_star import torus
from sts.worlds.lambda_star.agents.local_search import LocalSearch
from sts.worlds.lambda_star.state import MOVES

from .avoid_evil import escapes, label
from .playing import HIDDEN, STAY, Past, held, imagined, last, moving, shifts
from .tracks import DOMAIN, Track, ago, distances, moments, offsets

HORIZON = 10
RECENT, AWAY = 2, 2
SPARED = 3


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments at which Evil has just gone out of sight and comes back."""
    episode = trajectory.episode
    for track, moment in moments(episode, context, horizon):
        if _fault(track, moment, context) or escapes(track, moment, horizon, 0, 0):
            continue
        ways = (held(episode, track, moment, horizon, "no-op", way) for way in range(len(MOVES)))
        if sum(label(one, 0, (track.role,), {}).verdict == "success" for one in ways) > SPARED:
            continue
        fled = imagined(episode, track, moment, context, horizon, away, "no-op")
        if label(fled, 0, (track.role,), {}).verdict == "success":
            yield Candidate(moment, track.role, _difficulty(track, moment, context, horizon))


def _difficulty(track: Track, moment: int, context: int, horizon: int) -> str:
    down, right = offsets(track.evil[moment], track.me[moment], track.size)
    straight = escapes(track, moment, horizon, np.sign(down), np.sign(right))
    return DIFFICULTIES[(ago(track.to_evil, moment, context) == RECENT) + (not straight)]


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
