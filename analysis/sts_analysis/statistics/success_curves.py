"""When agents succeed: curves over the steps of a continuation, weighted as the pass rate.

Source: Abramson et al. 2022, section 5.2 and appendix A.4 (figure 8).
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sts_analysis.statistics.estimate import divide
from sts_analysis.statistics.means import weigh_rows
from sts_analysis.statistics.tabulation import UNCOUNTED, Outcomes

CENSORED, SUCCESS, FAILURE = 0, 1, 2


class Curve(NamedTuple):
    """A step function: `height` holds from its step up to the next one."""

    steps: np.ndarray  # int64[n], from 0, increasing
    height: np.ndarray  # float64[n]


class SuccessCurves(NamedTuple):
    """The curves of one agent."""

    incidence: Curve | None  # cumulative incidence of success; None if unknown
    # share of continuations that have succeeded by each step, which ends at the pass rate; the same
    # as `incidence` if all horizons are equal; None if unknown
    reached: Curve | None
    horizon: int | None  # the longest, in steps; None if unknown
    reason: str  # why the curves are unknown, or ""


def find_success_curves(outcomes: Outcomes, ratings: pd.DataFrame) -> tuple[SuccessCurves, ...]:
    """Find the curves of the A agents.

    Args:
      outcomes: of one label source.
      ratings: the table that they were made from.
    """
    made, (place, step, status, weight) = outcomes.continuations, _read_ends(outcomes, ratings)
    order = np.argsort(made.agent[place], kind="stable")
    order = order[weight[order] > 0]
    ends = np.searchsorted(made.agent[place][order], np.arange(len(outcomes.agents) + 1))
    longest = np.full(len(outcomes.agents), -np.inf)
    np.fmax.at(longest, made.agent, made.horizon)
    return tuple(
        _find_curves(step[own], status[own], weight[own], made.horizon[place[own]], longest[agent])
        for agent, own in enumerate(np.split(order, ends[1:-1]))
    )


def measure_times_left(outcomes: Outcomes, ratings: pd.DataFrame) -> np.ndarray:
    """Measure how much of the horizon is left at success, 0 for everything else.

    Its complement is the restricted mean time to success (Royston and Parmar 2013, BMC Med. Res.
    Methodol. 13:152), in which a failure counts as the horizon, so that an agent that fails where
    success takes long is not faster.

    Args:
      outcomes: of one label source.
      ratings: the table that they were made from.

    Returns:
      float64[A, S], in [0, 1]; NaN without a value, and for an agent with a success whose step or
      horizon is not known.
    """
    made, (place, step, status, weight) = outcomes.continuations, _read_ends(outcomes, ratings)
    success = (status == SUCCESS) & (weight > 0)
    left = np.where(success, 1 - step / made.horizon[place], 0.0)
    agent, shape = made.agent[place], outcomes.value.shape
    sums = np.bincount(
        agent * shape[1] + made.scenario[place], weight * np.nan_to_num(left), shape[0] * shape[1]
    )
    known = np.isfinite(outcomes.value)
    weights = weigh_rows(known, outcomes.category, outcomes.unit)
    known[agent[success & np.isnan(left)]] = False
    return np.where(known, np.clip(divide(sums.reshape(shape), weights), 0.0, 1.0), np.nan)


def _read_ends(
    outcomes: Outcomes, ratings: pd.DataFrame
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return of each verdict, and of each auto-resolved continuation: what, when, how, weight.

    The place of its continuation, int64[n], the step of its marker, float64[n], int64[n] of
    CENSORED, SUCCESS and FAILURE, and its part of the plain rate of the agent, float64[n].
    """
    made = outcomes.continuations
    share = _weigh_continuations(outcomes)
    columns = ["continuation", "verdict", "step"]
    counted = (ratings["source"] == outcomes.source) & (ratings["truth"] == "")
    rows = ratings.loc[(counted & ~ratings["verdict"].isin(UNCOUNTED)).to_numpy(), columns]
    place = np.searchsorted(made.number, rows["continuation"].to_numpy())
    rows, place = rows[made.verdicts[place] > 0], place[made.verdicts[place] > 0]
    verdict = [(rows["verdict"] == word).to_numpy() for word in ("success", "failure")]
    auto = np.flatnonzero(made.auto_resolved)
    status = np.select(verdict, [SUCCESS, FAILURE], CENSORED)
    # Auto-resolved ones never succeed, so they stay until their horizon.
    status = np.append(status, np.full(len(auto), CENSORED))
    step = np.append(rows["step"].to_numpy(np.float64), np.full(len(auto), np.nan))
    weight = np.append(share[place] / made.verdicts[place], share[auto])
    return np.append(place, auto), step, status, weight


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
    # Still under way just before each time: Kaplan-Meier's estimate for any end.
    before = np.concatenate([[1.0], np.cumprod(1 - end / there)[:-1]])
    height = np.clip(np.cumsum(before / there * succeed), 0.0, 1.0)
    rises = np.flatnonzero(np.diff(height, prepend=0.0) > 0)
    steps = np.concatenate([[0], times[rises], [horizon]])
    return Curve(steps, np.concatenate([[0.0], height[rises], height[-1:]]))


def reached(step: np.ndarray, weights: np.ndarray, *, total: float, horizon: int) -> Curve:
    """Return the share of all continuations that have succeeded after each number of steps.

    It is the plain count, which levels off at the pass rate whatever the horizons.

    Args:
      step: int64[N] of the successes.
      weights: float64[N] of the successes.
      total: weight of all continuations.
      horizon: the longest one.
    """
    steps, place = np.unique(step, return_inverse=True)
    height = np.cumsum(np.bincount(place, weights=weights, minlength=len(steps))) / total
    ends = np.append(height, height[-1] if height.size else 0.0)
    return Curve(np.concatenate([[0], steps, [horizon]]), np.concatenate([[0.0], ends]))


def _find_curves(
    step: np.ndarray, status: np.ndarray, weight: np.ndarray, horizon: np.ndarray, longest: float
) -> SuccessCurves:
    """Find the curves of one agent from its verdicts, float64 or int64[n] each."""
    success = status == SUCCESS
    timeless = int((success & np.isnan(step)).sum())
    reason = ""
    if timeless:
        reason = f"{timeless} {'success has' if timeless == 1 else 'successes have'} no step"
    elif not np.isfinite(longest):
        reason = "no horizon is given"
    elif not len(step):
        reason = "nothing judged"
    last = int(longest) if np.isfinite(longest) else None
    if reason or last is None:
        return SuccessCurves(None, None, last, reason)
    time = np.where(np.isnan(step), horizon, step).astype(np.int64)
    return SuccessCurves(
        cumulative_incidence(time, status, weight, horizon=last),
        reached(time[success], weight[success], total=float(weight.sum()), horizon=last),
        last,
        "",
    )


def _weigh_continuations(outcomes: Outcomes) -> np.ndarray:
    """Return float64[C], the share of each continuation in the plain pass rate of its agent."""
    made = outcomes.continuations
    cell = made.agent * len(outcomes.scenarios) + made.scenario
    kinds = made.verdicts > 0, made.auto_resolved
    judged, auto = (made.tally(kind, outcomes.value.shape).flat[cell] for kind in kinds)
    total = judged + auto
    weights = weigh_rows(np.isfinite(outcomes.value), outcomes.category, outcomes.unit)
    share = (1 - auto / np.maximum(total, 1)) / np.maximum(judged, 1)
    share = np.where(made.auto_resolved, 1 / np.maximum(total, 1), share)
    return np.asarray(weights.ravel()[cell] * np.where(kinds[0] | kinds[1], share, 0.0))
