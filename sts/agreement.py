"""Krippendorff's alpha of binary judgements by several people."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

MIN_SHARED = 2
"""Minimum number of items judged by two or more people."""


class Agreement(NamedTuple):
    """Agreement on the items that two or more people judged.

    Attributes:
      alpha: 1 is full agreement, 0 is agreement by chance; None if undefined.
      interval: 95% bootstrap interval of alpha; None if alpha is.
      shared: the number of items that two or more people judged.
      people: the number of people who judged one of these.
      pairs: the number of pairs of judgements of the same item.
      agreeing: the number of these pairs that agree.
    """

    alpha: float | None
    interval: tuple[float, float] | None
    shared: int
    people: int
    pairs: int
    agreeing: int

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

    Source: Krippendorff 2018, Content Analysis, chapter 12; as evalica computes it.
    """
    shared = judged[judged.groupby("thing")["person"].transform("nunique") > 1]
    things, people = shared["thing"].nunique(), shared["person"].nunique()
    counts = shared.groupby("thing")["yes"].agg(["sum", "size"])
    yes, size = counts["sum"].astype("int64"), counts["size"]
    pairs = int((size * (size - 1) // 2).sum())
    agreeing = pairs - int((yes * (size - yes)).sum())
    if things < MIN_SHARED or shared["yes"].nunique() < 2:
        return Agreement(None, None, things, people, pairs, agreeing)
    import evalica  # a second to import

    numbers = shared.assign(yes=shared["yes"].astype("float64"))
    matrix = numbers.pivot(index="person", columns="thing", values="yes")
    boot = evalica.alpha_bootstrap(matrix, distance="nominal", n_resamples=draws, random_state=seed)
    interval = (float(boot.low), float(boot.high))
    return Agreement(float(boot.alpha), interval, things, people, pairs, agreeing)
