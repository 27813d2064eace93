"""Generator of worlds: start cells, and movement patterns of Good and Evil by their complexity.

`paper` follows Chmait et al. 2016, sections 4.2 and 5.1: patterns of moves, a recurrent segment of
1 to half the horizon, Good's and Evil's different and equally complex, K drawn from a given range.
`lambdastar-2016` follows the published program: a walk of n to 2n - 1 cells there and back, and
Evil on Good's path shifted by a constant.
"""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from sts.plugin import ArgumentError, random_integer, stream, streams
from sts_lambda_star.generation import walks
from sts_lambda_star.kernels import Ints, WorldArrays, zero_arrays
from sts_lambda_star.state import MAX_PLAYERS

PATTERNS = ("paper", "lambdastar-2016")
DEFAULT_COMPLEXITY = (2, 23)
_SAMPLE_SIZE = 20_000
_MIN_COUNT = 2
_INITIAL_MAX = 64


class Settings(NamedTuple):
    """Settings of a generated world; `complexity` is the range of K, both ends included."""

    height: int = 10
    width: int = 10
    n_players: int = 1
    horizon: int = 50
    complexity: tuple[int, int] | None = None
    patterns: str = "paper"
    radius: int = 1
    needs: int = 1  # players within 1 cell without whom Good, or Evil, has no effect


def unpack_size(size: Any) -> tuple[Any, Any]:
    """Unpack a size into rows and columns; `check_settings` validates their values."""
    try:
        height, width = size
    except (TypeError, ValueError):
        raise ArgumentError(f"expected a size of (rows, columns), found {size!r}") from None
    return height, width


def check_settings(settings: Settings) -> None:
    """Raise ArgumentError if `settings` are invalid; the message states what is allowed."""
    s = settings
    _check_types(s)
    if not (3 <= s.height <= 255 and 3 <= s.width <= 255):
        raise ArgumentError(f"expected sides from 3 to 255, found {s.height}x{s.width}")
    if not 1 <= s.n_players <= min(MAX_PLAYERS, s.height * s.width):
        max_players = min(MAX_PLAYERS, s.height * s.width)
        raise ArgumentError(
            f"expected a team of 1 to {max_players} on a {s.height}x{s.width} grid, "
            f"found {s.n_players}"
        )
    if not 2 <= s.horizon <= 100_000:
        raise ArgumentError(f"expected 2 to 100000 steps, found {s.horizon}")
    if s.radius < 1 or 2 * s.radius + 1 > min(s.height, s.width):
        max_radius = (min(s.height, s.width) - 1) // 2
        raise ArgumentError(
            f"expected a radius of 1 to {max_radius} on a {s.height}x{s.width} grid, "
            f"found {s.radius}"
        )
    if not 1 <= s.needs <= s.n_players:
        raise ArgumentError(
            f"expected needs of 1 to {s.n_players} in a team of {s.n_players}, found {s.needs}"
        )
    if s.patterns not in PATTERNS:
        raise ArgumentError(f"expected patterns {' or '.join(PATTERNS)}, found {s.patterns!r}")
    if s.patterns == "lambdastar-2016" and s.height != s.width:
        raise ArgumentError("lambdastar-2016 worlds are square; give both sides the same size")
    if s.complexity is not None and not 1 <= s.complexity[0] <= s.complexity[1]:
        low, high = s.complexity
        raise ArgumentError(f"expected a complexity range of 1 or more, found {low} to {high}")
    complexity_range(s)


def _check_types(s: Settings) -> None:
    """Raise ArgumentError if a setting has the wrong type, as Python callers can pass any."""
    check_integers(rows=s.height, columns=s.width)
    check_integers(team=s.n_players, steps=s.horizon, radius=s.radius, needs=s.needs)
    range_ = s.complexity
    if range_ is not None and not (
        isinstance(range_, Sequence) and len(range_) == 2 and all(map(is_integer, range_))
    ):
        raise ArgumentError(
            f"expected a complexity range of two whole numbers or None, found {range_!r}"
        )


def check_integers(**values: object) -> None:
    """Raise ArgumentError if a value is not an integer; the message has its keyword."""
    for name, value in values.items():
        if not is_integer(value):
            raise ArgumentError(f"expected whole numbers, found {name} {value!r}")


