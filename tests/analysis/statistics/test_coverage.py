"""Simulated coverage: nominal 95% intervals hold, and the naive ones are caught failing."""

import numpy as np
import pytest

from sts_analysis.statistics import corrected, intervals, mean_area
from sts_analysis.statistics.comparisons import compare
from sts_analysis.statistics.corrected import Corrected
from sts_analysis.statistics.icc import intraclass_correlation
from sts_analysis.statistics.outcomes import Outcomes, summarise
from sts_analysis.statistics.pass_rates import pass_rates
from sts_analysis.statistics.pooled_correlation import pooled_correlation
from sts_analysis.statistics.weighed_accuracy import Share
from tests.analysis.worlds import beta_world, logistic_world

FAST, SLOW = 500, 4000


def covered(interval: np.ndarray, truth: np.ndarray | float) -> float:
    return float(np.mean((interval[:, 0] <= truth) & (truth <= interval[:, 1])))


def naive(values: np.ndarray) -> np.ndarray:
    """The standard error over all continuations, as if they were independent."""
    flat = values.reshape(len(values), -1)
    error = flat.std(axis=1, ddof=1) / np.sqrt(flat.shape[1])
    return intervals.student(flat.mean(axis=1), error, np.full(len(flat), flat.shape[1] - 1.0))


def check_rates(
    rate: float, icc: float, scenarios: int, *, rows: int, low: float, high: float
) -> None:
    values, chance, category = beta_world(
        rows=rows, categories=8, scenarios=scenarios, continuations=10, rate=rate, icc=icc, seed=11
    )
    summary = summarise(values)
    sampled = pass_rates(summary, category, target="sampled").interval
    fixed = pass_rates(summary, category, target="fixed").interval
    assert low <= covered(sampled, rate) <= high
    assert low <= covered(fixed, chance.mean(axis=1)) <= high


@pytest.mark.parametrize("scenarios", [3, 10])
@pytest.mark.parametrize("icc", [0.0, 0.4, 0.8])
@pytest.mark.parametrize("rate", [0.05, 0.5, pytest.param(0.95, marks=pytest.mark.slow)])
def test_pass_rates_cover_both_targets(rate: float, icc: float, scenarios: int) -> None:
    # Near 0 and 1 with 24 scenarios the interval errs to the wide side.
    check_rates(rate, icc, scenarios, rows=2000, low=0.92, high=0.993)


@pytest.mark.slow
@pytest.mark.parametrize("icc", [0.0, 0.4, 0.8])
def test_pass_rates_cover_both_targets_closely(icc: float) -> None:
    check_rates(0.5, icc, 10, rows=SLOW, low=0.935, high=0.965)


def test_the_error_over_all_continuations_is_wrong_both_ways() -> None:
    values, chance, _ = beta_world(
        rows=FAST, categories=16, scenarios=10, continuations=10, rate=0.5, icc=0.4, seed=12
    )
    assert covered(naive(values), 0.5) < 0.75
    assert covered(naive(values), chance.mean(axis=1)) > 0.98


@pytest.mark.parametrize("icc", [0.0, 0.4, 0.8])
def test_a_category_covers_with_its_pooled_correlation(icc: float) -> None:
    values, _, category = beta_world(
        rows=FAST, categories=8, scenarios=10, continuations=10, rate=0.5, icc=icc, seed=13
    )
    rho = pooled_correlation(summarise(values), category)
    one = summarise(values[:, category == 0])
    found = pass_rates(one, np.zeros(10, dtype=np.int64), target="sampled", correlation=rho)
    assert 0.92 <= covered(found.interval, 0.5) <= 0.98
    if icc:
        assert covered(naive(values[:, category == 0]), 0.5) < 0.8


def test_unequal_numbers_of_continuations_cover() -> None:
    values, _, category = beta_world(
        rows=FAST, categories=8, scenarios=10, continuations=10, rate=0.5, icc=0.4, seed=14
    )
    kept = np.random.default_rng(1).integers(1, 11, size=values.shape[:2])
    values[np.arange(10) >= kept[..., None]] = np.nan
    found = pass_rates(summarise(values), category, target="sampled")
    assert 0.92 <= covered(found.interval, 0.5) <= 0.98


