"""Batched versions of the functions in `tracks`, for all steps of many episodes.

A track is one player of an episode. Arrays have one row per track and one column per frame. A
`StepBatch` selects steps of tracks; its arrays have one row per selected step.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Episode, EpisodeBatch, Scenario
from sts_lambda_star import torus

from .tracks import (
    EVIL,
    FIRST_PLAYER,
    GOOD,
    NONE,
    SIGHT,
    Bools,
    Track,
    directions,
    frames_since,
    frames_since_sight,
    read_grid,
)

MOVES = np.arange(9, dtype=np.int32)
_MAX_TABLE_CELLS = 2048
"""Larger grids are computed directly instead of looked up."""
Ints = NDArray[np.int32]


class _Tables(NamedTuple):
    """Lookup tables of a grid: arrays [H * W, H * W], except `cell_after` [H * W, 9]."""

    distance: NDArray[np.int16]
    move_towards: NDArray[np.int8]
    cell_after: Ints


@functools.lru_cache(maxsize=8)
def _tables(height: int, width: int) -> _Tables | None:
    """Return the lookup tables of a grid; None if it is too large."""
    if height * width > _MAX_TABLE_CELLS:
        return None
    cells = np.arange(height * width, dtype=np.int32)
    return _Tables(
        torus.distance(cells[:, None], cells, height, width).astype(np.int16),
        torus.first_move(cells[:, None], cells, height, width, torus.TIE_BACK).astype(np.int8),
        torus.move_cell(cells[:, None], MOVES, height, width),
    )


class TrackBatch:
    """All players of episodes of one grid size.

    Attributes:
      size: (H, W).
      players: P; track n is player n % P of episode n // P.
      me: the player's cell.
      good: Good's cell.
      evil: Evil's cell.
      to_good: distance to Good.
      to_evil: distance to Evil.
    """

    def __init__(self, episodes: EpisodeBatch) -> None:
        scene = episodes.scene.astype(np.int32)
        self.size, self.players = (episodes.height, episodes.width), episodes.n_players
        self.scene, self._tables = scene, _tables(*self.size)
        self.me = np.ascontiguousarray(scene[:, :, FIRST_PLAYER:].swapaxes(1, 2)).reshape(
            -1, scene.shape[1]
        )
        self.good, self.evil = (
            np.repeat(scene[:, :, index], self.players, axis=0) for index in (GOOD, EVIL)
        )
        self.to_good, self.to_evil = (
            self.distance(self.me, cells) for cells in (self.good, self.evil)
        )

    @classmethod
    def of_episode(cls, episode: Episode, last_frame: int | None = None) -> TrackBatch:
        """Return the tracks of one episode, up to a frame."""
        stop = None if last_frame is None else last_frame + 1
        scene = episode.scene[None, :stop]
        return cls(EpisodeBatch(*read_grid(episode.state), episode.n_players, scene))

    @functools.cached_property
    def since_good(self) -> Ints:
        """Frames since Good was in sight."""
        since: Ints = frames_since_sight(self.to_good)
        return since

    @functools.cached_property
    def since_evil(self) -> Ints:
        """Frames since Evil was in sight."""
        since: Ints = frames_since_sight(self.to_evil)
        return since

    def distance(self, a: Any, b: Any) -> Any:
        """Return the distances between cells."""
        if self._tables is None:
            return torus.distance(a, b, *self.size)
        return self._tables.distance[a, b]

    def move_towards(self, a: Any, b: Any) -> Any:
        """Return the first moves of shortest paths."""
        if self._tables is None:
            return torus.first_move(a, b, *self.size, torus.TIE_BACK)
        return self._tables.move_towards[a, b]

    def cell_after(self, cell: Any, move: Any) -> Any:
        """Return the cells that moves lead to."""
        if self._tables is None:
            return torus.move_cell(cell, move, *self.size)
        return self._tables.cell_after[cell, move]

    def is_diagonal(self, a: Any, b: Any) -> Bools:
        """Return True for neighbouring cells that touch only at a corner."""
        rows, columns = torus.shortest_offset(a, b, *self.size, torus.TIE_BACK)
        corner: Bools = (rows != 0) & (columns != 0)
        return corner

    def direction(self, a: Any, b: Any) -> Any:
        """Return the directions between cells; NONE if there is no single one."""
        return directions(a, b, self.size)

    def player_cells(self, player: int) -> Ints:
        """Return the cells of one player, repeated for each track of its episode."""
        return np.repeat(self.scene[:, :, FIRST_PLAYER + player], self.players, axis=0)

    @functools.cached_property
    def others_in_sight(self) -> Ints:
        """Numbers of other players in sight."""
        cells = self.me.reshape(-1, self.players, self.me.shape[1])
        near = np.full(cells.shape, -1, np.int32)  # without the player itself
        for player in range(self.players):
            near = near + (self.distance(cells, cells[:, player : player + 1]) <= SIGHT)
        return near.reshape(self.me.shape)


@functools.lru_cache(maxsize=1)
def build_tracks(episodes: EpisodeBatch) -> TrackBatch:
    """Return the tracks of episodes, cached for categories that search the same episodes."""
    return TrackBatch(episodes)


class Paths(Track):
    """Tracks of possible paths, without the cells of other players.

    Arrays have one row per path and one column per frame, from the step at which it starts.
    """

    def __init__(self, tracks: TrackBatch, me: Any, good: Any, evil: Any) -> None:
        self.tracks, self.me, self.good, self.evil = tracks, me, good, evil

    def distance(self, a: Any, b: Any) -> Any:
        """Return the distances between cells."""
        return self.tracks.distance(a, b)


class StepBatch:
    """Selected steps of selected tracks.

    Attributes:
      tracks: all tracks.
      track: int[N], row in `tracks`.
      step: int[N].
      context: C.
      horizon: L.
    """

    def __init__(
        self, batch: TrackBatch, track: Any, step: Any, context: int, horizon: int
    ) -> None:
        self.tracks, self.track, self.step = batch, track, step
        self.context, self.horizon = context, horizon

    @classmethod
    def select(cls, batch: TrackBatch, hits: Bools, context: int, horizon: int) -> StepBatch:
        """Return the steps with a hit that have C steps before and L steps after them."""
        last = batch.me.shape[1] - 1 - horizon
        track, step = np.nonzero(hits[:, context : last + 1])
        return cls(batch, track, step + context, context, horizon)

    @classmethod
    def at_takeover(cls, scenario: Scenario) -> StepBatch:
        """Return the takeover of a scenario's evaluated player, with nothing after it."""
        batch = TrackBatch.of_episode(scenario.recording, scenario.context)
        step = np.array([scenario.context])
        return cls(batch, np.array(scenario.players[:1]), step, scenario.context, 0)

    def filter(self, hits: Any) -> StepBatch:
        """Return the subset of steps with a hit, or the steps of some indices."""
        steps = self.track[hits], self.step[hits]
        return StepBatch(self.tracks, *steps, self.context, self.horizon)

    def values_at(self, values: NDArray[Any], later: Any = 0) -> Any:
        """Return the values at each step, or some frames later."""
        return values[self.track, self.step + later]

    def values_between(self, values: NDArray[Any], start: int, stop: int) -> Any:
        """Return the values from `start` frames after each step up to before `stop`."""
        frames = self.step[:, None] + np.arange(start, stop)
        return values[self.track[:, None], frames]

    def values_after(self, values: NDArray[Any]) -> Any:
        """Return the values after each of the L following steps."""
        return self.values_between(values, 1, self.horizon + 1)

    def distance_if_still(self, values: Ints) -> Any:
        """Return the distances to moving cells after each step if the player stands still."""
        return self.tracks.distance(
            self.values_at(self.tracks.me)[:, None], self.values_after(values)
        )

    def is_moving(self, values: Ints) -> Bools:
        """Return True where cells change in at least half of the L steps."""
        path = self.values_between(values, 0, self.horizon + 1)
        moving: Bools = 2 * (path[:, 1:] != path[:, :-1]).sum(1) >= self.horizon
        return moving

    def chase_good(self) -> Ints:
        """Return the player's cell after each of L moves towards where Good was before it."""
        cell, out = self.values_at(self.tracks.me), []
        for step in range(self.horizon):
            cell = self.tracks.cell_after(
                cell, self.tracks.move_towards(cell, self.values_at(self.tracks.good, step))
            )
            out.append(cell)
        return np.stack(out, 1)

    def follow(self, path: Ints) -> Paths:
        """Return the tracks from each step on of a player that takes these cells, [N, ..., L+1]."""
        axes = (slice(None), *(None,) * (path.ndim - 2))
        good, evil = (
            self.values_between(cells, 0, self.horizon + 1)[axes]
            for cells in (self.tracks.good, self.tracks.evil)
        )
        return Paths(self.tracks, path, good, evil)

    def stand_still(self) -> Paths:
        """Return the tracks from each step on of a player that stands still."""
        me = self.values_at(self.tracks.me)[:, None]
        return self.follow(np.broadcast_to(me, (len(me), self.horizon + 1)))

    def repeat_moves(self) -> Paths:
        """Return the tracks of a player that repeats each of the nine moves, [N, 9, L + 1]."""
        height, width = self.tracks.size
        steps, me = (
            np.arange(self.horizon + 1, dtype=np.int32),
            self.values_at(self.tracks.me)[:, None, None],
        )
        rows = (me // width + np.outer(MOVES // 3 - 1, steps)) % height
        return self.follow(rows * width + (me % width + np.outer(MOVES % 3 - 1, steps)) % width)

    def is_on_constant_path(self, goal: Ints) -> Bools:
        """Return True where repeating one of the nine moves for L steps crosses a cell."""
        height, width = self.tracks.size
        steps = np.arange(1, self.horizon + 1)
        over = np.zeros((height, width), np.bool_)
        down, right = np.outer(MOVES // 3 - 1, steps), np.outer(MOVES % 3 - 1, steps)
        over[down % height, right % width] = True
        me = self.values_at(self.tracks.me)
        crossed: Bools = over[goal // width - me // width, goal % width - me % width]
        return crossed

    def flee_evil(self, *, waiting: bool) -> Paths:
        """Return the tracks of a player that flees Evil as `evade-evil`'s solver does, [N, L + 1].

        It remembers what it saw in the context. If `waiting`, it stands still until Evil comes.
        """
        batch, context = self.tracks, self.context
        near = batch.to_evil <= SIGHT
        both = np.pad(near[:, 1:] & near[:, :-1], ((0, 0), (1, 0)))
        seen_ago, moved_ago = self.values_at(batch.since_evil), self.values_at(frames_since(both))
        evil = np.where(
            seen_ago <= context, self.values_at(batch.evil, -np.minimum(seen_ago, context)), NONE
        )
        back = np.minimum(moved_ago, context - 1)
        shift = batch.move_towards(
            self.values_at(batch.evil, -back - 1), self.values_at(batch.evil, -back)
        )
        way = np.where(moved_ago < context, shift, torus.STAY)
        me, before, came = (
            self.values_at(batch.me),
            self.values_at(near),
            np.zeros(len(self.track), np.bool_),
        )
        path = [me]
        for step in range(1, self.horizon + 1):
            landing = batch.cell_after(me[:, None], MOVES)
            next_distance = batch.distance(landing, batch.cell_after(evil, way)[:, None])
            rank = (
                10 * np.minimum(batch.distance(landing, evil[:, None]), next_distance)
                + next_distance
            )
            still = (evil == NONE) | (waiting & ~came)
            me = batch.cell_after(me, np.where(still, torus.STAY, rank.argmax(1)))
            was, now = self.values_at(batch.evil, step - 1), self.values_at(batch.evil, step)
            close = batch.distance(me, now) <= SIGHT
            way = np.where(close & before, batch.move_towards(was, now), way)
            evil, before, came = np.where(close, now, evil), close, came | close
            path.append(me)
        return self.follow(np.stack(path, 1))
