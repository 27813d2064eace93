"""Differences between agents with annotators adjusted for, beside the plain ones.

Who judged an agent is part of its rate. The adjusted difference is the plain one, less what its two
agents owe to having been judged by other people, or by the same in other shares.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import stats

from sts_analysis.statistics import intervals
from sts_analysis.statistics.annotator_effects import Effects, annotator_effects
from sts_analysis.statistics.comparisons import (
    ALPHA,
    FEW_SCENARIOS,
    Comparisons,
    adjust,
    chance_of_sides,
    errors_of_sides,
    scenario_parts,
)
from sts_analysis.statistics.judgement_shares import Shares
from sts_analysis.statistics.outcomes import Summary
from sts_analysis.statistics.pair_test import PairTest, ends_of, p_of
from sts_analysis.statistics.paired import Errors, Paired

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
    paired = Paired(plain.pairs, summary.number > 0, category, unit)
    owing = _owing(shares.share, paired)
    (owed,) = paired.each(lambda pairs: (owing(pairs),))
    told = effects.told(owed) & np.isfinite(plain.difference)
    mean = summary.mean - shares.share @ effects.effect

    def values(pairs: np.ndarray) -> np.ndarray:
        """float64[n, S], with what each scenario adds to the errors of the annotators' effects."""
        weights = paired.shared(pairs).weights
        ways = owing(pairs) @ effects.by_scenario
        apart = paired.less(mean, pairs) - ways / np.where(weights > 0, weights, 1.0)
        return np.where(weights > 0, apart, 0.0)

    rng = np.random.default_rng(seed)
    error, df, chance = (
        _fixed(summary, paired, plain.error, owed, effects, draws=draws, rng=rng)
        if target == "fixed"
        else paired.errors(values, draws, rng)
    )
    difference = np.where(told, paired.means(mean), np.nan)
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
            pair = plain.pairs[row : row + 1]
            parts = scenario_parts(values(pair)[0], paired.shared(pair).weights[0], unit)
            few = PairTest(float(difference[row]), float(error[row]), float(df[row]), parts)
            p[row], interval[row] = p_of(few), ends_of(few, ALPHA)
    interval[same], p[same], error[same] = plain.interval[same], plain.p[same], plain.error[same]
    difference = np.where(same, plain.difference, difference)
    if same.all():
        p_adjusted = plain.p_adjusted
    else:
        p_adjusted, _ = adjust(p, np.where(seen, error, 0.0), chance, draws=draws, rng=rng)
    apart = np.abs(owed).sum(axis=1) / 2
    return Adjusted(told, apart, difference, error, interval, p, p_adjusted, effects)


def _noise(summary: Summary) -> np.ndarray:
    """float64[A, S], variance of each mean from continuations, that of its agent where not seen."""
    known = np.isfinite(summary.spread)
    mean = np.where(known, summary.spread, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    spread = np.where(known, summary.spread, mean[:, None])
    return np.where(summary.number > 0, spread / np.maximum(summary.number, 1), 0.0)


def _owing(share: np.ndarray, paired: Paired) -> Callable[[np.ndarray], np.ndarray]:
    """Of pairs float64[n, K], how much more of a's rate than of b's is each annotator's."""
    return paired.linear(
        lambda pairs: np.einsum(
            "ps,psk->pk",
            np.broadcast_to(paired.shared(pairs).weights, (len(pairs), share.shape[1])),
            share[pairs[:, 0]] - share[pairs[:, 1]],
        )
    )


def _fixed(
    summary: Summary,
    paired: Paired,
    plain: np.ndarray,
    owed: np.ndarray,
    effects: Effects,
    *,
    draws: int,
    rng: np.random.Generator,
) -> Errors:
    """Errors of differences from continuations, which agents add, and from annotators' effects.

    The plain difference and the annotators' effects err apart from each other, as what is estimated
    with fewer parameters and by how much more change it do (Hausman 1978, Econometrica 46:1251).
    """
    sides = errors_of_sides(summary, paired)
    size = np.hypot(*sides.T)
    sides *= np.where(size > 0, plain / np.where(size > 0, size, 1.0), 0.0)[:, None]
    values, vectors = np.linalg.eigh(effects.by_continuation)
    root = owed @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    agents = len(paired.judged)
    normal = rng.standard_normal((draws, agents + root.shape[1]))
    own = chance_of_sides(sides, paired.pairs, normal[:, :agents])
    error = np.sqrt((sides**2).sum(axis=1) + (root**2).sum(axis=1))

    def chance(rows: np.ndarray) -> Iterator[np.ndarray]:
        for made, load in zip(own(rows), root[rows], strict=True):
            yield made + normal[:, agents:] @ load

    return Errors(error, np.full(len(error), np.inf), chance)
