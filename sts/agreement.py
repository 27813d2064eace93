"""How far people agree who each say yes or no of the same things: Krippendorff's alpha."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

MIN_SHARED = 2
"""Things that two people or more must have judged, for alpha to be known."""


class Agreement(NamedTuple):
    """Agreement on what two or more people judged.

    Attributes:
      alpha: 1.0 is full agreement, 0 what chance gives; None where it cannot be known.
      interval: of alpha, 95%, by bootstrap; None with it.
      shared: how many things two or more people judged.
      people: who judged one of these.
      pairs: how many pairs of judgements of one thing there are.
      agreeing: how many of them are the same.
    """

    alpha: float | None
    interval: tuple[float, float] | None
    shared: int
    people: int
    pairs: int
    agreeing: int

    @property
    def share(self) -> float:
        """How many of the pairs are the same, 0 to 1; NaN without one."""
        return self.agreeing / self.pairs if self.pairs else float("nan")

    @property
    def alike(self) -> bool:
        """Whether there are enough, and every judgement is the same: chance would agree, too."""
        return self.alpha is None and self.shared >= MIN_SHARED

    @property
    def why(self) -> str:
        """Why alpha cannot be known; "" where it is."""
        if self.alpha is not None:
            return ""
        if self.alike:
            return "every judgement is the same, so chance agreement is certain"
        return "alpha needs two that two people judged"


def krippendorff(judged: pd.DataFrame, *, seed: int, draws: int = 2000) -> Agreement:
    """Return how far people agree on the things that two or more of them judged.

    Args:
      judged: a row a judgement, none twice: `thing`, `person`, and `yes`, true or false.
      seed: of the bootstrap.
      draws: of the bootstrap.

    Source: Krippendorff 2018, Content Analysis, chapter 12; as evalica computes it.
    """
    shared = judged[judged.groupby("thing")["person"].transform("nunique") > 1]
    things, people = shared["thing"].nunique(), shared["person"].nunique()
    each = shared.groupby("thing")["yes"].agg(["sum", "size"])
    yes, size = each["sum"].astype("int64"), each["size"]
    pairs = int((size * (size - 1) // 2).sum())
    agreeing = pairs - int((yes * (size - yes)).sum())
    if things < MIN_SHARED or shared["yes"].nunique() < 2:
        return Agreement(None, None, things, people, pairs, agreeing)
    import evalica  # a second to import

    matrix = shared.assign(yes=shared["yes"].astype("float64")).pivot(
        index="person", columns="thing", values="yes"
    )
    boot = evalica.alpha_bootstrap(matrix, distance="nominal", n_resamples=draws, random_state=seed)
    interval = (float(boot.low), float(boot.high))
    return Agreement(float(boot.alpha), interval, things, people, pairs, agreeing)
