"""Krippendorff's alpha of binary judgements by several people."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

MIN_SHARED = 2
"""Minimum number of items judged by two or more people."""


class Agreement(NamedTuple):
    """Agreement on the items that two or more people judged."""

    alpha: float | None  # 1 is full agreement, 0 is agreement by chance; None if undefined
    interval: tuple[float, float] | None  # 95% bootstrap interval of alpha; None if alpha is
    shared: int  # the number of items that two or more people judged
    people: int  # the number of people who judged one of these
    pairs: int  # the number of pairs of judgements of the same item
    agreeing: int  # the number of these pairs that agree

    @property
    def share(self) -> float:
        """The share of pairs that agree, 0 to 1; NaN without pairs."""
        return self.agreeing / self.pairs if self.pairs else float("nan")

    @property
    def is_unanimous(self) -> bool:
        """True if all judgements of enough items are the same, so that alpha is undefined."""
        return self.alpha is None and self.shared >= MIN_SHARED

    @property
    def reason(self) -> str:
        """The reason why alpha is undefined; "" if it is defined."""
        if self.alpha is not None:
            return ""
        if self.is_unanimous:
            return "alpha is undefined: all judgements are the same"
        return f"alpha needs at least {MIN_SHARED} items that two people judged"


def compute_alpha(judged: pd.DataFrame, *, seed: int, draws: int = 2000) -> Agreement:
    """Compute agreement on the items that two or more people judged.

    Args:
      judged: one row per judgement, without duplicates: `thing`, `person`, and the boolean `yes`.
      seed: of the bootstrap.
      draws: the number of bootstrap samples.

    Source: Krippendorff 2018, Content Analysis, chapter 12.
    """
    shared = judged[judged.groupby("thing")["person"].transform("nunique") > 1]
    things, people = shared["thing"].nunique(), shared["person"].nunique()
    counts = shared.groupby("thing")["yes"].agg(["sum", "size"])
    yes, size = counts["sum"].to_numpy(np.int64), counts["size"].to_numpy(np.int64)
    pairs = int((size * (size - 1) // 2).sum())
    agreeing = pairs - int((yes * (size - yes)).sum())
    if things < MIN_SHARED or shared["yes"].nunique() < 2:
        return Agreement(None, None, things, people, pairs, agreeing)
    alpha, interval = _bootstrap_alpha(yes, size, seed=seed, draws=draws)
    return Agreement(alpha, interval, things, people, pairs, agreeing)


def _bootstrap_alpha(
    yes: NDArray[np.int64], size: NDArray[np.int64], *, seed: int, draws: int
) -> tuple[float, tuple[float, float]]:
    """Return alpha and its interval from each item's judgements, and those that are "yes"."""
    n_yes, n = yes.sum(), size.sum()
    expected = 2 * n_yes * (n - n_yes) / (n - 1)
    disagreeing = yes * (size - yes)
    alpha = 1 - (2 * disagreeing / (size - 1)).sum() / expected
    # Krippendorff redraws each item's pairs from all pairs, and keeps the expected disagreement.
    # Items of one size weigh their pairs alike, so that their sum is one binomial number.
    sizes, items = np.unique(size, return_counts=True)
    pairs = items * sizes * (sizes - 1) // 2
    share = disagreeing.sum() / pairs.sum()
    drawn = np.random.default_rng(seed).binomial(pairs, share, (draws, len(sizes)))
    alphas = np.maximum(1 - (2 * drawn / (sizes - 1)).sum(axis=1) / expected, -1)
    low, high = np.quantile(alphas, [0.025, 0.975])
    return float(alpha), (float(low), float(high))
