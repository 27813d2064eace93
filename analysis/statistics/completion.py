"""When agents succeed: the cumulative incidence of success over the steps of a continuation.

Source: Abramson et al. 2022, section 5.2 and appendix A.4 (figure 8).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from statsmodels.duration.survfunc import CumIncidenceRight

from analysis.statistics import intervals, sampling
from analysis.statistics.outcomes import Outcomes

CENSORED, SUCCESS, FAILURE = 0, 1, 2


class Curve(NamedTuple):
    """A step function: `height` holds from its step up to the next one.

    Attributes:
      steps: int64[n], from 0, increasing.
      height: float64[n].
    """

    steps: np.ndarray
    height: np.ndarray


def cumulative_incidence(
    step: np.ndarray, status: np.ndarray, weights: np.ndarray, *, horizon: int
) -> Curve:
    """F1(t): the share of continuations that have succeeded after t steps.

    With one horizon it is #{success, T <= t} / N and levels off at the pass rate; with several,
    the Aalen-Johansen estimate, in which a shorter continuation that had not ended leaves the
    count at its horizon, as if it would have gone on like the longer ones. Where a scenario's
    horizon goes with its difficulty, read `reached` instead.

    Args:
      step: int64[N], steps after takeover at which each continuation's marker stands, or its
        horizon.
      status: int64[N] of CENSORED, SUCCESS and FAILURE (a failure marker).
      weights: float64[N], positive.
      horizon: the longest one.

    Source: Aalen and Johansen 1978, Scand. J. Stat. 5:141, as statsmodels computes it.
    """
    if not np.any(status == SUCCESS):
        return Curve(np.array([0, horizon]), np.zeros(2))
    fitted = CumIncidenceRight(step, status, freq_weights=weights)
    height = np.clip(np.asarray(fitted.cinc[0], dtype=np.float64), 0.0, 1.0)
    rises = np.flatnonzero(np.diff(height, prepend=0.0) > 0)
    steps = np.concatenate([[0], np.asarray(fitted.times, dtype=np.int64)[rises], [horizon]])
    return Curve(steps, np.concatenate([[0.0], height[rises], height[-1:]]))


def reached(step: np.ndarray, weights: np.ndarray, *, total: float, horizon: int) -> Curve:
    """The share of `total` that successes make up by each step.

    With the weight of all continuations as `total` this is the plain count, which levels off at
    the pass rate whatever the horizons. With the weight of the successes it is the distribution
    of the time among them; that says nothing of failures, so an agent that passes only easy
    scenarios looks fast.

    Args:
      step: int64[N] of the successes.
      weights: float64[N] of the successes.
      total: above 0.
      horizon: the longest one.
    """
    steps, place = np.unique(step, return_inverse=True)
    height = np.cumsum(np.bincount(place, weights=weights, minlength=len(steps))) / total
    ends = np.append(height, height[-1] if height.size else 0.0)
    return Curve(np.concatenate([[0], steps, [horizon]]), np.concatenate([[0.0], ends]))


class Areas(NamedTuple):
    """Mean height of F1 over each scenario's own horizon, averaged over scenarios.

    Attributes:
      area: float64[A], in [0, pass rate]; NaN where nothing is known.
      error: float64[A].
      interval: float64[A, 2]; NaN where the scenarios show no spread.
    """

    area: np.ndarray
    error: np.ndarray
    interval: np.ndarray


def mean_areas(outcomes: Outcomes, resamples: np.ndarray) -> Areas:
    """The integral of F1 over [0, L] divided by L, with an interval by scenario bootstrap.

    The interval is for sampled scenarios: bootstrap standard error, Student's t.

    Args:
      outcomes: its values are each continuation's own area: (L - T) / L for a success at step T,
        0 otherwise.
      resamples: float64[draws, S], the report's shared `sampling.resample_counts`.
    """
    judged = np.isfinite(outcomes.values)
    count = judged.sum(axis=2)
    mean = np.where(judged, outcomes.values, 0.0).sum(axis=2) / np.maximum(count, 1)
    weights = sampling.scenario_weights(count > 0, outcomes.category)
    area = np.where(count.any(axis=1), (weights * mean).sum(axis=1), np.nan)
    codes = sampling.strata(count > 0, outcomes.category)
    spread = sampling.sampling_spread(mean, weights, codes)
    error = np.where(spread.error > 0, (resamples @ spread.parts.T).std(axis=0), np.nan)
    quantile = intervals.student_quantile(spread.df)
    ends = np.stack([area - quantile * error, area + quantile * error], axis=-1)
    return Areas(area, error, np.clip(ends, 0.0, 1.0))
