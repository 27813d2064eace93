"""Where the instructions of Λ* are given, of many episodes at once: a screen each.

Those that are not exact leave out who follows the instruction by chances of where something will
be.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scenarios.category import Hits
from sts.worlds.lambda_star import torus
from sts.worlds.lambda_star.state import MOVES

from . import (
    ambush,
    beside_or_leave,
    clean_take,
    evade_evil,
    evade_or_shadow,
    find_good_again,
    follow_mate,
    good_apart,
    hold_until_evil,
    join_teammate,
    keep_beside,
    return_to_first,
    shadow_evil,
)
from .abreast import NONE, Bools, Ints, Spots, Tracks, ago, first, in_a_row, period
from .screening import hits, screen, seen_moves, steps_in_a_row
from .tracks import SIGHT

OPEN = -1
"""In place of a difficulty: only the predicate tells."""


def _leaving(away: Ints) -> Any:
    """Returns the difficulty of staying by something, as `tracks.leaving`."""
    stays = (away <= SIGHT).sum(1)
    return np.where(stays > 2, 0, np.where(stays == 2, 1, 2))


def _return_to_first(every: Tracks, context: int, horizon: int) -> Hits:
    frames = np.arange(every.me.shape[1], dtype=np.int32)
    near = every.to_good <= SIGHT
    coming = np.where(near, frames, len(frames))[:, ::-1]
    sights = np.minimum.accumulate(coming, axis=1)[:, ::-1]
    age = np.full(near.shape, -1, np.int32)
    age[:, context:] = frames[context:] - sights[:, : len(frames) - context]
    spots = Spots.of(every, age >= return_to_first.OLD, context, horizon)

    def cells(spots: Spots) -> Any:
        return spots.now(every.good, -spots.now(age))

    away = every.apart(spots.now(every.me), cells(spots))
    least, most = return_to_first.NEAREST, return_to_first.FARTHEST
    spots = spots.where((away >= least) & (away <= most))
    spots = spots.where((spots.chase() != cells(spots)[:, None]).all(1))
    latest = spots.now(every.good, -spots.now(ago(every.to_good)))
    me, free = spots.now(every.me), np.ones(len(spots.track), np.bool_)
    for _ in range(horizon):
        me = every.moved(me, every.toward(me, latest))
        free &= me != cells(spots)
    spots = spots.where(free)
    spots = spots.where(~spots.held(cells(spots)))
    cell, me = cells(spots), spots.now(every.me)
    rim = every.diagonal(spots.now(every.me, -spots.now(age)), cell)
    far = every.apart(me, cell) > return_to_first.FAR
    codes, kind = np.unique(cell * 9 + every.toward(me, cell), return_inverse=True)
    kinds = [(MOVES[code % 9], {"cell": code // 9}) for code in codes.tolist()]
    return hits(spots, 1 * far + rim, kinds, kind)


def _shadow_evil(every: Tracks, context: int, horizon: int) -> Hits:
    spots = Spots.of(every, every.to_evil <= SIGHT, context, horizon)
    spots = spots.where(_moves(spots, every.evil))
    away = spots.still(every.evil)
    free = ~in_a_row(away <= SIGHT, shadow_evil.STEPS)
    steps = shadow_evil.STEPS
    return hits(spots.where(free), _leaving(away[free][:, :steps]), steps_in_a_row(steps))


def _moves(spots: Spots, values: Ints) -> Any:
    """Says whether something moves in half of the steps or more."""
    path = spots.span(values, 0, spots.horizon + 1)
    return 2 * (path[:, 1:] != path[:, :-1]).sum(1) >= spots.horizon


def _sparing(spots: Spots) -> Any:
    """Returns how many of the nine ways keep clear of Evil, as `evade_evil.sparing`."""
    evil = spots.ahead(spots.every.evil)[:, None]
    return (spots.every.apart(spots.ways(), evil) > SIGHT).all(2).sum(1)


def _haste(spots: Spots) -> Any:
    """Returns the difficulty of keeping clear of Evil, as `evade_evil.haste`."""
    comes = _coming(spots)
    return np.where(comes <= evade_evil.SOON, 2, np.where(comes <= evade_evil.LATER, 1, 0))


def _coming(spots: Spots) -> Any:
    comes = first(spots.still(spots.every.evil) <= SIGHT)
    return np.where(comes > 0, comes, spots.horizon + 1)


def _evades(spots: Spots, context: int) -> Any:
    """Says where who flees by what is seen keeps clear of Evil."""
    path = spots.fled(context, waiting=False)[:, 1:]
    return (spots.every.apart(path, spots.ahead(spots.every.evil)) > SIGHT).all(1)


def _evade_evil(every: Tracks, context: int, horizon: int) -> Hits:
    lately = ago(every.to_evil) <= min(evade_evil.RECENT, context)
    spots = Spots.of(every, lately & (every.to_evil == evade_evil.AWAY), context, horizon)
    spots = spots.where(_coming(spots) <= evade_evil.LATEST)
    spots = spots.where(_sparing(spots) <= evade_evil.SPARED)
    spots = spots.where(_evades(spots, context))
    return hits(spots, _haste(spots))


def _hold_until_evil(every: Tracks, context: int, horizon: int) -> Hits:
    asked = (every.to_evil > SIGHT) & (ago(every.to_evil) <= context)
    spots = Spots.of(every, asked, context, horizon)
    steps = hold_until_evil.STEPS
    close = spots.still(every.evil) <= SIGHT
    comes = first(close)
    early, late = hold_until_evil.EARLIEST, min(hold_until_evil.LATEST, horizon - steps)
    held = (comes >= early) & (comes <= late)
    spots, close, comes = spots.where(held), close[held], comes[held]
    caught: Any = np.take_along_axis(close, comes[:, None] + np.arange(steps), 1).all(axis=1)
    spots, comes = spots.where(caught), comes[caught]
    verdicts = [
        _held(spots, spots.fled(context, waiting=waiting), steps) for waiting in (False, True)
    ]
    done = (verdicts[0] == -1) & (verdicts[1] == 1)
    spots, comes = spots.where(done), comes[done]
    rim = every.diagonal(spots.now(every.me), spots.now(every.evil, comes))
    return hits(spots, 1 * (comes > hold_until_evil.SOON) + rim, steps_in_a_row(steps))


def _held(spots: Spots, path: Ints, steps: int) -> Any:
    """Returns 1 where the rule of `hold-until-evil` says success, -1 failure, 0 neither."""
    close = spots.every.apart(path[:, 1:], spots.ahead(spots.every.evil)) <= SIGHT
    moved, came = first(path[:, 1:] != path[:, :-1]), first(close)
    rash = (moved > 0) & ((came == 0) | (moved <= came))
    # A frame past the last is not one at which it is left behind.
    padded = np.pad(close, ((0, 0), (0, steps)), constant_values=True)
    left = ~np.take_along_axis(padded, came[:, None] + np.arange(steps), 1).all(1)
    late = came + steps <= spots.horizon
    verdict = np.where(left, 1, np.where(late, -1, 0))
    return np.where(rash, -1, np.where(came == 0, 0, verdict))


def _follow_mate(every: Tracks, context: int, horizon: int) -> Hits:
    people, role = range(every.people), np.arange(len(every.me)) % every.people
    paths = [every.other(one) for one in people]
    near = [every.apart(every.me, path) <= SIGHT for path in paths]
    for one in people:
        near[one][role == one] = False
    recent = min(join_teammate.RECENT, context)
    lately = [ago(np.where(one, 0, SIGHT + 1).astype(np.int32)) <= recent for one in near]
    alone: Bools = np.sum(lately, axis=0) == 1
    steps, found = follow_mate.STEPS, []
    for target in people:
        spots = Spots.of(every, near[target] & alone, context, horizon)
        spots = spots.where(_elsewhere(spots, paths[target]))
        away = spots.still(paths[target])
        free = ~in_a_row(away <= SIGHT, steps)
        difficulty = _leaving(away[free][:, : follow_mate.SOON])
        found.append(hits(spots.where(free), difficulty, (), target))
    kinds = [("", {"target": target, "steps": steps}) for target in people]
    episode, role, moment, difficulty, kind = (
        np.concatenate(columns) for columns in zip(*(one[:5] for one in found), strict=True)
    )
    return Hits(episode, role, moment, difficulty, kind, kinds)


def _catch_mate(every: Tracks, context: int, horizon: int) -> Hits:
    if every.people != 2:
        return hits(Spots.of(every, np.zeros(every.me.shape, np.bool_), context, horizon), 0)
    mate = every.me.reshape(-1, 2, every.me.shape[1])[:, ::-1].reshape(every.me.shape)
    away = every.apart(every.me, mate)
    gone = ago(away)
    near = (gone <= min(join_teammate.RECENT, context)) & (away > 0) & (away <= join_teammate.FAR)
    spots = Spots.of(every, near, context, horizon)
    was = spots.now(mate, -spots.now(gone))
    spots = spots.where(every.apart(spots.now(mate), was) <= SIGHT)
    kinds = [("", {"target": target}) for target in (1, 0)]  # by who is asked
    return hits(spots, np.minimum(spots.now(away), 3) - 1, kinds, spots.track % 2)


def _elsewhere(spots: Spots, values: Ints) -> Any:
    """Says whether a team-mate is on the move, and not along with Good."""
    path = spots.span(values, 0, spots.horizon + 1)
    moves = (path[:, 1:] != path[:, :-1]).mean(1)
    by_good = spots.every.apart(path[:, 1:], spots.ahead(spots.every.good)) <= follow_mate.BY_GOOD
    return (3 * moves >= 2) & (by_good.mean(1) < follow_mate.SELDOM)


def _ambush(every: Tracks, context: int, horizon: int) -> Hits:
    spots = Spots.of(every, every.to_good == 1, context, horizon)
    spots = spots.where((spots.still(every.good) > 0).all(1))
    moves = seen_moves(spots, context)
    length, _ = period(moves)
    known = length > 0
    spots, moves, length = spots.where(known), moves[known], length[known]
    cell, way = spots.now(every.good), []
    for step in range(ambush.HORIZON):
        place = context - length + step % np.maximum(length, 1)
        cell = every.moved(cell, np.take_along_axis(moves, place[:, None], 1)[:, 0])
        way.append(cell)
    foreseen, good = np.stack(way, 1), spots.ahead(every.good)
    path = _lain(spots, foreseen)
    met = first(every.apart(path[:, 1:], good) == 0)
    steps = ambush.STEPS
    back = np.maximum(met[:, None] - np.arange(steps + 1), 0)
    stood = (np.take_along_axis(path, back, 1) == np.take_along_axis(path, met[:, None], 1)).all(1)
    whole = min(foreseen.shape[1], good.shape[1])
    other = first(foreseen[:, :whole] != good[:, :whole])
    done = (met >= steps) & stood & ((other == 0) | (other > met))
    met = met[done]
    difficulty = 1 * (met > ambush.SOON) + (met > ambush.LATER)
    return hits(spots.where(done), difficulty, steps_in_a_row(steps))


def _lain(spots: Spots, way: Ints) -> Ints:
    """Returns int[N, L + 1], the cells of who lies in wait on a way, as `ambush`'s probe does."""
    every, me = spots.every, spots.now(spots.every.me)
    stood, path = np.zeros(len(me), np.int32), [me]
    for now in range(spots.horizon):
        goal = np.full(len(me), NONE, np.int32)
        for step in range(1, way.shape[1] - now + 1):
            cell = way[:, now + step - 1]
            away = every.apart(me, cell)
            waits = np.where(away > 0, step - away, np.minimum(stood, now) + step)
            again = (way[:, now : now + step - 1] == cell[:, None]).any(1)
            goal = np.where((goal == NONE) & (waits >= ambush.STEPS) & ~again, cell, goal)
        move = np.where(goal == NONE, torus.STAY, every.toward(me, np.maximum(goal, 0)))
        stood = np.where(move == torus.STAY, stood + 1, 0)
        me = every.moved(me, move)
        path.append(me)
    return np.stack(path, 1)


