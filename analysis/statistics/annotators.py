"""How far annotators can be trusted, and pass rates corrected for their errors.

An annotator is a test for success: its sensitivity Se is the share of true successes it calls
success, its specificity Sp the share of the others that it does not.

Source: Abramson et al. 2022, sections 3.3 and 6, appendix A.3 (reference episodes).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.statistics import intervals

TOLERANCES = (0, 1, 2, 3, 5, 10, 20)
FEWEST_TO_CORRECT = 0.3


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


class StepOffset(NamedTuple):
    """How far markers lie from the known step, where the verdict is right.

    Attributes:
      marks: how many there are.
      median: steps, positive for late.
      mean_absolute: steps.
      within: share of marks at most so many steps off, for each of `TOLERANCES`.
    """

    marks: int
    median: float | None
    mean_absolute: float | None
    within: dict[int, float]


def step_offset(references: pd.DataFrame) -> StepOffset:
    """Offsets of the markers of rightly judged reference episodes whose step is known."""
    right = references[references["verdict"] == references["truth"]]
    offset = (right["step"] - right["truth_step"]).dropna().to_numpy()
    if not offset.size:
        return StepOffset(0, None, None, {})
    within = {steps: float(np.mean(np.abs(offset) <= steps)) for steps in TOLERANCES}
    return StepOffset(
        int(offset.size), float(np.median(offset)), float(np.mean(np.abs(offset))), within
    )


class Corrected(NamedTuple):
    """A pass rate corrected for its annotators' errors.

    Attributes:
      value: (p + Sp - 1) / (Se + Sp - 1), clipped to [0, 1].
      interval: Lang and Reiczigel's.
    """

    value: float
    interval: tuple[float, float]


def correct(rate: float, trials: float, reference: Accuracy) -> Corrected | str:
    """The pass rate that faultless annotators would have given, or why it is refused.

    Args:
      rate: p, the apparent pass rate.
      trials: p's effective number of independent trials.
      reference: the annotators' pooled accuracy.

    Source: Rogan and Gladen 1978, Am. J. Epidemiol. 107:71; interval: Lang and Reiczigel 2014,
      Prev. Vet. Med. 113:13.
    """
    if reference.sensitivity is None or reference.specificity is None:
        return reference.method
    youden = reference.sensitivity + reference.specificity - 1
    if youden < FEWEST_TO_CORRECT:
        return f"refused: Se + Sp - 1 is {youden:.2f}, below {FEWEST_TO_CORRECT}"
    value = (rate + reference.specificity - 1) / youden
    square = intervals.Z**2
    n, n_se, n_sp = trials + square, reference.successes + 2, reference.others + 2
    p = (rate * trials + square / 2) / n
    se = (reference.sensitivity * reference.successes + 1) / n_se
    sp = (reference.specificity * reference.others + 1) / n_sp
    adjusted = (p + sp - 1) / (se + sp - 1)
    noise_se, noise_sp = se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    shift = 2 * square * (adjusted * noise_se - (1 - adjusted) * noise_sp)
    spread = np.sqrt(p * (1 - p) / n + adjusted**2 * noise_se + (1 - adjusted) ** 2 * noise_sp)
    half = intervals.Z * spread / (se + sp - 1)
    low, high = np.clip([adjusted + shift - half, adjusted + shift + half], 0.0, 1.0)
    return Corrected(float(np.clip(value, 0.0, 1.0)), (float(low), float(high)))


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
