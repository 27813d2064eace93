"""When agents succeed: the cumulative incidence of success over the steps of a continuation.

Source: Abramson et al. 2022, section 5.2 and appendix A.4 (figure 8).
"""

from typing import NamedTuple

import numpy as np

CENSORED, SUCCESS, FAILURE = 0, 1, 2
_LAST = 1e-16


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

    Source: Aalen and Johansen 1978, Scand. J. Stat. 5:141.
    """
    if not np.any(status == SUCCESS):
        return Curve(np.array([0, horizon]), np.zeros(2))
    times, place = np.unique(step, return_inverse=True)
    succeed, end, leave = (
        np.bincount(place, weights=weights * own, minlength=len(times))
        for own in (status == SUCCESS, status != CENSORED, np.ones(len(status)))
    )
    there = np.cumsum(leave[::-1])[::-1]
    stay = 1 - end / there
    last = stay < _LAST  # who is left has ended, but for rounding
    staying = np.exp(np.cumsum(np.log(np.where(last, _LAST, stay))))
    staying[last] = 0.0
    before = np.concatenate([[1.0], staying[:-1]])
    height = np.clip(np.cumsum(before / there * succeed), 0.0, 1.0)
    rises = np.flatnonzero(np.diff(height, prepend=0.0) > 0)
    steps = np.concatenate([[0], times[rises], [horizon]])
    return Curve(steps, np.concatenate([[0.0], height[rises], height[-1:]]))


def reached(step: np.ndarray, weights: np.ndarray, *, total: float, horizon: int) -> Curve:
    """Return the share of `total` that successes make up by each step.

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
