"""Many tracks of Λ* at once: all moments of many episodes.

A track is a participant of an episode; arrays have a row a track and a column a frame. Of `Spots`,
some moments of some tracks, there is a row a moment.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.trajectories.flat import Abreast
from sts.worlds.lambda_star import torus

from .tracks import EVIL, FIRST_PLAYER, GOOD, NONE, SIGHT, Bools, directions, frames_since

MOVES = np.arange(9, dtype=np.int32)
_MAX_TABLE_CELLS = 2048
"""Of larger grids nothing is looked up; all of it is reckoned."""
Ints = NDArray[np.int32]


class _Tables(NamedTuple):
    """What is to be known of all cells of a grid: arrays [H * W, H * W], and `moved` [H * W, 9]."""

    apart: NDArray[np.int16]
    toward: NDArray[np.int8]
    moved: Ints


@functools.lru_cache(maxsize=8)
def _tables(height: int, width: int) -> _Tables | None:
    """Return the tables of a grid that is not too large for them."""
    if height * width > _MAX_TABLE_CELLS:
        return None
    cells = np.arange(height * width, dtype=np.int32)
    return _Tables(
        torus.distance(cells[:, None], cells, height, width).astype(np.int16),
        torus.toward(cells[:, None], cells, height, width, torus.BACK).astype(np.int8),
        torus.moved(cells[:, None], MOVES, height, width),
    )


class TrackBatch:
    """All participants of episodes of one size.

    Attributes:
      size: (H, W).
      people: P; track n is participant n % P of episode n // P.
      me: its cell.
      good: Good's cell.
      evil: Evil's cell.
      to_good: the distance to Good.
      to_evil: the distance to Evil.
    """

    def __init__(self, every: Abreast) -> None:
        """Read every participant of every episode."""
        scene = every.scene.astype(np.int32)
        self.size, self.people = (every.height, every.width), every.participants
        self.scene, self._tables = scene, _tables(*self.size)
        self.me = np.ascontiguousarray(scene[:, :, FIRST_PLAYER:].swapaxes(1, 2)).reshape(
            -1, scene.shape[1]
        )
        self.good, self.evil = (
            np.repeat(scene[:, :, one], self.people, axis=0) for one in (GOOD, EVIL)
        )
        self.to_good, self.to_evil = (self.apart(self.me, one) for one in (self.good, self.evil))

    def apart(self, a: Any, b: Any) -> Any:
        """Return distances between cells."""
        if self._tables is None:
            return torus.distance(a, b, *self.size)
        return self._tables.apart[a, b]

    def toward(self, a: Any, b: Any) -> Any:
        """Return the first moves of shortest ways."""
        if self._tables is None:
            return torus.toward(a, b, *self.size, torus.BACK)
        return self._tables.toward[a, b]

    def moved(self, cell: Any, move: Any) -> Any:
        """Return the cells that moves lead to."""
        if self._tables is None:
            return torus.moved(cell, move, *self.size)
        return self._tables.moved[cell, move]

    def diagonal(self, a: Any, b: Any) -> Bools:
        """Says of cells in sight whether they are in a corner of it."""
        rows, columns = torus.offset(a, b, *self.size, torus.BACK)
        corner: Bools = (rows != 0) & (columns != 0)
        return corner

    def between(self, a: Any, b: Any) -> Any:
        """Return the directions between cells; NONE where there is none."""
        return directions(a, b, self.size)

    def other(self, person: int) -> Ints:
        """Return one participant's cell, for each track of its episode."""
        return np.repeat(self.scene[:, :, FIRST_PLAYER + person], self.people, axis=0)

    def crowd(self) -> Ints:
        """Return how many others are in sight."""
        people = self.me.reshape(-1, self.people, self.me.shape[1])
        near = np.full(people.shape, -1, np.int32)  # oneself
        for one in range(self.people):
            near = near + (self.apart(people, people[:, one : one + 1]) <= SIGHT)
        return near.reshape(self.me.shape)


@functools.lru_cache(maxsize=1)
def build_tracks(every: Abreast) -> TrackBatch:
    """Return the tracks of episodes, made once for all categories that ask one after the other."""
    return TrackBatch(every)