def check_ties(*, replicates: int, low: float) -> None:
    joint = alone = 0
    for seed in range(replicates):
        values, category = logistic_world(
            skills=[0.0] * 5, categories=8, scenarios=10, continuations=10, seed=seed
        )
        summary = summarise(values)
        rates = pass_rates(summary, category, target="sampled")
        found = compare(summary, category, rates, target="sampled", seed=seed, draws=1000)
        joint += int((found.p_adjusted >= 0.05).all())
        alone += int((found.p >= 0.05).all())
    assert joint / replicates >= low
    assert alone / replicates < 0.85


def test_rank_sets_of_five_tied_agents_hold_together_and_unadjusted_ones_do_not() -> None:
    check_ties(replicates=FAST // 2, low=0.92)


@pytest.mark.slow
def test_rank_sets_of_five_tied_agents_hold_together_closely() -> None:
    check_ties(replicates=SLOW, low=0.94)


def test_paired_differences_cover() -> None:
    hits = []
    for seed in range(300):
        values, category = logistic_world(
            skills=[0.8, 0.0], categories=4, scenarios=6, continuations=10, seed=seed
        )
        summary = summarise(values)
        rates = pass_rates(summary, category, target="sampled")
        found = compare(summary, category, rates, target="sampled", seed=0, draws=100)
        hits.append(found.interval[0])
    truth_values, _ = logistic_world(
        skills=[0.8, 0.0], categories=1, scenarios=400_000, continuations=1, seed=999
    )
    truth = truth_values[0].mean() - truth_values[1].mean()
    assert 0.92 <= covered(np.array(hits), truth) <= 0.98


@pytest.mark.parametrize(("rate", "icc"), [(0.5, 0.1), (0.5, 0.4), (0.5, 0.8), (0.3, 0.4)])
def test_the_icc_covers(rate: float, icc: float) -> None:
    values, _, _ = beta_world(
        rows=FAST, categories=8, scenarios=10, continuations=10, rate=rate, icc=icc, seed=15
    )
    found = [intraclass_correlation(row)[1] or (9.0, 9.0) for row in values]
    assert 0.92 <= covered(np.array(found), icc) <= 0.98


def test_mean_areas_cover() -> None:
    rng = np.random.default_rng(16)
    values, _, category = beta_world(
        rows=FAST, categories=4, scenarios=10, continuations=10, rate=0.6, icc=0.4, seed=16
    )
    own = values * rng.uniform(0.2, 0.9, size=values.shape)
    names = tuple(map(str, range(FAST)))
    outcomes = Outcomes(
        names, np.zeros(FAST, bool), ("s",) * 40, category, tuple("abcd"), ("",) * 40, own
    )
    found = mean_area.mean_areas(outcomes)
    assert 0.92 <= covered(found.interval, 0.6 * 0.55) <= 0.98


def corrected_coverage(rate: float, replicates: int) -> tuple[float, float]:
    rng = np.random.default_rng(17)
    se, sp, served, trials = 0.85, 0.9, 30, 600
    hits = []
    for _ in range(replicates):
        apparent = rng.binomial(trials, rate * se + (1 - rate) * (1 - sp)) / trials
        right = rng.binomial(served, [se, sp]) / served
        se_share, sp_share = (Share(float(one), served, served, 0.0) for one in right)
        found = corrected.correct(apparent, trials, np.nan, se_share, sp_share)
        if not isinstance(found, Corrected):
            continue
        plain = intervals.wilson(np.array(apparent), np.array(trials))
        hits.append(
            (
                found.interval[0] <= rate <= found.interval[1],
                plain[0] <= rate <= plain[1],
            )
        )
    return float(np.mean(hits, axis=0)[0]), float(np.mean(hits, axis=0)[1])


@pytest.mark.parametrize("rate", [0.1, 0.8])
def test_corrected_rates_cover_and_uncorrected_ones_do_not(rate: float) -> None:
    corrected, plain = corrected_coverage(rate, FAST)
    assert 0.92 <= corrected <= 0.985
    assert plain < 0.3