def is_integer(value: object) -> TypeGuard[int]:
    """Return True if a value is an integer but not a Boolean."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def generate_worlds(settings: Settings, names: Sequence[tuple[int, int]]) -> WorldArrays:
    """Generate the worlds of several (seed, index); raise ArgumentError for invalid `settings`."""
    check_settings(settings)
    s = settings
    low, high = complexity_range(s)
    sides = (int(s.height), int(s.width), int(s.n_players), int(s.horizon))
    purpose = ("lambda-star world", s.patterns, *sides, low, high)
    keys = streams(purpose, [(int(seed), int(index)) for seed, index in names])
    counters = np.zeros(keys.size, np.int64)
    objects = walks.draw_cells(keys, counters, 2, s.height * s.width)
    people = walks.draw_cells(keys, counters, s.n_players, s.height * s.width)
    if s.patterns == "paper":
        levels = [
            random_integer(keys[e], int(counters[e]), high - low + 1) for e in range(keys.size)
        ]
        a = _generate_move_patterns(s, keys, objects, low + np.array(levels, np.int64))
    else:
        a = _generate_cell_patterns(s, keys, counters)
    a.size[:], a.cells[:], a.horizon[:] = (s.height, s.width), people, s.horizon
    a.needs[:] = s.needs
    a.seed[:] = _derive_streams("clash", keys)
    return a


def _generate_move_patterns(
    s: Settings, keys: walks.StreamIds, objects: Ints, complexity: Ints
) -> WorldArrays:
    """Return worlds with the paper's patterns, of a given `complexity`, int64[E]."""
    object_keys = np.stack([_derive_streams(name, keys) for name in ("good", "evil")], 1)
    room = walks.allocate_scratch(s.height, s.width, s.horizon)
    attempts, lengths = walks.search_segments(object_keys, complexity, room)
    flat, offsets = walks.concatenate_segments(object_keys, attempts, lengths, s.horizon)
    a = zero_arrays(keys.size, s.n_players, flat)
    a.objects[:], a.offset[:], a.length[:] = objects, offsets, lengths
    return a


def _generate_cell_patterns(s: Settings, keys: walks.StreamIds, counters: Ints) -> WorldArrays:
    """Return worlds with the published program's paths, which include the start cells."""
    good, evil = walks.draw_published_paths(keys, counters, s.width, s.horizon + 10)
    paths = np.stack((good, evil), 1)
    a = zero_arrays(keys.size, s.n_players, paths.ravel())
    a.objects[:], a.length[:], a.cursor[:], a.kind[:] = paths[:, :, 0], paths.shape[2], 1, 1
    a.offset[:] = np.arange(0, paths.size, paths.shape[2]).reshape(a.offset.shape)
    return a


def _derive_streams(name: str, keys: walks.StreamIds) -> walks.StreamIds:
    """Return each world's random stream of this name."""
    return streams((name,), [(key,) for key in keys.tolist()])


def complexity_range(s: Settings) -> tuple[int, int]:
    """Return the range of K to draw from; by default as much of [2, 23] as is reachable."""
    least, most = reachable_range(s.height, s.width, s.horizon)
    low, high = s.complexity or (
        max(least, DEFAULT_COMPLEXITY[0]),
        min(most, DEFAULT_COMPLEXITY[1]),
    )
    if s.patterns == "paper" and not least <= low <= high <= most:
        low, high = s.complexity or DEFAULT_COMPLEXITY
        raise ArgumentError(
            f"complexity {low} to {high} is out of range for {s.horizon} steps on a "
            f"{s.height}x{s.width} grid; choose a range within {least} to {most}"
        )
    return low, high


@functools.cache
def reachable_range(height: int, width: int, horizon: int) -> tuple[int, int]:
    """Return the range of K whose values random patterns have often enough for rejection sampling.

    It starts with the first such value and ends before the next value that is too rare, even if
    there are more beyond.
    """
    key, most = stream("reachable", height, width, horizon), _INITIAL_MAX
    room = walks.allocate_scratch(height, width, horizon)
    while True:
        counts = walks.count_complexities(key, most, _SAMPLE_SIZE, room)
        often = counts[:-1] >= _MIN_COUNT
        low = int(np.argmax(often))
        values = int(np.argmin(often[low:]))
        if values or most > horizon:
            return low, low + max(values - 1, 0)
        most *= 4
