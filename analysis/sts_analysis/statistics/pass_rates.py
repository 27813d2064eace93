"""Pass rates and their intervals, for both targets.

"sampled": the suite's scenarios stand for all scenarios of their categories, so the interval says
where the rate would lie on fresh scenarios. "fixed": only these scenarios matter, so it says where
the rate would lie on fresh continuations of them.

Source: Abramson et al. 2022, section 3.4, for the rate. Its error bars, the standard error over
all continuations, answer neither question; see Miller 2024 (arXiv 2411.00640), sections 2 and 3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sts_analysis.statistics import intervals, sampling
from sts_analysis.statistics.continuation_error import continuation_error
from sts_analysis.statistics.outcomes import Summary

TARGETS = ("sampled", "fixed")
EXACT = "exact: deterministic, so another continuation ends alike"
UNKNOWN_SPREAD = "needs a scenario with two judged continuations: the spread is not known"
POOLED_DF = 4
"""Degrees of freedom that the pooled variance counts as, beside a category's own."""


class Rates(NamedTuple):
    """Pass rates of A agents over one group of scenarios; NaN where nothing is known.

    Attributes:
      rate: float64[A].
      error: float64[A], standard error.
      interval: float64[A, 2].
      method: A of the interval's method in words, or of the reason why there is none.
      trials: float64[A], independent trials that would have this error, at least 1.
      df: float64[A], degrees of freedom of the error; infinite where it comes from continuations,
        NaN where no spread is seen.
    """

    rate: np.ndarray
    error: np.ndarray
    interval: np.ndarray
    method: tuple[str, ...]
    trials: np.ndarray
    df: np.ndarray

    def of(self, rows: np.ndarray) -> Rates:
        """The same for some agents, int64[n]."""
        return Rates(
            self.rate[rows],
            self.error[rows],
            self.interval[rows],
            tuple(self.method[row] for row in rows),
            self.trials[rows],
            self.df[rows],
        )


def pass_rates(
    summary: Summary,
    category: np.ndarray,
    *,
    target: str,
    correlation: np.ndarray | None = None,
    unit: np.ndarray | None = None,
    exact: np.ndarray | None = None,
) -> Rates:
    """Pass rates over all the scenarios of `summary`.

    Args:
      summary: [A, S].
      category: int64[S], from 0 without gaps.
      target: "sampled" or "fixed".
      correlation: float64[A], see `pooled_correlation`; given where the group is one category
        out of several, whose spread it borrows.
      unit: of `sampling.units`.
      exact: bool[A], agents whose continuations of a scenario are all the same.
    """
    judged = summary.number > 0
    weights = sampling.scenario_weights(judged, category)
    # Rounded, because a sum of weights may miss 1 by an ulp, and 1 is treated apart.
    rate = np.clip(np.round(sampling.weighted_mean(summary.mean, weights), 12), 0.0, 1.0)
    if target == "fixed":
        return _exactly(_fixed(summary, weights, rate, judged.sum(axis=1)), exact)
    if correlation is not None:
        return _one_category(summary, rate, correlation, unit)
    return _sampled(summary, category, weights, rate, sampling.distinct(judged, unit), unit)


def weighted_rates(
    summary: Summary,
    category: np.ndarray,
    weights: np.ndarray,
    *,
    target: str,
    unit: np.ndarray | None = None,
) -> Rates:
    """Pass rates in which scenarios weigh otherwise than in a suite.

    Args:
      summary: [A, S].
      category: int64[S], strata within which scenarios are alike.
      weights: float64[A, S] that sum to 1, or to 0 in a row without any; 0 where nothing is judged.
      target: "sampled" or "fixed".
      unit: of `sampling.units`.

    Source: Kish 1965, Survey Sampling, section 11.7, for the number of scenarios that unequal
      weights are worth, which is used where no spread is seen.
    """
    number = np.where(weights > 0, summary.number, 0)
    used = summary._replace(number=number)
    rate = np.clip(np.round(sampling.weighted_mean(summary.mean, weights), 12), 0.0, 1.0)
    worth = 1 / np.maximum((weights**2).sum(axis=1), 1e-300)
    trials = np.where(weights.any(axis=1), worth, 0.0)
    if target == "fixed":
        return _fixed(used, weights, rate, trials)
    return _sampled(used, category, weights, rate, trials, unit)