def _tempted(every: Tracks, context: int, horizon: int) -> tuple[Spots, Any]:
    """Returns where `keep-beside` is tempting, and how restless Good is, as there."""
    spots = Spots.of(every, every.to_good == 1, context, horizon)
    away = spots.still(every.good)
    spots = spots.where(((away == 0) | (away > keep_beside.AWAY)).any(1))
    spots = spots.where((spots.chase() == spots.ahead(every.good)).any(1))
    good = spots.span(every.good, 0, horizon + 1)
    stays = (good[:, 1:] == good[:, :-1]).mean(1)
    return spots, np.where(stays >= 0.5, 0, np.where(stays >= 0.25, 1, 2))


def _keep_beside(every: Tracks, context: int, horizon: int) -> Hits:
    return hits(*_tempted(every, context, horizon))


def _beside_or_leave(every: Tracks, context: int, horizon: int) -> Hits:
    spots, difficulty = _tempted(every, context, horizon)
    stays = (spots.still(every.good) < beside_or_leave.AWAY).all(1)
    return _either(spots.where(stays), difficulty[stays], beside_or_leave.DEEDS)


def _either(spots: Spots, difficulty: Any, deeds: Any) -> Hits:
    """Returns both halves of a pair at each of some moments."""
    twice = Spots(spots.every, np.tile(spots.track, 2), np.tile(spots.moment, 2), spots.horizon)
    kinds = [(name, {"asked": name, **one.parameters}) for name, one in deeds.items()]
    return hits(twice, np.tile(difficulty, 2), kinds, np.repeat((0, 1), len(spots.track)))


