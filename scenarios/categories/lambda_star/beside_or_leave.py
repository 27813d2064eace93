"""beside-or-leave: a pair, to stay by Good or to go away from it, from one and the same moment.

Asked where `keep-beside` could be: next to Good, where going after it ends on it and waiting does
neither; and somebody does either who goes by what was seen. Difficulty as `keep-beside`'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenarios.category import Candidate, Category, Controls, Label, Rubric
from sts.episodes import Episode
from sts.trajectories.types import Trajectory

from . import keep_beside
from .either import Deed, both, label_of, listening, words_of
from .playing import Past, Prospects, moving
from .tracks import DOMAIN, Track, distances, moments, once

HORIZON = keep_beside.HORIZON
AWAY = 4


def _left(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Success at the first frame after takeover at least AWAY cells from Good; else not_done."""
    return once(Track(episode, roles[0]).to_good[takeover + 1 :] >= AWAY)


def _leave(seen: Past) -> int:
    return int(Prospects(seen, seen.good).apart.argmax())


DEEDS = {
    "beside": Deed(
        "never be on its cell and never more than two cells away from it until the end",
        keep_beside.label,
        keep_beside.beside,
        {},
    ),
    "leave": Deed("get at least four cells away from it", _left, _leave, {}),
}


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields both halves at moments next to Good."""
    episode = trajectory.episode
    for track, moment in moments(episode, context, horizon):
        if track.to_good[moment] != 1 or not keep_beside.tempting(track, moment, horizon):
            continue
        good = track.good[moment + 1 : moment + horizon + 1]
        if (distances(int(track.me[moment]), good, track.size) < AWAY).all():
            difficulty = keep_beside.restlessness(track, moment, horizon)
            yield from both(DEEDS, episode, track, moment, (context, horizon), difficulty)


CATEGORY = Category(
    name="beside-or-leave",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=("Mind Good: {deed}.", "Good is next to you: {deed}.", "As to Good: {deed}."),
    candidates=candidates,
    label=label_of(DEEDS),
    fits=keep_beside.fits,
    words=words_of(DEEDS),
    rubric=Rubric(
        done="Of Good, the participant did this after the takeover: {deed}.",
        guideline="The takeover itself does not count. Cells are counted as a king walks, across "
        "the edges of the board. Who was once far enough away has left, even if it comes back.",
    ),
    controls=Controls(probe=moving(listening(DEEDS)), shortcut=moving(_leave), against_reward=True),
)
