"""Repeatability: how alike an agent's continuations of one scenario end.

Each number is a mean over scenarios of a chance, estimated without bias from the continuations of
the scenario; a split verdict enters as a chance. Auto-resolved continuations fail.

Source: two alike: Abramson et al. 2022, section 5.2; pass@k: Chen et al. 2021 (arXiv 2107.03374),
equation 1; pass^k: Yao et al. 2024 (arXiv 2406.12045), section 3.3.
"""

from typing import NamedTuple

import numpy as np
from scipy import special

from sts_analysis.statistics.means import Means, estimate_means
from sts_analysis.statistics.tabulation import Outcomes

DEPTHS = (1, 2, 4, 8)
"""Numbers of continuations k that chances are given of."""
MIN_SHARE = 0.5
"""Share of an agent's judged scenarios that must have k continuations."""


class Repeatability(NamedTuple):
    """Chances of A agents; NaN where too few scenarios have enough continuations."""

    alike: Means  # that two continuations of a scenario end alike
    all_succeed: dict[int, Means]  # pass^k: that k of them all succeed, by k
    any_succeeds: dict[int, Means]  # pass@k: that at least one of k succeeds, by k


def measure_repeatability(outcomes: Outcomes) -> Repeatability:
    """Measure how alike the continuations of each agent end; k goes up to the most that any has.

    The chances of an agent are over the same scenarios for every k, those that have as many
    continuations as the largest: over others, they may rise with k.
    """
    made, shape = outcomes.continuations, outcomes.value.shape
    cell = made.agent * shape[1] + made.scenario
    judged = made.verdicts > 0
    opened, auto = (made.tally(kind, shape).ravel() for kind in (judged, made.auto_resolved))
    total = opened + auto
    deepest = max(2, min(DEPTHS[-1], int(total.max())))
    successes, failures = (
        average_products(y[judged], cell[judged], len(total), deepest) for y in (made.y, 1 - made.y)
    )
    choose = special.comb(np.arange(total.max() + 1)[:, None], np.arange(deepest + 1))
    alike, all_succeed, any_succeeds = None, {}, {}
    depths = [k for k in DEPTHS if k <= deepest]
    made_each = total.reshape(shape)
    least = MIN_SHARE * np.isfinite(outcomes.value).sum(axis=1)
    reached = np.stack([(made_each >= k).sum(axis=1) >= least for k in depths])
    largest = np.max(np.where(reached, np.array(depths)[:, None], 1), axis=0)
    for k in depths:
        ways = np.maximum(choose[total, k], 1.0)
        # The share of subsets without an auto-resolved one, as those fail.
        every = choose[opened, k] / ways * successes[k]
        none = np.zeros(len(total))
        for j in range(k + 1):  # of the k, those that no rule has resolved
            none += choose[opened, j] * choose[auto, k - j] / ways * failures[j]
        seen = (made_each >= largest[:, None]) & (largest >= k)[:, None]
        pairs = seen if k != 2 else (made_each >= 2) & (largest >= 2)[:, None]
        chances = (every, seen), (1 - none, seen), (every + none, pairs)
        rows = np.concatenate([np.where(own, x.reshape(shape), np.nan) for x, own in chances])
        means = estimate_means(rows, outcomes.category, outcomes.unit)
        parts = [Means(*columns) for columns in zip(*(np.split(x, 3) for x in means), strict=True)]
        all_succeed[k], any_succeeds[k] = parts[:2]
        if k == 2:
            alike = parts[2]
    assert alike is not None
    return Repeatability(alike, all_succeed, any_succeeds)


def average_products(y: np.ndarray, cell: np.ndarray, cells: int, depth: int) -> np.ndarray:
    """Average the products over all subsets of k values of a cell: the chance that k succeed.

    For s successes of n this is C(s, k) / C(n, k).

    Args:
      y: float64[C], each in [0, 1].
      cell: int64[C], in ascending order.
      cells: number of cells.
      depth: the largest k.

    Returns:
      float64[depth + 1, cells], by k from 0; 0 for cells with fewer than k values.
    """
    start = np.flatnonzero(np.diff(cell, prepend=-1))
    counts = np.diff(np.append(start, len(cell)))
    means = np.zeros((depth + 1, cells))
    means[0] = 1.0
    for n in range(1, counts.max(initial=0) + 1):  # the n-th value of each cell
        first = start[counts >= n]
        at, value = cell[first], y[first + n - 1]
        # k / n of the subsets of n contain the n-th. From the largest k down, as `means[k - 1]`
        # must still be of the n - 1 values before.
        for k in range(min(n, depth), 0, -1):  # subsets without the new value, and with it
            means[k, at] += k / n * (value * means[k - 1, at] - means[k, at])
    return means
