"""What holds for other annotators of the same kind: these are taken for a sample, too.

The other targets speak of the verdicts that these very people give. Here how people differ enters:
the variance between annotators is added to that of the target.

Axes: A agents, S scenarios, K annotators.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.special import expit, logit

from sts_analysis.statistics import intervals
from sts_analysis.statistics.adjusted import Adjusted
from sts_analysis.statistics.comparisons import ALPHA
from sts_analysis.statistics.holm import holm
from sts_analysis.statistics.judgement_shares import Shares
from sts_analysis.statistics.pass_rates import Rates

FEWEST = 2
"""Annotators of an agent, from which on it can be seen how they differ."""
_WITHIN = 0.5


class Between(NamedTuple):
    """How far agents' rates can be off because other people would judge otherwise.

    Attributes:
      loads: float64[A, K], each annotator's share of the error.
      form: float64[A, K, K], the quadratic form in annotators' effects that the squares of `loads`
        sum to.
      wanted: float64[A], what that form's trace would be, were no mean taken out.
      number: int64[A], annotators of each agent.
    """

    loads: np.ndarray
    form: np.ndarray
    wanted: np.ndarray
    number: np.ndarray

    @property
    def variance(self) -> np.ndarray:
        """float64[A], of each rate; NaN with fewer than two annotators."""
        trace = np.trace(self.form, axis1=1, axis2=2)
        enough = (self.number >= FEWEST) & (trace > 0)
        scale = self.wanted / np.where(enough, trace, 1.0)
        return np.where(enough, (self.loads**2).sum(axis=1) * scale, np.nan)

    @property
    def df(self) -> np.ndarray:
        """float64[A], its degrees of freedom, one less than the annotators where they share alike.

        Source: Bell and McCaffrey 2002, Survey Methodology 28:169, section 4.
        """
        trace = np.trace(self.form, axis1=1, axis2=2)
        squares = (self.form**2).sum(axis=(1, 2))
        return np.where(squares > 0, trace**2 / np.where(squares > 0, squares, 1.0), np.nan)


def between(shares: Shares, weights: np.ndarray) -> Between:
    """How annotators differ, agent by agent.

    Each is held against what all say of the same scenarios; against what all say of the agent,
    where most scenarios are one annotator's each.

    Args:
      shares: [A, S, K].
      weights: float64[A, S], of the scenarios in each agent's rate.
    """
    own = weights[..., None] * shares.share
    mine = own.sum(axis=1)
    whole = np.maximum(shares.share.sum(axis=2), 1e-300)
    inside = shares.value.sum(axis=2) / whole
    rate = (weights * shares.value.sum(axis=2)).sum(axis=1) / np.maximum(mine.sum(axis=1), 1e-300)
    total = np.maximum(mine.sum(axis=1), 1e-300)[:, None, None]
    overlap = np.einsum("ask,asj->akj", own / whole[..., None], shares.share)
    everywhere = mine[:, :, None] * mine[:, None, :] / total
    diagonal = np.einsum("ak,kj->akj", mine, np.eye(mine.shape[1]))
    forms = [
        np.einsum("aik,aij->akj", one, one) for one in (diagonal - overlap, diagonal - everywhere)
    ]
    traces = [np.trace(form, axis1=1, axis2=2) for form in forms]
    within = traces[0] >= _WITHIN * traces[1]
    centre = np.where(within[:, None], inside, rate[:, None])
    loads = (weights[..., None] * (shares.value - shares.share * centre[..., None])).sum(axis=1)
    return Between(
        loads,
        np.where(within[:, None, None], forms[0], forms[1]),
        (mine**2).sum(axis=1),
        (mine > 0).sum(axis=1),
    )


def other_rates(rates: Rates, found: Between, scenarios: np.ndarray) -> Rates:
    """Intervals of pass rates for other annotators, and for whatever `rates` is for.

    The variance is the sum of both; the spread of single verdicts, which is in either, is not taken
    out again: with that the interval covers too little near 0 and 1. Made on the logit scale, with
    Student's t and the smaller number of degrees of freedom.

    Args:
      rates: of the A agents, under a target.
      found: of the same.
      scenarios: int64[A], on which each was judged.

    Source: Cameron, Gelbach and Miller 2011, J. Bus. Econ. Stat. 29:238, for variance in two ways.
    """
    error = np.sqrt(rates.error**2 + found.variance)
    df = np.minimum(found.df, np.maximum(scenarios - 1, 1))
    known, inside = np.isfinite(error), (rates.rate > 0) & (rates.rate < 1)
    usual = known & inside & (error > 0)
    p = np.where(usual, rates.rate, 0.5)
    reach = stats.t.isf((1 - intervals.LEVEL) / 2, np.where(usual, df, 1.0))
    reach = reach * np.where(usual, error, 1.0) / (p * (1 - p))
    ends = expit(np.stack([logit(p) - reach, logit(p) + reach], axis=-1))
    people = np.maximum(found.number, 1)
    plain = intervals.wilson(rates.rate, people)
    ends = np.where(usual[:, None], ends, np.where(known[:, None], plain, np.nan))
    words = tuple(
        rates.method[row]
        if not np.isfinite(rates.error[row])
        else "needs two annotators who judged this agent"
        if not known[row]
        else f"t on the logit scale, {df[row]:.1f} df, {people[row]} annotators"
        if usual[row]
        else f"Wilson, {people[row]} annotators as trials (no spread seen)"
        for row in range(len(p))
    )
    return rates._replace(error=error, interval=ends, method=words)


class OtherDifferences(NamedTuple):
    """Differences between agents for other annotators, P pairs; NaN where they cannot be told.

    Attributes:
      difference: float64[P], with annotators adjusted for.
      error: float64[P].
      df: float64[P].
      interval: float64[P, 2], of each pair alone.
      p: float64[P], two-sided, of each pair alone.
      p_adjusted: float64[P], for all pairs, Holm's.
    """

    difference: np.ndarray
    error: np.ndarray
    df: np.ndarray
    interval: np.ndarray
    p: np.ndarray
    p_adjusted: np.ndarray

    @property
    def separated(self) -> np.ndarray:
        """bool[P], pairs that are told apart, all of them taken together."""
        return self.p_adjusted < ALPHA


def other_differences(
    shares: Shares, weights: np.ndarray, pairs: np.ndarray, beside: Adjusted, scenarios: np.ndarray
) -> OtherDifferences:
    """Differences for other annotators: what these make of one agent more than of the other.

    What an annotator adds to all agents alike is adjusted for; what is left is who finds one of the
    two better than others do.

    Args:
      shares: [A, S, K], of the agents compared.
      weights: float64[A, S].
      pairs: int64[P, 2].
      beside: of the same pairs.
      scenarios: int64[P], that both were judged on.
    """
    left = shares._replace(value=shares.value - shares.share * beside.effects.effect)
    found = between(left, weights)
    a, b = pairs.T
    flat = found.form.reshape(len(found.form), -1)
    squares, gram = found.loads @ found.loads.T, flat @ flat.T
    trace = np.trace(found.form, axis1=1, axis2=2)
    enough = (np.minimum(found.number[a], found.number[b]) >= FEWEST) & (trace[a] + trace[b] > 0)
    scale = (found.wanted[a] + found.wanted[b]) / np.where(enough, trace[a] + trace[b], 1.0)
    apart = np.maximum(squares[a, a] + squares[b, b] - 2 * squares[a, b], 0.0) * scale
    error = np.where(enough, np.sqrt(beside.error**2 + apart), np.nan)
    forms = np.where(enough, gram[a, a] + gram[b, b] + 2 * gram[a, b], 1.0)
    df = np.minimum((trace[a] + trace[b]) ** 2 / forms, np.maximum(scenarios - 1, 1))
    seen = error > 0
    df = np.where(seen, df, np.nan)
    ratio = np.abs(beside.difference) / np.where(seen, error, 1.0)
    p = np.where(seen, 2 * stats.t.sf(ratio, np.where(seen, df, 1.0)), np.nan)
    difference = np.where(enough, beside.difference, np.nan)
    interval = intervals.student(difference, np.where(seen, error, np.nan), df)
    return OtherDifferences(difference, error, df, interval, p, holm(p))
