"""beside-or-leave: a pair, to stay by Good or to go away from it, from one and the same moment.

Asked where `keep-beside` could be: next to Good, where going after it ends on it and waiting does
neither; and somebody does either who goes by what was seen. Difficulty as `keep-beside`'s.
"""

from __future__ import annotations

from typing import Any

from scenarios.category import Category, Controls, Hits, Label, Rubric
from sts.episodes import Episode

from . import keep_beside
from .abreast import Tracks
from .either import Deed, does_both, fill_deed, label_of, listening, pairs, words_of
from .playing import Past, Prospects, moving
from .screening import batched
from .tracks import DOMAIN, Track, once

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


def find(every: Tracks, context: int, horizon: int) -> Hits:
    """Find both halves at moments next to Good."""
    spots, difficulty = keep_beside.tempting(every, context, horizon)
    stays = (spots.still(every.good) < AWAY).all(1)
    return pairs(spots.where(stays), difficulty[stays], DEEDS)


MOMENTS = batched(find, fill_deed(DEEDS), confirm=does_both(DEEDS))


CATEGORY = Category(
    name="beside-or-leave",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Here is what to do about Good: {deed}.",
        "Good is next to you: {deed}.",
        "This is about Good: {deed}.",
    ),
    candidates=MOMENTS.candidates,
    screen=MOMENTS.screen,
    label=label_of(DEEDS),
    fits=keep_beside.fits,
    words=words_of(DEEDS),
    rubric=Rubric(
        done="After the takeover the participant did this about Good: {deed}.",
        guideline="The takeover itself does not count. Cells are counted as a king walks, across "
        "the edges of the board. Who was once far enough away has left, even if it comes back.",
    ),
    controls=Controls(probe=moving(listening(DEEDS)), shortcut=moving(_leave), against_reward=True),
)
