"""Differences between agents with annotators adjusted for, beside the plain ones.

Who judged an agent is part of its rate. The adjusted difference is the plain one, less what its two
agents owe to having been judged by other people, or by the same in other shares.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from analysis.statistics import intervals, sampling
from analysis.statistics.annotator_effects import Effects, annotator_effects
from analysis.statistics.comparisons import (
    ALPHA,
    FEW_SCENARIOS,
    Comparisons,
    adjust,
    scenario_parts,
)
from analysis.statistics.continuation_error import continuation_error
from analysis.statistics.judgement_shares import Shares
from analysis.statistics.outcomes import Summary
from analysis.statistics.pair_test import PairTest, ends_of, p_of

_AT_ONCE = 2000
"""Pairs whose annotators are looked at together, which bounds the memory."""
_SAME = 1e-9


class Adjusted(NamedTuple):
    """Every pair of `Comparisons`, P of them, with annotators adjusted for.

    Attributes:
      told: bool[P], whether the difference can be told from one between annotators.
      apart: float64[P], the share of one agent's judgements that would have to be other people's,
        for both to be judged by the same.
      difference: float64[P]; NaN where it cannot be told.
      error: float64[P], its standard error.
      interval: float64[P, 2], of this pair alone.
      p: float64[P], two-sided, of this pair alone.
      p_adjusted: float64[P], for all pairs that can be told.
      effects: of the annotators.
    """

    told: np.ndarray
    apart: np.ndarray
    difference: np.ndarray
    error: np.ndarray
    interval: np.ndarray
    p: np.ndarray
    p_adjusted: np.ndarray
    effects: Effects


def adjusted(
    shares: Shares,
    summary: Summary,
    category: np.ndarray,
    plain: Comparisons,
    *,
    target: str,
    seed: int,
    draws: int,
    unit: np.ndarray | None = None,
) -> Adjusted:
    """Compares agents as `compare` does, each verdict without what its annotator adds.

    Where two agents owe nothing to annotators, the difference is the plain one. Under "sampled" the
    error is clustered by scenario, that of the annotators' effects with it; under "fixed" these are
    added as errors of their own.

    Args:
      shares: [A, S, K], of the agents compared.
      summary: [A, S], of the same.
      category: int64[S].
      plain: of the same.
      target: "sampled" or "fixed".
      seed: of the multiplier bootstrap.
      draws: of the multiplier bootstrap.
      unit: of `sampling.units`.

    Source: Frisch and Waugh 1933, Econometrica 1:387, for taking annotators out first; see
      `compare` for the rest.
    """
    effects = annotator_effects(shares, _noise(summary) if target == "fixed" else None)
    a, b = plain.pairs.T
    common = (summary.number[a] > 0) & (summary.number[b] > 0)
    weights = sampling.scenario_weights(common, category)
    owed = _owed(shares.share, plain.pairs, weights)
    told = effects.told(owed) & np.isfinite(plain.difference)
    without = summary._replace(mean=summary.mean - shares.share @ effects.effect)
    values = np.where(common, without.mean[a] - without.mean[b], 0.0)
    difference = np.where(told, sampling.weighted_mean(values, weights), np.nan)
    if target == "fixed":
        error, loads = _fixed(without, plain, weights, owed, effects)
        df = np.full(len(error), np.inf)
    else:
        ways = owed @ effects.by_scenario
        values = np.where(common, values - ways / np.where(common, weights, 1.0), 0.0)
        codes = sampling.strata(common, category, unit)
        loads, error, df = sampling.sampling_spread(values, weights, codes, unit)
    seen = told & (error > 0)
    error = np.where(told, error, np.nan)
    ratio = np.abs(difference) / np.where(seen, error, 1.0)
    p = np.where(seen, 2 * stats.t.sf(ratio, np.where(seen, df, 1.0)), np.nan)
    p = np.where(told & ~seen & (np.abs(difference) < _SAME), 1.0, p)  # alike, without a spread
    # Where nothing is owed the plain comparison is the better one, and says how it was made.
    less = np.abs(owed * effects.effect).max(axis=1, initial=0.0)
    same = told & ((np.abs(owed).max(axis=1, initial=0.0) < _SAME) | (~seen & (less < _SAME)))
    interval = intervals.student(difference, error, df)
    if target == "sampled":
        for row in np.flatnonzero(seen & ~same & (plain.scenarios <= FEW_SCENARIOS)):
            parts = scenario_parts(values[row], weights[row], unit)
            few = PairTest(float(difference[row]), float(error[row]), float(df[row]), parts)
            p[row], interval[row] = p_of(few), ends_of(few, ALPHA)
    interval[same], p[same], error[same] = plain.interval[same], plain.p[same], plain.error[same]
    difference = np.where(same, plain.difference, difference)
    scaled = np.where(seen[:, None], loads, 0.0) / np.where(seen, error, 1.0)[:, None]
    p_adjusted = adjust(p, scaled, seed=seed, draws=draws)
    if same.all():
        p_adjusted = plain.p_adjusted
    apart = np.abs(owed).sum(axis=1) / 2
    return Adjusted(told, apart, difference, error, interval, p, p_adjusted, effects)


def _noise(summary: Summary) -> np.ndarray:
    """float64[A, S], variance of each mean from continuations, that of its agent where not seen."""
    known = np.isfinite(summary.spread)
    mean = np.where(known, summary.spread, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    spread = np.where(known, summary.spread, mean[:, None])
    return np.where(summary.number > 0, spread / np.maximum(summary.number, 1), 0.0)


def _owed(share: np.ndarray, pairs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """float64[P, K], how much more of a's rate than of b's is each annotator's."""
    parts = [
        np.einsum("ps,psk->pk", weights[at], share[pairs[at, 0]] - share[pairs[at, 1]])
        for at in (slice(n, n + _AT_ONCE) for n in range(0, len(pairs), _AT_ONCE))
    ]
    return np.concatenate(parts) if parts else np.zeros((0, share.shape[2]))


def _fixed(
    summary: Summary, plain: Comparisons, weights: np.ndarray, owed: np.ndarray, effects: Effects
) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors of differences from continuations, and their loads: agents, annotators.

    The plain difference and the annotators' effects err apart from each other, as what is estimated
    with fewer parameters and by how much more change it do (Hausman 1978, Econometrica 46:1251).
    """
    pairs = plain.pairs
    loads = np.zeros((len(pairs), len(summary.number)))
    for side, sign in ((0, 1.0), (1, -1.0)):
        agent = pairs[:, side]
        rows = summary.at(agent)
        loads[np.arange(len(pairs)), agent] = sign * continuation_error(rows, weights)[0]
    size = np.sqrt((loads**2).sum(axis=1))
    loads = loads * np.where(size > 0, plain.error / np.where(size > 0, size, 1.0), 0.0)[:, None]
    values, vectors = np.linalg.eigh(effects.by_continuation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    loads = np.concatenate([loads, owed @ root], axis=1)
    return np.sqrt((loads**2).sum(axis=1)), loads