class MomentBatch:
    """Some moments of some tracks.

    Attributes:
      every: the tracks.
      track: int[N], which of them.
      moment: int[N], when.
      horizon: L.
    """

    def __init__(self, every: TrackBatch, track: Any, moment: Any, horizon: int) -> None:
        """Take which moments of which tracks."""
        self.every, self.track, self.moment, self.horizon = every, track, moment, horizon

    @classmethod
    def of(cls, every: TrackBatch, hits: Bools, context: int, horizon: int) -> MomentBatch:
        """Return the moments at which something is so and that leave room on both sides."""
        last = every.me.shape[1] - 1 - horizon
        track, moment = np.nonzero(hits[:, context : last + 1])
        return cls(every, track, moment + context, horizon)

    def where(self, hits: Any) -> MomentBatch:
        """Return those of them at which something is so."""
        return MomentBatch(self.every, self.track[hits], self.moment[hits], self.horizon)

    def now(self, values: NDArray[Any], later: Any = 0) -> Any:
        """Return what something is, so many frames later."""
        return values[self.track, self.moment + later]

    def span(self, values: NDArray[Any], start: int, stop: int) -> Any:
        """Return what something is from so many frames later to before so many."""
        frames = self.moment[:, None] + np.arange(start, stop)
        return values[self.track[:, None], frames]

    def ahead(self, values: NDArray[Any]) -> Any:
        """Return what something is after each step."""
        return self.span(values, 1, self.horizon + 1)

    def still(self, values: Ints) -> Any:
        """Return how far something is after each step from who stands still."""
        return self.every.apart(self.now(self.every.me)[:, None], self.ahead(values))

    def moves(self, values: Ints) -> Bools:
        """Return where something moves in half of the steps or more."""
        path = self.span(values, 0, self.horizon + 1)
        often: Bools = 2 * (path[:, 1:] != path[:, :-1]).sum(1) >= self.horizon
        return often

    def chase(self) -> Ints:
        """Return the cells after each step, each one towards where Good was before it."""
        cell, out = self.now(self.every.me), []
        for step in range(self.horizon):
            cell = self.every.moved(cell, self.every.toward(cell, self.now(self.every.good, step)))
            out.append(cell)
        return np.stack(out, 1)

    def ways(self) -> Ints:
        """Return int[N, 9, L], the cells after each step of each move made for ever."""
        height, width = self.every.size
        steps, me = (
            np.arange(1, self.horizon + 1, dtype=np.int32),
            self.now(self.every.me)[:, None, None],
        )
        rows = (me // width + np.outer(MOVES // 3 - 1, steps)) % height
        cells: Ints = rows * width + (me % width + np.outer(MOVES % 3 - 1, steps)) % width
        return cells

    def held(self, goal: Ints) -> Bools:
        """Says whether one of the nine moves, made for ever, leads over a cell."""
        height, width = self.every.size
        steps = np.arange(1, self.horizon + 1)
        over = np.zeros((height, width), np.bool_)
        down, right = np.outer(MOVES // 3 - 1, steps), np.outer(MOVES % 3 - 1, steps)
        over[down % height, right % width] = True
        me = self.now(self.every.me)
        crossed: Bools = over[goal // width - me // width, goal % width - me % width]
        return crossed

    def fled(self, context: int, *, waiting: bool) -> Ints:
        """Return int[N, L + 1], the cells of who flees Evil as the probe of `evade-evil` does.

        It remembers what it saw in the context; if `waiting`, it stands still until Evil comes.
        """
        every = self.every
        near = every.to_evil <= SIGHT
        both = np.pad(near[:, 1:] & near[:, :-1], ((0, 0), (1, 0)))
        lately, moving = self.now(frames_since(near)), self.now(frames_since(both))
        evil = np.where(lately <= context, self.now(every.evil, -np.minimum(lately, context)), NONE)
        back = np.minimum(moving, context - 1)
        shift = every.toward(self.now(every.evil, -back - 1), self.now(every.evil, -back))
        way = np.where(moving < context, shift, torus.STAY)
        me, before, came = self.now(every.me), self.now(near), np.zeros(len(self.track), np.bool_)
        path = [me]
        for step in range(1, self.horizon + 1):
            landing = every.moved(me[:, None], MOVES)
            soon = every.apart(landing, every.moved(evil, way)[:, None])
            rank = 10 * np.minimum(every.apart(landing, evil[:, None]), soon) + soon
            stays = (evil == NONE) | (waiting & ~came)
            me = every.moved(me, np.where(stays, torus.STAY, rank.argmax(1)))
            was, now = self.now(every.evil, step - 1), self.now(every.evil, step)
            close = every.apart(me, now) <= SIGHT
            way = np.where(close & before, every.toward(was, now), way)
            evil, before, came = np.where(close, now, evil), close, came | close
            path.append(me)
        return np.stack(path, 1)