def _sampled(
    summary: Summary,
    category: np.ndarray,
    weights: np.ndarray,
    rate: np.ndarray,
    without_spread: np.ndarray,
    unit: np.ndarray | None = None,
) -> Rates:
    judged = summary.number > 0
    codes = sampling.strata(judged, category, unit)
    spread = sampling.sampling_spread(summary.mean, weights, codes, unit)
    scenarios = judged.sum(axis=1)
    trials = np.maximum(intervals.effective_trials(rate, spread.error, without_spread), 1)
    interval, ordinary = intervals.of_mean(rate, spread.error, spread.df, without_spread)
    methods = tuple(
        "nothing judged"
        if count == 0
        else f"stratified t, {df:.1f} df"
        if usual
        else f"Wilson, {n:.1f} effective trials, t with {df:.1f} df"
        if np.isfinite(df)
        else f"Wilson, {count} scenario{'' if count == 1 else 's'} as trials (no spread seen)"
        for count, usual, n, df in zip(scenarios, ordinary, trials, spread.df, strict=True)
    )
    return Rates(rate, spread.error, interval, methods, trials, spread.df)


def _one_category(
    summary: Summary, rate: np.ndarray, correlation: np.ndarray, unit: np.ndarray | None
) -> Rates:
    """The rates of one category of several, whose variance is drawn towards that of all.

    A few scenarios show their spread poorly, and categories differ in it: the pooled correlation
    counts as `POOLED_DF` scenarios beside the category's own.

    Source: Smyth 2004, Stat. Appl. Genet. Mol. Biol. 3(1):3, for a variance between own and pooled,
      with the degrees of freedom of both.
    """
    judged = summary.number > 0
    scenarios = judged.sum(axis=1)
    inverse = np.where(judged, 1 / np.maximum(summary.number, 1), 0.0).sum(axis=1)
    per_scenario = correlation + (1 - correlation) * inverse / np.maximum(scenarios, 1)
    drawn = sampling.distinct(judged, unit)
    pooled = rate * (1 - rate) * per_scenario / np.maximum(drawn, 1)
    one = np.zeros(judged.shape[1], dtype=np.int64)
    weights = sampling.scenario_weights(judged, one)
    codes = np.zeros(judged.shape, dtype=np.int64)
    own = np.nan_to_num(sampling.sampling_spread(summary.mean, weights, codes, unit).error) ** 2
    own_df = np.maximum(drawn - 1, 0)
    df = (POOLED_DF + own_df).astype(np.float64)
    error = np.sqrt((POOLED_DF * pooled + own_df * own) / df)
    inside = (rate > 0) & (rate < 1)
    df = np.where(inside, df, np.nan)
    trials = np.maximum(intervals.effective_trials(rate, error, scenarios), 1)
    methods = tuple(
        "nothing judged"
        if count == 0
        else f"Wilson, {n:.1f} effective trials"
        + (f", t with {own:.0f} df" if np.isfinite(own) else "")
        for count, n, own in zip(scenarios, trials, df, strict=True)
    )
    error = np.where(inside, error, np.where(np.isfinite(rate), 0.0, np.nan))
    interval = intervals.wilson(rate, trials, intervals.student_quantile(df))
    return Rates(rate, error, interval, methods, trials, df)


def _fixed(
    summary: Summary, weights: np.ndarray, rate: np.ndarray, without_spread: np.ndarray
) -> Rates:
    judged = summary.number > 0
    scenarios = judged.sum(axis=1)
    error, borrowed = continuation_error(summary, weights)
    trials = np.maximum(intervals.effective_trials(rate, error, without_spread), 1)
    known = np.isfinite(error)
    interval = np.where(known[:, None], intervals.wilson(rate, trials), np.nan)
    methods = tuple(
        "nothing judged"
        if count == 0
        else UNKNOWN_SPREAD
        if not has
        else f"Wilson, {n:.1f} effective trials"
        + (f", spread of {some} scenarios taken from the others" if some else "")
        for count, has, n, some in zip(scenarios, known, trials, borrowed, strict=True)
    )
    return Rates(rate, error, interval, methods, trials, np.full(len(rate), np.inf))


def _exactly(rates: Rates, exact: np.ndarray | None) -> Rates:
    """The same, where every further continuation of these scenarios is known to end alike."""
    if exact is None or not exact.any():
        return rates
    sure = exact & np.isfinite(rates.rate)
    return Rates(
        rates.rate,
        np.where(sure, 0.0, rates.error),
        np.where(sure[:, None], rates.rate[:, None], rates.interval),
        tuple(EXACT if row else how for row, how in zip(sure, rates.method, strict=True)),
        np.where(sure, np.inf, rates.trials),
        rates.df,
    )
