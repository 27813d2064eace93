"""Where the variance of a difference of two agents comes from, in the mean of all pairs.

What a scenario makes of both agents alike cancels, and is no part of it.

Axes: P pairs of agents.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.special import expit

from sts_analysis.statistics.estimate import CONFIDENCE
from sts_analysis.statistics.information import vary_within_pairs
from sts_analysis.statistics.rates import Comparisons, RateModel, Rates


class Part(NamedTuple):
    """One source, in the mean of all pairs."""

    # "agent by scenario", "continuation", "agent by scenario, and continuation" where no scenario
    # has two continuations, "annotator" or "annotator by agent"
    source: str
    variance: float  # of a difference of pass rates
    df: float  # degrees of freedom; NaN if it is what others leave, or nothing

    @property
    def interval(self) -> tuple[float, float]:
        """Of the standard deviation."""
        if not (self.df > 0 and self.variance > 0):
            return float("nan"), float("nan")
        tail = (1 - CONFIDENCE) / 2
        ends = self.variance * self.df / stats.chi2.ppf([1 - tail, tail], self.df)
        low, high = np.sqrt(ends).tolist()
        return low, high


def split_variance(
    model: RateModel, rates: Rates, these: Comparisons, *, for_others: bool
) -> tuple[Part, ...]:
    """Split the variance of differences into its sources; nothing without a pair that is known.

    Args:
      model: of the label source.
      rates: of all its agents.
      these: all pairs, for these annotators.
      for_others: whether differences between annotators count.
    """
    known = np.isfinite(these.se) & (these.se > 0)
    if not known.any():
        return ()
    whole = these.se[known] ** 2
    within, free = vary_within_pairs(model.outcomes, these)
    within, df = within[known], float(np.mean(these.df[known]))
    if np.isfinite(within).all():
        within = np.minimum(within, whole)
        parts = [
            Part("agent by scenario", float(np.mean(whole - within)), df),
            Part("continuation", float(np.mean(within)), float(free)),
        ]
    else:
        source = "agent by scenario, and continuation"
        parts = [Part(source, float(np.mean(whole)), df)]
    if for_others and model.annotators is not None:
        first, second = these.first[known], these.second[known]
        chance = expit(model.annotators.log_odds)
        lenient, favoured = model.annotators.vary(np.nan_to_num(rates.rate), chance)
        gaps = ((lenient[first] - lenient[second]) ** 2).sum(axis=1)
        people = len(model.annotators.workload) - 1
        parts.append(Part("annotator", float(np.mean(gaps)), people))
        both = favoured[first] + favoured[second]
        parts.append(Part("annotator by agent", float(np.mean(both)), model.favour_df))
    return tuple(parts)
