"""On how many scenarios one agent passes more often than another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from analysis.statistics import intervals, sampling
from analysis.statistics.outcomes import Summary

_AT_ONCE = 2_000
"""Pairs at once, so that those of many agents do not fill memory."""


class Improvements(NamedTuple):
    """Of P pairs of agents; NaN where they share no scenario.

    Attributes:
      chance: float64[P], share of scenarios on which the first passes more often; equal ones half.
      interval: float64[P, 2], scenarios sampled.
    """

    chance: np.ndarray
    interval: np.ndarray


def improvements(
    summary: Summary, category: np.ndarray, pairs: np.ndarray, unit: np.ndarray | None = None
) -> Improvements:
    """The chance that, on a scenario drawn anew, the first agent of a pair does better.

    Better is what is seen in as many continuations as there are; so it is nearer to one half than
    endlessly many continuations would make it.

    Args:
      summary: [A, S].
      category: int64[S].
      pairs: int64[P, 2].
      unit: of `sampling.units`.

    Source: Agarwal et al. 2021 (arXiv 2108.13264), section 4.3, over scenarios in place of runs:
      of successes and failures, over runs, it would be one half plus half the difference.
    """
    parts = np.array_split(pairs, max(len(pairs) // _AT_ONCE, 1))
    found = [_some(summary, category, part, unit) for part in parts]
    return Improvements(*(np.concatenate(part) for part in zip(*found, strict=True)))


def _some(
    summary: Summary, category: np.ndarray, pairs: np.ndarray, unit: np.ndarray | None
) -> Improvements:
    a, b = pairs.T
    common = (summary.number[a] > 0) & (summary.number[b] > 0)
    more = np.where(common, summary.mean[a] - summary.mean[b], 0.0).round(9)
    values = (np.sign(more) + 1) / 2
    weights = sampling.scenario_weights(common, category)
    chance = np.round(sampling.weighted_mean(values, weights), 12)
    codes = sampling.strata(common, category, unit)
    spread = sampling.sampling_spread(values, weights, codes, unit)
    ends, _ = intervals.of_mean(chance, spread.error, spread.df, sampling.distinct(common, unit))
    return Improvements(chance, ends)
