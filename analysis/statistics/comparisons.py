"""Paired comparisons of agents, adjusted for their number.

Agents are compared scenario by scenario. Continuations are not paired: those of one scenario are
exchangeable, so their index means nothing.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from scipy import stats

from analysis.statistics import intervals, sampling
from analysis.statistics.continuation_error import continuation_error
from analysis.statistics.copies import Copies
from analysis.statistics.outcomes import Summary
from analysis.statistics.pass_rates import Rates
from analysis.statistics.sign_flip import sign_flip

ALPHA = 1 - intervals.LEVEL
FEW_SCENARIOS = 12


class Comparisons(NamedTuple):
    """Every pair of A agents, P = A (A - 1) / 2; NaN where a pair shares no judged scenario.

    Attributes:
      pairs: int64[P, 2], indices a < b.
      difference: float64[P], rate of a minus rate of b over the scenarios both were judged on.
      error: float64[P], its standard error.
      interval: float64[P, 2], of this pair alone.
      joint_interval: float64[P, 2], all pairs hold together with 95%.
      p: float64[P], of this pair alone, two-sided.
      p_adjusted: float64[P], for all pairs.
      scenarios: int64[P], scenarios both were judged on.
      method: P of words.
    """

    pairs: np.ndarray
    difference: np.ndarray
    error: np.ndarray
    interval: np.ndarray
    joint_interval: np.ndarray
    p: np.ndarray
    p_adjusted: np.ndarray
    scenarios: np.ndarray
    method: tuple[str, ...]

    @property
    def separated(self) -> np.ndarray:
        """bool[P], pairs that are told apart, all of them taken together."""
        return self.p_adjusted < ALPHA


def compare(
    summary: Summary,
    category: np.ndarray,
    rates: Rates,
    *,
    target: str,
    seed: int,
    draws: int,
    unit: np.ndarray | None = None,
    copies: Copies | None = None,
) -> Comparisons:
    """Compares every two agents on the scenarios both were judged on.

    Args:
      summary: [A, S].
      category: int64[S].
      rates: the same agents' pass rates under the same target.
      target: "sampled" pairs the scenario means; "fixed" counts the continuations' noise only.
      seed: of the sign flips and of the multiplier bootstrap.
      draws: of the multiplier bootstrap.
      unit: of `sampling.units`.
      copies: of the same agents, whose clips may be the same; `summary` knows those of one agent.

    Source: stratified paired t: Miller 2024 (arXiv 2411.00640), section 4. Max-T by multiplier
      bootstrap: Chernozhukov, Chetverikov and Kato 2013, Ann. Stat. 41:2786; Romano and Wolf
      2005, Econometrica 73:1237. A pair's p value enters the maximum as the normal score with
      that p, so that few degrees of freedom are not taken for many.
    """
    agents = len(summary.number)
    pairs = np.array(list(itertools.combinations(range(agents), 2)), dtype=np.int64).reshape(-1, 2)
    a, b = pairs.T
    common = (summary.number[a] > 0) & (summary.number[b] > 0)
    weights = sampling.scenario_weights(common, category)
    values = np.where(common, summary.mean[a] - summary.mean[b], 0.0)
    difference = sampling.weighted_mean(values, weights)
    if target == "fixed":
        loads, error, df = _fixed_errors(summary, pairs, weights, copies)
    else:
        codes = sampling.strata(common, category, unit)
        loads, error, df = sampling.sampling_spread(values, weights, codes, unit)
    scenarios = common.sum(axis=1)
    seen = error > 0
    ratio = np.abs(difference) / np.where(seen, error, 1.0)
    p = np.where(seen, 2 * stats.t.sf(ratio, np.where(seen, df, 1.0)), np.nan)
    interval = intervals.student(difference, error, df)
    words = "normal, continuations" if target == "fixed" else "stratified paired t"
    method = [words if ok else "no spread seen" for ok in seen]
    rng = np.random.default_rng(seed)
    for row in np.flatnonzero(np.isfinite(difference)):
        if not seen[row]:
            interval[row] = intervals.difference_from_parts(
                rates.rate[a[row]],
                rates.interval[a[row]],
                rates.rate[b[row]],
                rates.interval[b[row]],
            )
        if not seen[row] or (target == "sampled" and scenarios[row] <= FEW_SCENARIOS):
            parts = sampling.by_unit((values[row] * weights[row])[None], unit)[0]
            p[row] = sign_flip(parts, rng)
            method[row] += ", p by sign flips"
    unknown = np.isnan(difference)
    method = [
        "no scenario in common" if none else text
        for none, text in zip(unknown, method, strict=True)
    ]
    maxima = _maxima(loads[seen] / error[seen, None], draws=draws, rng=rng)
    p_adjusted = _adjust(p, maxima)
    joint = _joint_intervals(difference, error, df, interval, maxima)
    return Comparisons(
        pairs, difference, error, interval, joint, p, p_adjusted, scenarios, tuple(method)
    )


def adjust(p: np.ndarray, loads: np.ndarray, *, seed: int, draws: int) -> np.ndarray:
    """Adjusts p values for their number, as `compare` does; NaN stays NaN.

    Args:
      p: float64[P], each alone.
      loads: float64[P, F], of each statistic on independent factors, in units of its error; 0
        where p is NaN.
      seed: of the multiplier bootstrap.
      draws: of the multiplier bootstrap.
    """
    return _adjust(p, _maxima(loads, draws=draws, rng=np.random.default_rng(seed)))


def _fixed_errors(
    summary: Summary, pairs: np.ndarray, weights: np.ndarray, copies: Copies | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    # Agents err independently of each other here, so an agent's error is one shared factor.
    # Of a clip that both made they share the error, which leaves their difference alone.
    parts = []
    loads = np.zeros((len(pairs), len(summary.number)))
    for side, sign in ((0, 1.0), (1, -1.0)):
        agent = pairs[:, side]
        rows = summary.at(agent)
        parts.append(continuation_error(rows, weights)[0])
        loads[np.arange(len(pairs)), agent] = sign * parts[-1]
    error = np.hypot(parts[0], parts[1])
    if copies is not None:
        left = error**2 - 2 * (weights**2 * copies.between(pairs)).sum(axis=1)
        less = np.sqrt(np.maximum(left, 0.0)) / np.where(error > 0, error, 1.0)
        loads, error = loads * less[:, None], error * less
    return loads, error, np.full(len(pairs), np.inf)


def _maxima(loads: np.ndarray, *, draws: int, rng: np.random.Generator) -> np.ndarray:
    # In chunks: 40 agents make 780 pairs, and all draws at once would fill memory.
    if not len(loads):
        return np.zeros(draws)
    found = [
        np.abs(rng.standard_normal((count, loads.shape[1])) @ loads.T).max(axis=1)
        for count in np.diff(np.append(np.arange(0, draws, 1000), draws))
    ]
    return np.concatenate(found)


def _adjust(p: np.ndarray, maxima: np.ndarray) -> np.ndarray:
    known = np.isfinite(p)
    score = stats.norm.isf(np.where(known, np.maximum(p, 1e-300), 1.0) / 2)
    beyond = len(maxima) - np.searchsorted(np.sort(maxima), score, side="left")
    adjusted = np.maximum((1 + beyond) / (1 + len(maxima)), np.where(known, p, 1.0))
    return np.where(known, np.minimum(adjusted, 1.0), np.nan)


def _joint_intervals(
    difference: np.ndarray,
    error: np.ndarray,
    df: np.ndarray,
    alone: np.ndarray,
    maxima: np.ndarray,
) -> np.ndarray:
    level = 2 * stats.norm.sf(max(float(np.quantile(maxima, intervals.LEVEL)), intervals.Z))
    seen = error > 0
    reach = stats.t.isf(level / 2, np.where(seen, df, 1.0)) * np.where(seen, error, 0.0)
    joint = np.stack([difference - reach, difference + reach], axis=-1)
    return np.where(seen[:, None], joint, alone)
