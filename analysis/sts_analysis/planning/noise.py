"""What blurs the difference of two agents' pass rates: scenarios, continuations, annotators."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sts_analysis.inputs.ratings import once
from sts_analysis.statistics.outcomes import Summary


class Noise(NamedTuple):
    """Variances of one scenario's difference of pass rates; NaN where a pilot cannot tell.

    Attributes:
      between: across scenarios, of the difference that endless continuations would show.
      outcomes: of both agents' single continuations, as endless annotators would judge them.
      judging: of both agents' single judgements of a continuation.
      copies: what single judgements add because copies of a clip share them, which more
        continuations do not lessen; for the same scenarios alone, as it else lies in `between`.
      scale: how much of a difference judges leave of it, sensitivity + specificity - 1; 1 where
        differences are those of rates as judged.

    Source: Miller 2024 (arXiv 2411.00640), section 5, for the first two; Rogan and Gladen 1978,
      Am. J. Epidemiol. 107:71, for the scale.
    """

    between: float
    outcomes: float
    judging: float
    copies: float = 0.0
    scale: float = 1.0


class Size(NamedTuple):
    """How large a study is.

    Attributes:
      scenarios: how many.
      continuations: of each, by each agent.
      annotations: of each continuation.
    """

    scenarios: float
    continuations: float
    annotations: float

    @property
    def judgements(self) -> float:
        """How many two agents take."""
        return 2 * self.scenarios * self.continuations * self.annotations


def assumed_noise(
    *, rate: float, icc: float, correlation: float, sensitivity: float, specificity: float
) -> Noise:
    """The noise between two agents of the same pass rate, before anything is seen.

    Args:
      rate: the pass rate of both, in (0, 1).
      icc: intraclass correlation of each, in [0, 1]: how much of the variance is the scenario's.
      correlation: across scenarios, of the two agents' rates.
      sensitivity: share of the successes that annotators call so.
      specificity: share of the others that they do not.
    """
    scale = sensitivity + specificity - 1
    variance = scale**2 * rate * (1 - rate)
    judging = rate * sensitivity * (1 - sensitivity) + (1 - rate) * specificity * (1 - specificity)
    return Noise(
        between=2 * icc * (1 - correlation) * variance,
        outcomes=2 * (1 - icc) * variance,
        judging=2 * judging,
        scale=scale,
    )


def measured_noise(
    summary: Summary, error: float, *, judging: np.ndarray, annotations: np.ndarray, fixed: bool
) -> tuple[Noise, Size]:
    """The noise between two agents that a pilot shows, and how large the pilot was.

    Args:
      summary: [2, S] of the two agents.
      error: the standard error of their difference, under the same target.
      judging: float64[2], variance of a single judgement; NaN where no continuation was judged
        twice.
      annotations: float64[2], how many a judged continuation has, in the harmonic mean.
      fixed: whether the scenarios are the only ones of interest; then continuations were seen to
        differ, or `error` would be NaN.

    Returns:
      The noise; what cannot be told apart is NaN and counts where it is seen: judging with the
      outcomes where nothing was judged twice, outcomes with what is between scenarios where each
      has one continuation. And the size, of the scenarios that both were judged on.
    """
    common = np.all(summary.number > 0, axis=0)
    scenarios = int(common.sum())
    total = error**2 * scenarios
    number, spread = summary.number[:, common], summary.spread[:, common]
    seen = np.isfinite(spread)
    each = float(1 / np.mean(1 / annotations))
    size = Size(scenarios, float(1 / np.mean(1 / number)), each)
    if not seen.any(axis=1).all():
        return Noise(total, np.nan, np.nan), size
    within = np.where(seen, spread, 0.0).sum(axis=1) / seen.sum(axis=1)
    own = float((within * np.mean(1 / number, axis=1)).sum())
    between, copies = max(total - own, 0.0), 0.0
    if fixed:
        has_copies = summary.shared is not None
        within = within if has_copies else within * total / own  # scenarios may weigh differently
        between, copies = 0.0, between * each if has_copies else 0.0
    if not np.isfinite(judging).all():
        return Noise(between, float(within.sum()), np.nan, copies), size
    outcomes = float(np.maximum(within - judging / annotations, 0.0).sum())
    return Noise(between, outcomes, float(judging.sum()), copies), size


def judging_noise(ratings: pd.DataFrame, agents: tuple[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """What two agents' single judgements vary by, and how many a continuation has.

    Args:
      ratings: a checked ratings table; people's judgements count.
      agents: whose.

    Returns:
      float64[2] variance of a judgement about the mean of its continuation, NaN where none was
      judged twice; and float64[2] harmonic mean number of judgements of a judged continuation.
    """
    human = ratings[(ratings["source"] == "human") & (ratings["truth"] == "")]
    human = once(human[~human["verdict"].isin(("", "cannot_judge"))])
    variance, number = np.full(2, np.nan), np.ones(2)
    for side, agent in enumerate(agents):
        own = human[human["agent"] == agent]
        success = (own["verdict"] == "success").astype(np.float64)
        each = success.groupby(own["continuation"])
        spread = each.var(ddof=1).dropna()
        if len(spread):
            variance[side] = spread.mean()
        if len(own):
            number[side] = 1 / (1 / each.size()).mean()
    return variance, number