def _evade_or_shadow(every: Tracks, context: int, horizon: int) -> Hits:
    lately = ago(every.to_evil) <= min(evade_or_shadow.RECENT, context)
    near = (every.to_evil > 0) & (every.to_evil <= evade_or_shadow.AWAY)
    spots = Spots.of(every, lately & near, context, horizon)
    spots = spots.where(_moves(spots, every.evil))
    close = spots.still(every.evil) <= SIGHT
    spots = spots.where(close.any(1) & ~in_a_row(close, evade_or_shadow.STEPS))
    spots = spots.where(_sparing(spots) <= evade_or_shadow.SPARED)
    spots = spots.where(_evades(spots, context))
    return _either(spots, _haste(spots), evade_or_shadow.DEEDS)


def _find_good_again(every: Tracks, context: int, horizon: int) -> Hits:
    gone, least = ago(every.to_good), find_good_again.LATEST
    lost = (gone >= least) & (gone <= min(find_good_again.EARLIEST, context))
    spots = Spots.of(every, lost & (every.to_good > find_good_again.SHINES), context, horizon)
    blind = (every.apart(spots.ways(), spots.ahead(every.good)[:, None]) <= SIGHT).any(2)
    free = ~blind[:, torus.STAY] & (blind.sum(1) <= find_good_again.SPARED)
    return hits(spots.where(free), OPEN)


