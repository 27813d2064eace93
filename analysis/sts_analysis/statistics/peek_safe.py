"""What a rate can still become while judging goes on, however often one looks."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from sts_analysis.statistics import intervals


class Stratum(NamedTuple):
    """Recordings that weigh the same, some of them judged, in an order that chance has set.

    Attributes:
      pool: how many there are.
      judged: how many of these are judged.
      successes: of these, the fewest and the most that may be called successes; the two differ
        by what annotators disagree on.
      weight: of each recording.
    """

    pool: int
    judged: int
    successes: tuple[int, int]
    weight: float = 1.0


def peek_safe_interval(
    strata: Sequence[Stratum], *, level: float = intervals.LEVEL
) -> tuple[float, float]:
    """Bounds on the rate that all recordings will have once each is judged.

    They hold at every moment of judging at once with probability `level`, so that judging may stop
    when they are narrow enough. They speak of these recordings and these annotators alone, and
    need an order that does not depend on the outcome. At the end they meet.

    Args:
      strata: at least one, with a recording in all; the level is shared among those that are not
        judged to the end.
      level: of the interval.

    Source: Waudby-Smith and Ramdas 2020 (arXiv 2006.04347), prior-posterior ratio for sampling
      without replacement, with a uniform prior on the number of successes.
    """
    open_strata = sum(one.judged < one.pool for one in strata)
    share = (1 - level) / max(open_strata, 1)
    total = sum(one.pool * one.weight for one in strata)
    ends = [
        (
            one.weight * _ends(one.pool, one.judged, one.successes[0], share)[0],
            one.weight * _ends(one.pool, one.judged, one.successes[1], share)[1],
        )
        for one in strata
    ]
    return sum(low for low, _ in ends) / total, sum(high for _, high in ends) / total


def _ends(pool: int, judged: int, successes: int, share: float) -> tuple[int, int]:
    """The fewest and the most successes in the pool that what was judged leaves."""
    number = np.arange(successes, pool - (judged - successes) + 1)
    likelihood = _log_choose(number, successes) + _log_choose(pool - number, judged - successes)
    # With a uniform prior over 0 to `pool` the mean likelihood is what the evidence is worth.
    mean = np.logaddexp.reduce(likelihood) - np.log(pool + 1)
    kept = number[likelihood - mean > np.log(share)]
    return int(kept[0]), int(kept[-1])


def _log_choose(n: np.ndarray, k: int) -> np.ndarray:
    ways: np.ndarray = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return ways
