"""Features of one player's trajectory in Λ*: cells, distances, runs and labels based on them.

Cells are row * W + column on an H x W torus; distances are Chebyshev. In a scene Good is object 0,
Evil object 1 and player p object 2 + p. Objects at a distance of at most one are in sight. The last
axis of an array is frames; others may precede it.
"""

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Episode, Scenario
from sts_lambda_star import torus
from sts_lambda_star.state import TOKENS, decode
from sts_scenarios.plugin import NOT_DONE, Label, Overlay, make_label

GOOD, EVIL, FIRST_PLAYER = 0, 1, 2
SIGHT = 1
DOMAIN = "lambda-star"
NONE = -1
"""Value of a missing direction, move or cell."""
_MAX_TABLE_CELLS = 256
"""Cells of the largest grid whose distances are looked up, in a table of up to 512 kB."""
NEVER = 10**6
"""Lower bound on the age of an event that never happened, in frames."""
Cells = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Grid(NamedTuple):
    """Grid of H rows and W columns."""

    height: int
    width: int


@functools.lru_cache(maxsize=4096)
def read_grid(state: bytes) -> Grid:
    """Return the grid of a serialised state."""
    decoded = decode(state)
    return Grid(decoded.height, decoded.width)


def distances(a: Cells | int, b: Cells | int, size: Grid) -> Any:
    """Return the toroidal Chebyshev distances between cells."""
    return torus.distance(a, b, *size)


def _look_up_distances(a: Cells, b: Cells, size: Grid) -> Any:
    """Return the distances between cells of the grid, from a table if the grid is small."""
    n_cells = size.height * size.width
    return _distance_table(size)[a, b] if n_cells <= _MAX_TABLE_CELLS else distances(a, b, size)


@functools.lru_cache(maxsize=64)
def _distance_table(size: Grid) -> Cells:
    """Return int64[cells, cells], the distances between all cells of a grid."""
    cells = np.arange(size.height * size.width)
    table: Cells = distances(cells[:, None], cells, size)
    return table


def directions(a: Any, b: Any, size: tuple[int, int]) -> Any:
    """Return the directions between cells.

    NONE if a direction is neither straight nor diagonal, or two are equally short.
    """
    height, width = size
    rows, columns = torus.shortest_offset(a, b, height, width, torus.TIE_BACK)
    oblique = (rows != 0) & (columns != 0) & (abs(rows) != abs(columns))
    halfway = (2 * abs(rows) == height) | (2 * abs(columns) == width)
    return np.where(oblique | halfway, NONE, torus.offset_to_move(torus.Offset(rows, columns)))


class Track:
    """One player in F frames of an episode.

    Attributes:
      size: the grid.
      player: index of the player.
      scene: int64[F, K], the cells of all objects.
      me: the player's cell.
      good: Good's cell.
      evil: Evil's cell.
    """

    def __init__(self, scene: Cells, size: Grid, player: int) -> None:
        """Extract player `player` from a scene."""
        self.scene, self.size, self.player = scene, size, player
        self.me, self.good, self.evil = (
            scene[:, FIRST_PLAYER + player],
            scene[:, GOOD],
            scene[:, EVIL],
        )

    @functools.cached_property
    def to_good(self) -> Any:
        """Distance to Good."""
        return self.distance(self.me, self.good)

    @functools.cached_property
    def to_evil(self) -> Any:
        """Distance to Evil."""
        return self.distance(self.me, self.evil)

    def distance(self, a: Cells, b: Cells) -> Any:
        """Return the distances between cells."""
        return _look_up_distances(a, b, self.size)

    def distance_to(self, other: int) -> Cells:
        """Return the distance to another player."""
        distance: Cells = distances(self.me, self.scene[:, FIRST_PLAYER + other], self.size)
        return distance


def make_track(episode: Episode, player: int, frames: slice = slice(None)) -> Track:
    """Return the track of a player in all T + 1 frames of an episode, or in some."""
    return Track(episode.scene[frames].astype(np.int64), read_grid(episode.state), player)


def track_until_takeover(scenario: Scenario) -> Track:
    """Return the track of a scenario's evaluated player up to the takeover."""
    return make_track(scenario.recording, scenario.players[0], slice(scenario.context + 1))


def frames_since(hits: Bools) -> Any:
    """Return the number of frames since the last hit; NEVER or more if there was none."""
    frames = np.arange(hits.shape[-1], dtype=np.int32)
    return frames - np.maximum.accumulate(np.where(hits, frames, -NEVER), axis=-1)


def frames_since_sight(distance: Any) -> Any:
    """Return the number of frames since something was in sight; NEVER or more if it never was."""
    return frames_since(distance <= SIGHT)


def first_step(hits: Bools) -> Any:
    """Return the step of the first hit, counted from 1; 0 if there is none."""
    if not hits.shape[-1]:
        return np.zeros(hits.shape[:-1], np.int64)
    if hits.ndim == 1:  # the same, and quicker
        first = int(hits.argmax())
        return first + 1 if hits[first] else 0
    return np.where(hits.any(-1), hits.argmax(-1) + 1, 0)


def run_ends(hits: Bools, count: int) -> Bools:
    """Return True where `count` consecutive hits end."""
    total = np.cumsum(hits, axis=-1, dtype=np.int32)
    total = np.concatenate((np.zeros_like(total[..., :1]), total), axis=-1)
    out = np.zeros(hits.shape, np.bool_)
    out[..., count - 1 :] = total[..., count:] - total[..., :-count] == count
    return out


def judge_staying(distance: Any, count: int) -> Any:
    """Return the step at which `count` consecutive frames in sight end; 0 if they never do."""
    return first_step(run_ends(distance <= SIGHT, count))


def judge_no_miss(misses: Bools) -> Any:
    """Return minus the step of the first miss; without one, the last step."""
    step = first_step(misses)
    return np.where(step, -step, misses.shape[-1])


def label_answer(
    episode: Episode, takeover: int, players: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """Judge the first utterance after the takeover against the answer; silence is not_done."""
    utterances = episode.utterances[takeover:, players[0]]
    step = int(first_step(utterances != 0))
    return (
        make_label(step, TOKENS[utterances[step - 1]] == parameters["answer"]) if step else NOT_DONE
    )


def show_sight(scenario: Scenario) -> Overlay:
    """Return an overlay that frames the cells in sight."""
    return Overlay(player_view=True)