def _clean_take(every: Tracks, context: int, horizon: int) -> Hits:
    asked = (ago(every.to_good) <= min(clean_take.GOOD_SEEN, context)) & (every.to_good > 0)
    asked &= ago(every.to_evil) <= min(clean_take.EVIL_SEEN, context)
    spots = Spots.of(every, asked, context, horizon)
    met, hit = first(spots.still(every.good) == 0), first(spots.still(every.evil) <= SIGHT)
    return hits(spots.where((met == 0) | ((hit > 0) & (hit <= met))), OPEN)


def _good_apart(every: Tracks, context: int, horizon: int) -> Hits:
    near = (every.to_good <= SIGHT) & (every.crowd() > 0)
    spots = Spots.of(every, near, context, horizon)
    close = spots.still(every.good) <= good_apart.AWAY
    spots = spots.where(2 * close.sum(1) <= good_apart.STEPS)
    others = _others(spots)
    straight = spots.chase()
    shared = (others == straight[:, :, None]).any((1, 2))
    spots, others, straight = spots.where(shared), others[shared], straight[shared]
    good, free = spots.ahead(every.good), np.ones(len(spots.track), np.bool_)
    for cells in (straight, *spots.ways().swapaxes(0, 1)):
        alone = (others != cells[:, :, None]).all(2)
        near_by = every.apart(cells, good) <= good_apart.AWAY
        free &= ~in_a_row(alone & near_by, good_apart.STEPS)
    beside = (others == good[:, :, None]).sum(2).mean(1)[free]
    few, many = beside < good_apart.FEW, beside < good_apart.MANY
    difficulty = np.where(few, 0, np.where(many, 1, 2))
    return hits(spots.where(free), difficulty, steps_in_a_row(good_apart.STEPS))


def _others(spots: Spots) -> Ints:
    """Returns int[N, L, P - 1], where the others are after each step."""
    people, role = spots.every.people, spots.track % spots.every.people
    index = (role[:, None] + np.arange(1, people)) % people
    tracks_ = (spots.track - role)[:, None] + index
    frames = spots.moment[:, None] + np.arange(1, spots.horizon + 1)
    out: Ints = spots.every.me[tracks_[:, None, :], frames[:, :, None]]
    return out


SCREENS = {
    "ambush": screen(_ambush),
    "beside-or-leave": screen(_beside_or_leave, exact=False),
    "catch-mate": screen(_catch_mate),
    "clean-take": screen(_clean_take, exact=False),
    "evade-evil": screen(_evade_evil),
    "evade-or-shadow": screen(_evade_or_shadow, exact=False),
    "find-good-again": screen(_find_good_again, exact=False),
    "follow-mate": screen(_follow_mate),
    "good-apart": screen(_good_apart, exact=False),
    "hold-until-evil": screen(_hold_until_evil),
    "keep-beside": screen(_keep_beside, exact=False),
    "return-to-first": screen(_return_to_first),
    "shadow-evil": screen(_shadow_evil),
}
"""The screen of each instruction, by its name."""
