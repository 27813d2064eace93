"""How far annotators' markers lie from the known step of reference episodes.

Source: Abramson et al. 2022, appendix A.3.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sts_analysis.statistics import intervals

TOLERANCES = (0, 1, 2, 3, 5, 10, 20)


class StepOffset(NamedTuple):
    """How far markers lie from the known step, where the verdict is right.

    Attributes:
      marks: how many there are.
      median: steps, positive for late.
      mean_absolute: steps.
      within: share of marks at most so many steps off, for each of `TOLERANCES`.
      within_intervals: of these, the marks of one episode as a cluster.
    """

    marks: int
    median: float | None
    mean_absolute: float | None
    within: dict[int, float]
    within_intervals: dict[int, tuple[float, float]]


def step_offset(references: pd.DataFrame) -> StepOffset:
    """Offsets of the markers of rightly judged reference episodes whose step is known."""
    right = references[references["verdict"].to_numpy() == references["truth"].to_numpy()]
    right = right[right["step"].notna() & right["truth_step"].notna()]
    offset = (right["step"] - right["truth_step"]).to_numpy()
    if not offset.size:
        return StepOffset(0, None, None, {}, {})
    episode = right["continuation"].to_numpy()
    near = {steps: np.abs(offset) <= steps for steps in TOLERANCES}
    return StepOffset(
        int(offset.size),
        float(np.median(offset)),
        float(np.mean(np.abs(offset))),
        {steps: float(some.mean()) for steps, some in near.items()},
        {steps: intervals.clustered(some, episode) for steps, some in near.items()},
    )
