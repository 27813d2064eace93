"""Looking at a rate again and again while judging goes on."""

import numpy as np
import pytest

from sts_analysis.statistics.intervals import wilson
from sts_analysis.statistics.peek_safe import Stratum, peek_safe_interval


def interval(pool: int, judged: int, successes: int) -> tuple[float, float]:
    return peek_safe_interval([Stratum(pool, judged, (successes, successes))])


def test_it_begins_with_anything_and_ends_with_the_rate() -> None:
    assert interval(50, 0, 0) == (0.0, 1.0)
    assert interval(50, 50, 13) == (13 / 50, 13 / 50)


def test_it_holds_at_every_look_where_wilsons_interval_does_not() -> None:
    rng = np.random.default_rng(0)
    pool, looks = 400, np.arange(5, 400, 5)
    successes = np.zeros(pool, dtype=int)
    successes[:120] = 1
    seen = np.array([np.cumsum(rng.permutation(successes))[looks - 1] for _ in range(400)])
    ends = {
        (t, s): interval(pool, int(t), int(s))
        for column, t in enumerate(looks)
        for s in np.unique(seen[:, column])
    }
    ever = [
        any(not ends[t, s][0] <= 0.3 <= ends[t, s][1] for t, s in zip(looks, row, strict=True))
        for row in seen
    ]
    assert np.mean(ever) <= 0.05
    peeked = wilson(seen / looks, looks)
    outside = (peeked[..., 0] > 0.3) | (peeked[..., 1] < 0.3)
    assert outside.any(axis=1).mean() > 0.2


def test_copies_are_strata_that_share_the_level() -> None:
    rng = np.random.default_rng(1)
    single, triple = np.arange(200) % 2, np.arange(60) % 3 == 0
    truth = (single.sum() + 3 * triple.sum()) / (200 + 180)
    missed = 0
    for _ in range(200):
        a, b = rng.permutation(single), rng.permutation(triple).astype(int)
        for share in (0.1, 0.3, 0.5, 0.8):
            n, m = int(200 * share), int(60 * share)
            s, t = int(a[:n].sum()), int(b[:m].sum())
            low, high = peek_safe_interval(
                [Stratum(200, n, (s, s)), Stratum(60, m, (t, t), weight=3.0)]
            )
            if not low <= truth <= high:
                missed += 1
                break
    assert missed / 200 <= 0.05


def test_what_annotators_disagree_on_may_be_either() -> None:
    low, high = peek_safe_interval([Stratum(10, 10, (4, 6))])
    assert (low, high) == pytest.approx((0.4, 0.6))
