"""Agreement of annotators with each other: Krippendorff's alpha."""

from __future__ import annotations

from typing import NamedTuple

import evalica
import numpy as np
import pandas as pd


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

    Source: Krippendorff 2018, Content Analysis, chapter 12; as evalica computes it.
    """
    judged = ratings[~ratings["verdict"].isin(("cannot_judge", ""))]
    shared = judged[judged.groupby("continuation")["annotator"].transform("nunique") > 1]
    continuations, annotators = shared["continuation"].nunique(), shared["annotator"].nunique()
    if continuations < 2:
        reason = "needs two continuations judged by two annotators each"
        return Alpha(None, None, continuations, annotators, reason)
    success = (shared["verdict"] == "success").astype(np.float64)
    if success.nunique() < 2:
        reason = "every judgement is the same, so chance agreement is certain"
        return Alpha(None, None, continuations, annotators, reason)
    matrix = shared.assign(success=success).pivot(
        index="annotator", columns="continuation", values="success"
    )
    found = evalica.alpha_bootstrap(
        matrix, distance="nominal", n_resamples=draws, random_state=seed
    )
    interval = (float(found.low), float(found.high))
    return Alpha(float(found.alpha), interval, continuations, annotators, None)
