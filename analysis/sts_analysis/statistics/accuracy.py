"""How far annotators can be trusted, by their answers on reference episodes.

An annotator is a test for success: its sensitivity Se is the share of true successes it calls
success, its specificity Sp the share of the others that it does not.

Source: Abramson et al. 2022, sections 3.3 and 6, appendix A.3 (reference episodes).
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sts_analysis.statistics import intervals


class Accuracy(NamedTuple):
    """Answers on reference episodes; None where there is nothing to judge by.

    Attributes:
      successes: reference episodes that are successes, answered.
      sensitivity: share of these called success.
      sensitivity_interval: Jeffreys.
      others: reference episodes that are not successes, answered.
      specificity: share of these not called success.
      specificity_interval: Jeffreys.
      balanced_accuracy: (Se + Sp) / 2.
      interval: of the balanced accuracy.
      method: of that interval.
      references_cannot_judge: reference episodes answered "cannot judge"; left out above.
    """

    successes: int
    sensitivity: float | None
    sensitivity_interval: tuple[float, float] | None
    others: int
    specificity: float | None
    specificity_interval: tuple[float, float] | None
    balanced_accuracy: float | None
    interval: tuple[float, float] | None
    method: str
    references_cannot_judge: int


def accuracy(references: pd.DataFrame, *, seed: int, draws: int = 2000) -> Accuracy:
    """Accuracy of one annotator, or of several together, on reference episodes.

    One annotator answers an episode once, so its answers are independent trials and the interval
    comes from the two Jeffreys intervals, which do not collapse when every answer is right. The
    answers of several annotators to one episode hang together, so then reference episodes are
    resampled; the wider of both is given.

    Args:
      references: rows of a checked ratings table that have a truth.
      seed: of the bootstrap.
      draws: of the bootstrap.

    Source: MOVER: Zou and Donner 2008, Stat. Med. 27:1693.
    """
    unable = int((references["verdict"] == "cannot_judge").sum())
    answered = references[~references["verdict"].isin(("cannot_judge", ""))]
    true = (answered["truth"] == "success").to_numpy()
    called = (answered["verdict"] == "success").to_numpy()
    hits, positives = int((called & true).sum()), int(true.sum())
    correct, negatives = int((~called & ~true).sum()), int((~true).sum())
    se = hits / positives if positives else None
    sp = correct / negatives if negatives else None
    se_interval = intervals.jeffreys(hits, positives) if positives else None
    sp_interval = intervals.jeffreys(correct, negatives) if negatives else None
    balanced = interval = None
    method = "needs reference episodes of success and of failure"
    if se is not None and sp is not None and se_interval is not None and sp_interval is not None:
        balanced = (se + sp) / 2
        below = np.hypot(se - se_interval[0], sp - sp_interval[0]) / 2
        above = np.hypot(se_interval[1] - se, sp_interval[1] - sp) / 2
        low, high, method = balanced - below, balanced + above, "MOVER of two Jeffreys intervals"
        if answered["continuation"].duplicated().any():
            drawn = _resample_episodes(answered, true, called == true, seed=seed, draws=draws)
            tail = (1 - intervals.LEVEL) / 2
            ends = np.quantile(drawn, [tail, 1 - tail])
            low, high = min(low, ends[0]), max(high, ends[1])
            method = "bootstrap of reference episodes, no narrower than MOVER"
        interval = (float(max(low, 0.0)), float(min(high, 1.0)))
    return Accuracy(
        positives, se, se_interval, negatives, sp, sp_interval, balanced, interval, method, unable
    )


def _resample_episodes(
    answered: pd.DataFrame, true: np.ndarray, right: np.ndarray, *, seed: int, draws: int
) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rates = []
    for kind in (true, ~true):
        names, episode = np.unique(answered["continuation"].to_numpy()[kind], return_inverse=True)
        answers = np.bincount(episode)
        good = np.bincount(episode, weights=right[kind])
        count = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=draws)
        rates.append((count @ good) / (count @ answers))
    return (rates[0] + rates[1]) / 2
