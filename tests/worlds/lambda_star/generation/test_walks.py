"""The search for patterns passes over no segment that has the wanted complexity."""

from __future__ import annotations

import numpy as np
import pytest

from sts.numerics.draws import below
from sts.numerics.streams import streams
from sts.worlds.lambda_star.generation import patterns, walks
from sts.worlds.lambda_star.generation.lempel_ziv import lz76
from sts.worlds.lambda_star.torus import moved

LOOKED_AT = 30  # attempts before the one that was found


def complexity(key: np.uint64, attempt: int, height: int, width: int, horizon: int) -> int:
    """Return K of the cells that an attempt's segment leads to, by definition."""
    longest = horizon // 2
    first = attempt * (longest + 1)
    length = 1 + below(key, first, longest)
    cell, cells = 0, []
    for t in range(horizon):
        cell = int(moved(cell, below(key, first + 1 + t % length, 9), height, width))
        cells.append(cell)
    return int(lz76(np.array(cells)))


@pytest.mark.parametrize("shape", [(10, 10, 50), (3, 7, 12), (5, 4, 31), (9, 12, 2)])
def test_the_first_segment_of_the_wanted_complexity_is_found(shape: tuple[int, int, int]) -> None:
    low, high = patterns.reachable_range(*shape)
    wanted = np.arange(low, high + 1)
    keys = streams(("walks",), [(int(k), which) for k in wanted for which in range(2)])
    keys = keys.reshape(-1, 2)
    attempts, _ = walks.search_segments(keys, wanted, *shape)
    for key, at, k in zip(keys.ravel(), attempts.ravel().tolist(), wanted.repeat(2), strict=True):
        assert complexity(key, at, *shape) == k
        before = range(max(0, at - LOOKED_AT), at)
        assert k not in {complexity(key, attempt, *shape) for attempt in before}


@pytest.mark.parametrize("shape", [(10, 10, 50), (4, 6, 14)])
def test_a_census_counts_every_complexity(shape: tuple[int, int, int]) -> None:
    key, most, sample = streams(("census",), [()])[0], 12, 300
    counts = walks.count_complexities(key, *shape, most, sample)
    every = [min(complexity(key, attempt, *shape), most + 1) for attempt in range(sample)]
    assert counts.tolist() == np.bincount(every, minlength=most + 2).tolist()
