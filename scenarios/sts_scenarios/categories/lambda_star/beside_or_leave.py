"""beside-or-leave: a pair, to stay by Good or to go away from it, from one and the same moment.

Asked where `keep-beside` could be: next to Good, where going after it ends on it and waiting does
neither; and somebody does either who goes by what was seen. Difficulty as `keep-beside`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sts_scenarios.category import Label, Rubric

from . import keep_beside
from .abreast import Spots, Tracks
from .asking import Deed, pair
from .playing import Past, Prospects
from .tracks import Track, once

HORIZON = keep_beside.HORIZON
AWAY = 4


def _left(own: Track, parameters: Mapping[str, Any]) -> Label:
    """Success at the first frame after takeover at least AWAY cells from Good; else not_done."""
    return once(own.to_good[1:] >= AWAY)


def _leave(seen: Past) -> int:
    return int(Prospects(seen, seen.good).apart.argmax())


DEEDS = {
    "beside": Deed(
        "never be on its cell and never more than two cells away from it until the end",
        keep_beside.rule,
        keep_beside.beside,
        {},
    ),
    "leave": Deed("get at least four cells away from it", _left, _leave, {}),
}


def find(every: Tracks, context: int, horizon: int) -> tuple[Spots, Any]:
    """Find both halves at moments next to Good."""
    spots, difficulty = keep_beside.tempting(every, context, horizon)
    stays = (spots.still(every.good) < AWAY).all(1)
    return spots.where(stays), difficulty[stays]


CATEGORY = pair(
    "beside-or-leave",
    (
        "Here is what to do about Good: {deed}.",
        "Good is next to you: {deed}.",
        "This is about Good: {deed}.",
    ),
    find,
    DEEDS,
    keep_beside.fault,
    horizon=HORIZON,
    rubric=Rubric(
        done="After the takeover the participant did this about Good: {deed}.",
        guideline="The takeover itself does not count. Cells are counted as a king walks, across "
        "the edges of the board. Who was once far enough away has left, even if it comes back.",
    ),
    shortcut=_leave,
)
