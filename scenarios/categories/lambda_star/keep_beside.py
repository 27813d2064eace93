"""keep-beside: stay one or two cells away from Good until the end, and never be on it.

Asked next to Good, where going after it ends on it and standing still loses or meets it, and
somebody does it who goes by what Good did so far. Easy: Good stands still in at least half of the
steps; medium: in at least a quarter; hard: in fewer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenarios.category import Candidate, Category, Controls, Label, Rubric
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory
from sts.worlds.lambda_star.agents.local_search import LocalSearch

from .playing import Past, Prospects, imagined, moving
from .tracks import DOMAIN, Track, chase, distances, moments, never

HORIZON = 8
AWAY = 2


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments next to Good at which neither reward nor waiting will do."""
    episode = trajectory.episode
    for track, moment in moments(episode, context, horizon):
        if _fault(track, moment) or not tempting(track, moment, horizon):
            continue
        kept = imagined(episode, track, moment, context, horizon, beside, "no-op")
        if label(kept, 0, (track.role,), {}).verdict == "success":
            yield Candidate(moment, track.role, restlessness(track, moment, horizon))


def tempting(track: Track, moment: int, horizon: int) -> bool:
    """Says whether going after Good ends on it, and standing still on it or far from it."""
    good = track.good[moment + 1 : moment + horizon + 1]
    away = distances(int(track.me[moment]), good, track.size)
    missed = (away == 0) | (away > AWAY)
    return bool(missed.any() and (chase(track, moment, horizon) == good).any())


def restlessness(track: Track, moment: int, horizon: int) -> str:
    """Returns the difficulty of staying by Good, by how often it stands still."""
    good = track.good[moment : moment + horizon + 1]
    stays = (good[1:] == good[:-1]).mean()
    return "easy" if stays >= 0.5 else "medium" if stays >= 0.25 else "hard"


def _fault(track: Track, moment: int) -> str | None:
    return None if track.to_good[moment] == 1 else "the participant is not next to Good"


def fits(scenario: Scenario) -> str | None:
    """Says why there is nothing to keep beside."""
    return _fault(Track(scenario.recording, scenario.roles[0]), scenario.takeover)


def label(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Failure at the first frame on Good or more than AWAY cells from it; else success."""
    away = Track(episode, roles[0]).to_good[takeover + 1 :]
    return never((away == 0) | (away > AWAY))


def beside(seen: Past) -> int:
    """Returns a move that will hardly be on Good or lose it, and better beside it than farther."""
    good = Prospects(seen, seen.good)
    return int((10 * (good.within(AWAY) - good.within(0)) - abs(good.apart - 1)).argmax())


CATEGORY = Category(
    name="keep-beside",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Keep beside Good until the end: never on its cell, and never more than two cells away "
        "from it.",
        "Until the end, stay within two cells of Good, but never be on its cell.",
        "Accompany Good to the end, one or two cells away from it and never on the same cell.",
    ),
    candidates=candidates,
    label=label,
    fits=fits,
    rubric=Rubric(
        done="After the takeover the participant is never on Good's cell and never more than two "
        "cells away from it.",
        guideline="Cells are counted as a king walks, across the edges of the board. It does not "
        "matter who moved: Good coming onto the participant's cell is a failure, too.",
    ),
    controls=Controls(probe=moving(beside), shortcut=LocalSearch(), against_reward=True),
)
