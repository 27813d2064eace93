"""Rank correlations against SciPy and the literature's numbers, and what few agents show."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from sts_analysis.statistics.rank_correlations import (
    correlate,
    find_interval,
    measure_noise,
    measure_reliability,
    permute,
)
from sts_analysis.statistics.rates import RateModel
from tests.analysis.outcomes import make_outcomes

RNG = np.random.default_rng(2)
X = RNG.normal(size=20)
Y = X + RNG.normal(size=20)


def test_rho_with_ties_is_that_of_scipy() -> None:
    x, y = X.round(), Y.round()
    assert correlate(x, y).rho == pytest.approx(stats.spearmanr(x, y).statistic)


def test_values_that_only_rounding_tells_apart_are_tied() -> None:
    x = np.array([0.1 + 0.2, 0.3, 0.5, 0.7])
    assert correlate(x, np.arange(4.0)).rho == correlate(x.round(9), np.arange(4.0)).rho < 1
    same = np.full(4, 0.3) + np.array([0, 5e-17, 0, 0])
    assert np.isnan(correlate(same, np.arange(4.0)).rho)
    assert np.isnan(measure_reliability(same, 0.01))


@pytest.mark.parametrize(
    ("rho", "low", "high"), [(0.81, 0.51, 0.93), (0.64, 0.22, 0.86), (0.46, -0.02, 0.77)]
)
def test_interval_equals_those_of_the_papers_table(rho, low, high) -> None:
    assert find_interval(rho, 19) == pytest.approx((low, high), abs=0.01)


def test_exact_p_is_that_of_all_permutations() -> None:
    oracle: Any = stats.permutation_test(  # type: ignore[call-overload]
        (X[:6],),
        lambda x: abs(stats.spearmanr(x, Y[:6]).statistic),
        permutation_type="pairings",
        alternative="greater",
        n_resamples=np.inf,
    )
    assert permute(X[:6], Y[:6], seed=0) == pytest.approx(oracle.pvalue)
    assert permute(np.arange(5.0), np.arange(5.0), seed=0) == pytest.approx(2 / 120)


def test_random_p_is_near_the_t_approximation_and_follows_its_seed() -> None:
    y = 0.4 * X + RNG.normal(size=20)
    p = permute(X, y, seed=1)
    assert p == pytest.approx(stats.spearmanr(X, y).pvalue, abs=0.01)
    assert p == permute(X, y, seed=1) != permute(X, y, seed=2)


def test_interval_and_p_need_eight_agents() -> None:
    seven, eight = correlate(X[:7], Y[:7]), correlate(X[:8], Y[:8])
    assert np.isfinite(seven.rho) and np.isnan(seven.interval).all() and np.isnan(seven.p)
    assert seven.reason == "needs 8 agents for an interval"
    assert eight.interval[0] < eight.rho < eight.interval[1] and 0 < eight.p < 1
    assert (eight.agents, eight.families, eight.reason) == (8, 8, "")


def test_rho_of_two_agents_or_a_constant_is_unknown() -> None:
    assert "needs 3 agents" in correlate(X[:2], Y[:2]).reason
    flat = correlate(np.ones(9), Y[:9])
    assert np.isnan(flat.rho) and "same value" in flat.reason
    perfect = correlate(X, X)
    assert perfect.rho == 1 and np.isnan(perfect.interval).all() and perfect.p < 0.001


def test_families_are_left_out_from_five_on() -> None:
    five, four = (np.repeat(list(names), 20 // len(names)) for names in ("abcde", "abcd"))
    found = correlate(X, Y, family_names=five)
    whole = np.arctanh(found.rho)
    kept = [five != name for name in "abcde"]
    left = np.arctanh([stats.spearmanr(X[rows], Y[rows]).statistic for rows in kept])
    se = np.sqrt(4 / 5 * ((left - left.mean()) ** 2).sum())
    half = stats.t.ppf(0.975, 4) * se
    assert found.interval == pytest.approx(np.tanh([whole - half, whole + half]))
    assert found.p == pytest.approx(2 * stats.t.sf(whole / se, 4)) and found.families == 5
    few = correlate(X, Y, family_names=four)
    assert np.isnan(few.interval).all() and few.reason == "needs 5 families for an interval"
    lonely = correlate(X, Y, family_names=np.array([""] * 20))
    assert lonely.families == 20 and lonely.interval == pytest.approx(find_interval(lonely.rho, 20))


def test_reliability_is_the_share_of_variance_without_noise() -> None:
    assert measure_reliability(np.arange(4.0), 0.25) == pytest.approx(1 - 0.25 / (5 / 3))
    assert np.isnan(measure_reliability(np.arange(4.0), np.nan))
    found = correlate(X, Y, noise_x=0.1)
    assert found.reliability_x == pytest.approx(1 - 0.1 / X.var(ddof=1))
    assert np.isnan(found.reliability_y)


def test_noise_of_rates_leaves_out_what_is_hard_for_all() -> None:
    hard = RNG.random((1, 40, 1))
    outcomes = make_outcomes(np.clip(hard + RNG.normal(0, 0.01, (4, 40, 1)), 0, 1))
    model = RateModel(outcomes)
    pairs = model.compare(np.arange(4))
    noise = measure_noise(pairs, np.array([0, 1, 3]))
    inside = (pairs.first != 2) & (pairs.second != 2)
    assert noise == pytest.approx((pairs.se[inside] ** 2).mean() / 2)
    assert noise < 0.1 * model.estimate_rates().se[0] ** 2
    assert np.isnan(measure_noise(pairs, np.array([0])))


def test_correction_needs_errors_of_both_and_eight_agents() -> None:
    found = correlate(X, Y, noise_x=0.1, noise_y=0.3)
    assert abs(found.rho) < abs(found.corrected) <= 1
    assert found.corrected_interval[0] < found.corrected < found.corrected_interval[1]
    for other in (correlate(X, Y, noise_x=0.1), correlate(X[:7], Y[:7], noise_x=0.1, noise_y=0.1)):
        assert np.isnan(other.corrected) and np.isnan(other.corrected_interval).all()
    noisy = correlate(X, Y, noise_x=9, noise_y=0.3)
    assert np.isnan(noisy.corrected) and noisy.reason.startswith(
        "not corrected: errors are as large"
    )


def test_correction_without_errors_is_the_measured_correlation() -> None:
    found = correlate(X, -Y, noise_x=0, noise_y=0)
    assert found.corrected == pytest.approx(found.rho)
    assert found.corrected_interval == pytest.approx(found.interval, abs=0.01)
    mirrored = correlate(X, Y, noise_x=0, noise_y=0)
    assert mirrored.corrected_interval == pytest.approx(-found.corrected_interval[::-1], abs=0.01)


def test_corrected_interval_follows_its_seed_and_widens_with_families() -> None:
    own, again, other = (correlate(X, Y, noise_x=0.2, noise_y=0.4, seed=s) for s in (1, 1, 2))
    assert own.corrected_interval.tolist() == again.corrected_interval.tolist()
    assert own.corrected_interval.tolist() != other.corrected_interval.tolist()
    names = np.repeat(list("abcde"), 4)
    families = correlate(X, Y, noise_x=0.2, noise_y=0.4, family_names=names)
    assert families.corrected == own.corrected
    assert np.ptp(families.corrected_interval) != np.ptp(own.corrected_interval)


def cover_truth(agents: int, reliability: float, truth: float, studies: int) -> np.ndarray:
    """Return the shares of corrected and of measured intervals that hold the true correlation."""
    rng, noise = np.random.default_rng(53), (1 - reliability) / reliability
    r = 2 * np.sin(np.pi * truth / 6)
    mix, hits = np.linalg.cholesky([[1, r], [r, 1]]), []
    for _ in range(studies):
        true = rng.normal(size=(agents, 2)) @ mix.T
        x, y = (true + np.sqrt(noise) * rng.normal(size=(agents, 2))).T
        found = correlate(x, y, noise_x=noise, noise_y=noise)
        if np.isfinite(found.corrected):
            ends = found.corrected_interval, found.interval
            hits.append([low <= truth <= high for low, high in ends])
    return np.asarray(np.mean(hits, axis=0))


def test_corrected_interval_covers_the_truth_where_the_measured_does_not() -> None:
    corrected, measured = cover_truth(15, 0.7, 0.95, 200)
    assert corrected >= 0.92 and measured < 0.3


@pytest.mark.slow
@pytest.mark.parametrize("truth", [0.95, 0.5, 0])
@pytest.mark.parametrize("reliability", [0.7, 0.9])
@pytest.mark.parametrize("agents", [8, 15, 30])
def test_corrected_interval_covers_at_every_size(agents, reliability, truth) -> None:
    corrected, _ = cover_truth(agents, reliability, truth, 1500)
    assert 0.92 <= corrected <= 0.985  # nominal .92 to .98, and simulation error


@pytest.mark.landing
def test_jackknife_of_families_covers_where_agents_as_independent_do_not() -> None:
    rng, family = np.random.default_rng(61), np.repeat(np.arange(8), 4)
    mix = np.linalg.cholesky([[1, 0.8], [0.8, 1]])
    truth = 6 / np.pi * np.arcsin(0.4)
    hits = []
    for _ in range(300):
        shared, rest = rng.normal(size=(8, 2)) @ mix.T, rng.normal(size=(32, 2)) @ mix.T
        x, y = (np.sqrt(0.9) * shared[family] + np.sqrt(0.1) * rest).T
        found = correlate(x, y, family_names=family.astype(str))
        ends = found.interval, find_interval(found.rho, 32)
        hits.append([low <= truth <= high for low, high in ends])
    covered, naive = np.mean(hits, axis=0)
    assert 0.92 <= covered <= 0.98 and naive < 0.85
