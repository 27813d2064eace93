"""Where the questions of Λ* are asked, of many episodes at once: a screen each."""

from __future__ import annotations

from typing import Any

import numpy as np

from scenarios.category import Hits
from sts.worlds.lambda_star.state import MOVES

from . import count_others, next_move, when_evil, where_was_evil
from .abreast import NONE, Spots, Tracks, ago, period
from .screening import Kinds, hits, screen, seen_moves
from .tracks import SIGHT

WAYS: Kinds = tuple((move, {"answer": move}) for move in MOVES)
COUNTS: Kinds = tuple((str(n), {"answer": str(n)}) for n in range(9))


def _when_evil(every: Tracks, context: int, horizon: int) -> Hits:
    gone = ago(every.to_evil)
    spots = Spots.of(every, gone <= min(when_evil.MOST, context), context, horizon)
    steps = spots.now(gone)
    rim = every.diagonal(spots.now(every.me, -steps), spots.now(every.evil, -steps))
    return hits(spots, 1 * (steps > when_evil.FRESH) + rim, COUNTS, steps)


def _where_was_evil(every: Tracks, context: int, horizon: int) -> Hits:
    gone = ago(every.to_evil)
    least, most = where_was_evil.LATEST, min(where_was_evil.EARLIEST, context)
    spots = Spots.of(every, (gone >= least) & (gone <= most), context, horizon)

    def answers(spots: Spots) -> Any:
        return every.between(spots.now(every.me), spots.now(every.evil, -spots.now(gone)))

    spots = spots.where(answers(spots) != NONE)
    for steps in where_was_evil.BACK:
        back = every.between(spots.now(every.me), spots.now(every.me, -steps))
        spots = spots.where(back != answers(spots))
    steps = spots.now(gone)
    rim = every.diagonal(spots.now(every.me, -steps), spots.now(every.evil, -steps))
    return hits(spots, 1 * (steps > where_was_evil.FRESH) + rim, WAYS, answers(spots))


def _last_move(every: Tracks, context: int, horizon: int) -> Hits:
    near = every.to_good <= SIGHT
    near[:, 1:] &= near[:, :-1]
    near[:, 0] = False
    spots = Spots.of(every, near, context, horizon)
    me, good = spots.span(every.me, -1, 1), spots.span(every.good, -1, 1)
    move = every.toward(good[:, 0], good[:, 1])
    rim = every.diagonal(me, good).any(1)
    difficulty = 1 * (me[:, 0] != me[:, 1]) + rim
    differs = move != every.toward(me[:, 1], good[:, 1])
    return hits(spots.where(differs), difficulty[differs], WAYS, move[differs])


def _next_move(every: Tracks, context: int, horizon: int) -> Hits:
    near = every.to_good <= SIGHT
    for _ in range(2):  # the shortest period, twice
        near[:, 2:] &= near[:, 1:-1] & near[:, :-2]
    spots = Spots.of(every, near, context, horizon)
    length, follows = period(seen_moves(spots, context))
    now, then = spots.now(every.good), spots.now(every.good, 1)
    goes_on = (length > 0) & (follows == every.toward(now, then))
    spots, length, follows = spots.where(goes_on), length[goes_on], follows[goes_on]
    corner = every.diagonal(spots.span(every.me, -context, 1), spots.span(every.good, -context, 1))
    rim = (corner & (np.arange(-context, 1) >= -2 * length[:, None])).any(1)
    return hits(spots, 1 * (length > next_move.SHORT) + rim, WAYS, follows)


def _count_others(every: Tracks, context: int, horizon: int) -> Hits:
    crowd = every.crowd()
    changed = np.zeros(crowd.shape, np.bool_)
    changed[:, 1:] = (crowd[:, 1:] != crowd[:, :-1]) & (crowd[:, 1:] <= count_others.MOST)
    spots = Spots.of(every, changed, context, horizon)
    count = spots.now(crowd)
    return hits(spots, np.where(count < 2, 0, np.where(count == 2, 1, 2)), COUNTS, count)


def _evil_from_good(every: Tracks, context: int, horizon: int) -> Hits:
    both = (every.to_good <= SIGHT) & (every.to_evil <= SIGHT)
    spots = Spots.of(every, both, context, horizon)
    me, good, evil = (spots.now(one) for one in (every.me, every.good, every.evil))
    answer = every.between(good, evil)
    asked = (answer != NONE) & (answer != every.between(me, evil))
    spots, me, good, evil = (
        spots.where(asked),
        me[asked],
        good[asked],
        evil[asked],
    )
    height, width = every.size
    rows, columns = abs(good // width - evil // width), abs(good % width - evil % width)
    confusing = (2 * rows > height) | (2 * columns > width) | (spots.now(every.crowd()) > 0)
    rim = every.diagonal(me, good) | every.diagonal(me, evil)
    return hits(spots, 1 * confusing + rim, WAYS, answer[asked])


SCREENS = {
    "count-others": screen(_count_others),
    "evil-from-good": screen(_evil_from_good),
    "last-move": screen(_last_move),
    "next-move": screen(_next_move),
    "when-evil": screen(_when_evil),
    "where-was-evil": screen(_where_was_evil),
}
"""The screen of each question, by its name."""
