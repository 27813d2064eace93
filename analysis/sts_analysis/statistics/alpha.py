"""Agreement of annotators with each other: Krippendorff's alpha."""

from typing import NamedTuple

import pandas as pd

from sts import agreement


class Alpha(NamedTuple):
    """Krippendorff's alpha of success against not success; None where it cannot be known.

    Attributes:
      alpha: 1.0 is full agreement, 0 what chance gives.
      interval: by bootstrap.
      continuations: judged by two or more annotators.
      annotators: who judged one of these.
      reason: why alpha is None.
    """

    alpha: float | None
    interval: tuple[float, float] | None
    continuations: int
    annotators: int
    reason: str | None


def krippendorff(ratings: pd.DataFrame, *, seed: int, draws: int = 2000) -> Alpha:
    """Alpha over the continuations that two or more annotators judged.

    Args:
      ratings: rows of a checked ratings table of one source.
      seed: of the bootstrap.
      draws: of the bootstrap.

    Source: see `sts.agreement`.
    """
    judged = ratings[~ratings["verdict"].isin(("cannot_judge", ""))]
    columns = {"thing": judged["continuation"], "person": judged["annotator"]}
    success = pd.DataFrame(columns | {"yes": judged["verdict"] == "success"})
    found = agreement.compute_alpha(success, seed=seed, draws=draws)
    reason = (
        "needs two continuations judged by two annotators each" if found.alpha is None else None
    )
    if found.is_unanimous:
        reason = "every judgement is the same, so chance agreement is certain"
    return Alpha(found.alpha, found.interval, found.shared, found.people, reason)
