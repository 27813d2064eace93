"""Pass rates corrected for the errors of annotators."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from analysis.statistics import intervals
from analysis.statistics.accuracy import Accuracy
from analysis.statistics.pass_rates import Rates

FEWEST_TO_CORRECT = 0.3


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


def correct_rate(rates: Rates, row: int, scenarios: int, reference: Accuracy) -> Corrected | str:
    """The corrected pass rate of one agent, or why there is none.

    Args:
      rates: of all agents, under the report's target.
      row: which agent.
      scenarios: on which it was judged.
      reference: the annotators' pooled accuracy.
    """
    if not np.isfinite(rates.error[row]):
        return rates.method[row]
    judged = np.array(max(scenarios, 1))
    trials = intervals.effective_trials(rates.rate[row], rates.error[row], judged)
    return correct(float(rates.rate[row]), float(trials), reference)
