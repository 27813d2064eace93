"""Paired comparisons of agents, adjusted for their number.

Agents are compared scenario by scenario. Continuations are not paired: those of one scenario are
exchangeable, so their index means nothing.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import stats

from sts_analysis.statistics import intervals, sampling
from sts_analysis.statistics.continuation_error import continuation_error
from sts_analysis.statistics.copies import Copies
from sts_analysis.statistics.outcomes import Summary
from sts_analysis.statistics.pair_test import PairTest, ends_of, p_of
from sts_analysis.statistics.paired import Chance, Errors, Paired, every_pair
from sts_analysis.statistics.pass_rates import UNKNOWN_SPREAD, Rates
from sts_analysis.statistics.step_down import step_down

ALPHA = 1 - intervals.LEVEL
FEW_SCENARIOS = 12
LEAST = 1e-6
"""A difference that is none, but for its sign."""


class Comparisons(NamedTuple):
    """Every pair of A agents, P = A (A - 1) / 2; NaN where a pair shares no judged scenario.

    p is below 5% where the interval excludes 0 and nowhere else, as both are of one test.

    Attributes:
      pairs: int64[P, 2], indices a < b.
      difference: float64[P], rate of a minus rate of b over the scenarios both were judged on.
      error: float64[P], its standard error.
      interval: float64[P, 2], of this pair alone.
      joint_interval: float64[P, 2], all pairs hold together with 95%. It holds 0 where the pair is
        not separated and nowhere else; where only the order is sure it ends at `LEAST` beside 0.
      one_sided: float64[P, 2], of this pair alone, each end by itself with 95%.
      p: float64[P], of this pair alone, two-sided.
      p_adjusted: float64[P], for all pairs, by `step_down`.
      scenarios: int64[P], scenarios both were judged on.
      method: P of words.
    """

    pairs: np.ndarray
    difference: np.ndarray
    error: np.ndarray
    interval: np.ndarray
    joint_interval: np.ndarray
    one_sided: np.ndarray
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
    exact: np.ndarray | None = None,
) -> Comparisons:
    """Compares every two agents on the scenarios both were judged on.

    Args:
      summary: [A, S].
      category: int64[S].
      rates: the same agents' pass rates under the same target.
      target: "sampled" pairs the scenario means; "fixed" counts the continuations' noise only.
      seed: of the multiplier bootstrap.
      draws: of the multiplier bootstrap.
      unit: of `sampling.units`.
      copies: of the same agents, whose clips may be the same; `summary` knows those of one agent.
      exact: bool[A], agents whose continuations of a scenario are all the same.

    Source: stratified paired t: Miller 2024 (arXiv 2411.00640), section 4; for the others see
      `pair_test`, for all pairs together `step_down`.
    """
    pairs = every_pair(len(summary.number))
    a, b = pairs.T
    paired = Paired(pairs, summary.number > 0, category, unit)
    scenarios = paired.scenarios()
    rng = np.random.default_rng(seed)
    difference = paired.means(summary.mean)
    error, df, chance = (
        _fixed(summary, paired, copies, exact, draws=draws, rng=rng)
        if target == "fixed"
        else paired.errors(lambda some: paired.less(summary.mean, some), draws, rng)
    )
    both = np.zeros(len(pairs), bool) if exact is None else exact[a] & exact[b]
    few = (target == "sampled") & (scenarios <= FEW_SCENARIOS)
    certain = both & (target == "fixed")
    usual = (error > 0) & ~few & ~certain

    def test(row: int) -> PairTest:
        pair = pairs[row : row + 1]
        values, weights = paired.less(summary.mean, pair)[0], paired.shared(pair).weights[0]
        return PairTest(
            difference=float(difference[row]),
            error=float(error[row]),
            df=float(df[row]),
            parts=scenario_parts(values, weights, unit) if few[row] else None,
            rates=rates.of(pairs[row]),
            exact=bool(certain[row]),
        )

    tests = {row: test(row) for row in np.flatnonzero(~usual).tolist()}
    ratio = np.abs(difference) / np.where(usual, error, 1.0)
    p: np.ndarray = np.asarray(2 * stats.t.sf(ratio, np.where(usual, df, 1.0)))
    p[list(tests)] = [p_of(test) for test in tests.values()]
    adjusted, joint_alpha = adjust(p, error, chance, draws=draws, rng=rng)
    interval, joint, one_sided = (
        _ends(difference, error, df, usual, tests, alpha)
        for alpha in (ALPHA, joint_alpha, 2 * ALPHA)
    )
    words = "normal, continuations" if target == "fixed" else "stratified paired t"
    method = tuple(
        _method(tests[row], words) if row in tests else words for row in range(len(pairs))
    )
    joint = _agree(difference, joint, adjusted < ALPHA)
    return Comparisons(
        pairs, difference, error, interval, joint, one_sided, p, adjusted, scenarios, method
    )


def _ends(
    difference: np.ndarray,
    error: np.ndarray,
    df: np.ndarray,
    usual: np.ndarray,
    tests: dict[int, PairTest],
    alpha: float,
) -> np.ndarray:
    """float64[P, 2], intervals at level alpha: Student's of the usual pairs, each other's own."""
    half = np.zeros(len(difference))
    half[usual] = stats.t.isf(alpha / 2, df[usual]) * error[usual]
    ends = np.stack([difference - half, difference + half], axis=-1)
    for row, test in tests.items():
        ends[row] = ends_of(test, alpha)
    return ends


def scenario_parts(
    values: np.ndarray, weights: np.ndarray, unit: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """The difference and the weight of each unit of the sample that both agents were judged on."""
    share = sampling.by_unit(weights[None], unit)[0]
    total = sampling.by_unit((values * weights)[None], unit)[0]
    used = share > 0
    return total[used] / share[used], share[used]


def _method(test: PairTest, words: str) -> str:
    if np.isnan(test.difference):
        return "no scenario in common"
    if test.exact:
        return "exact: both are deterministic"
    if np.isnan(test.error) and test.parts is None:
        return UNKNOWN_SPREAD
    if test.parts is not None:
        return "exact sign flips" if test.error > 0 else "exact sign flips, no spread seen"
    return words if test.error > 0 else "from both rates' intervals, no spread seen"


def _fixed(
    summary: Summary,
    paired: Paired,
    copies: Copies | None,
    exact: np.ndarray | None,
    *,
    draws: int,
    rng: np.random.Generator,
) -> Errors:
    # Agents err independently of each other here, so an agent's error is one shared factor.
    # Of a clip that both made they share the error, which leaves their difference alone.
    sides = errors_of_sides(summary, paired)
    if exact is not None:
        sides = np.where(exact[paired.pairs], 0.0, sides)
    error = np.hypot(*sides.T)
    if copies is not None:
        left = error**2 - 2 * copies.between(paired.pairs, paired.weights_of)
        less = np.sqrt(np.maximum(left, 0.0)) / np.where(error > 0, error, 1.0)
        sides, error = sides * less[:, None], error * less
    chance = chance_of_sides(sides, paired.pairs, rng.standard_normal((draws, len(paired.judged))))
    return Errors(error, np.full(len(error), np.inf), chance)


def errors_of_sides(summary: Summary, paired: Paired) -> np.ndarray:
    """float64[P, 2], the error from continuations of each agent of a pair, on what both share."""
    if paired.alike:
        of_agents, _ = continuation_error(summary, paired.shared(paired.pairs).weights)
        sides: np.ndarray = of_agents[paired.pairs]
        return sides

    def work(pairs: np.ndarray) -> tuple[np.ndarray, ...]:
        weights = paired.shared(pairs).weights
        return tuple(continuation_error(summary.at(side), weights)[0] for side in pairs.T)

    return np.stack(paired.each(work), axis=1)


def chance_of_sides(sides: np.ndarray, pairs: np.ndarray, normal: np.ndarray) -> Chance:
    """What chance makes of differences whose agents err apart; `normal` is float64[draws, A]."""
    drawn = np.ascontiguousarray(normal.T)

    def chance(rows: np.ndarray) -> Iterator[np.ndarray]:
        for (a, b), (one, other) in zip(pairs[rows], sides[rows], strict=True):
            yield one * drawn[a] - other * drawn[b]

    return chance


def adjust(
    p: np.ndarray, error: np.ndarray, chance: Chance, *, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Adjusts p values for their number, as `compare` does; NaN stays NaN.

    Args:
      p: float64[P], each alone.
      error: float64[P], by which chance is divided. Nothing is known of how pairs without one hang
        together with the others: they are taken for independent.
      chance: of the pairs that have an error.
      draws: of the multiplier bootstrap.
      rng: for the other pairs.

    Returns:
      Adjusted p values, and the level at which single intervals hold all together with 95%.
    """
    known = np.flatnonzero(np.isfinite(p) & (p > 0))  # 0 is what is exact, and no chance

    def drawn(rows: np.ndarray) -> Iterator[np.ndarray]:
        own = error[known[rows]]
        made = chance(known[rows][own > 0])
        for size in own:
            yield _divided(next(made), size) if size > 0 else rng.standard_normal(draws)

    found = step_down(p[known], drawn, draws=draws)
    adjusted = p.copy()
    adjusted[known] = found.p
    return adjusted, found.alpha


def _divided(made: np.ndarray, size: float) -> np.ndarray:
    made /= size  # in place, as it is the most that is done
    return made


def _agree(difference: np.ndarray, joint: np.ndarray, separated: np.ndarray) -> np.ndarray:
    """Ends intervals beside 0 where steps separate a pair whose size may be near 0."""
    low, high = joint.T
    low = np.where(separated & (difference > 0), np.maximum(low, LEAST), low)
    high = np.where(separated & (difference < 0), np.minimum(high, -LEAST), high)
    return np.stack([low, high], axis=-1)
