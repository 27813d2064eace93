"""Rank correlations against scipy, the literature's numbers and hand-worked cases."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from sts_analysis.statistics.correlation_difference import difference_interval
from sts_analysis.statistics.correlations import correlate
from sts_analysis.statistics.family_jackknife import clusters
from sts_analysis.statistics.order_accuracy import order_accuracy
from sts_analysis.statistics.reliability import disattenuate, reliability
from sts_analysis.statistics.spearman import bonett_wright, permutation_p


def test_spearman_and_kendall_agree_with_scipy() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=12).round(1), rng.normal(size=12).round(1)
    found = correlate(x, y, draws=500)
    assert found.spearman == pytest.approx(stats.spearmanr(x, y).statistic)
    assert found.kendall == pytest.approx(stats.kendalltau(x, y).statistic)


def test_the_exact_p_agrees_with_scipys_permutation_test() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=6), rng.normal(size=6)
    oracle: Any = stats.permutation_test(  # type: ignore[call-overload]
        (x,),
        lambda v: abs(stats.spearmanr(v, y).statistic),
        permutation_type="pairings",
        alternative="greater",
        n_resamples=np.inf,
    )
    assert permutation_p(x, y, seed=0) == pytest.approx(oracle.pvalue)


def test_a_perfect_order_of_five_has_p_one_in_sixty() -> None:
    assert permutation_p(np.arange(5.0), np.arange(5.0), seed=0) == pytest.approx(2 / 120)


def test_random_permutations_agree_with_the_t_approximation_and_follow_their_seed() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=20)
    y = 0.5 * x + rng.normal(size=20)
    p = permutation_p(x, y, seed=1)
    assert p == pytest.approx(stats.spearmanr(x, y).pvalue, abs=0.005)
    assert p == permutation_p(x, y, seed=1) != permutation_p(x, y, seed=2)


@pytest.mark.parametrize(
    ("rho", "low", "high"), [(0.81, 0.51, 0.93), (0.64, 0.22, 0.86), (0.46, -0.02, 0.77)]
)
def test_the_interval_on_the_papers_own_table(rho: float, low: float, high: float) -> None:
    found = bonett_wright(rho, 19)
    assert found is not None
    assert found == pytest.approx((low, high), abs=0.01)


def test_few_agents_and_constant_metrics_give_a_reason() -> None:
    few = correlate(np.array([1.0, 2.0]), np.array([1.0, 2.0]))
    assert few.spearman is None and few.reason == "needs 3 agents with both metrics, found 2"
    flat = correlate(np.ones(5), np.arange(5.0))
    assert flat.spearman is None and flat.p is None and "same value" in str(flat.reason)
    three = correlate(np.arange(3.0), np.array([1.0, 3.0, 2.0]))
    assert three.spearman == 0.5 and three.interval is None


def test_reliability_and_disattenuation_by_hand() -> None:
    values = np.array([0.0, 1.0, 2.0, 3.0])
    assert reliability(values, 0.25) == pytest.approx(1 - 0.25 / (5 / 3))
    assert reliability(values, None) is None
    assert disattenuate(0.6, 0.9, 0.4) == pytest.approx(1.0)
    assert disattenuate(0.6, 0.81, None) == pytest.approx(0.6 / 0.9)
    assert disattenuate(0.6, None, None) is None
    assert disattenuate(0.6, 0.5, -0.1) is None


def test_a_disattenuated_value_above_one_is_clipped_and_flagged() -> None:
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    found = correlate(x, x[[0, 1, 2, 4, 3]], variance_x=1.0)
    assert found.disattenuated == 1.0 and found.disattenuated_clipped


def test_disattenuation_undoes_noise() -> None:
    rng = np.random.default_rng(4)
    raw: list[float] = []
    corrected: list[float] = []
    for _ in range(60):
        true = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size=60)
        noisy = true + rng.normal(0, [1 / 3, 0.65], size=true.shape)
        found = correlate(noisy[:, 0], noisy[:, 1], variance_x=1 / 9, variance_y=0.4225, draws=20)
        assert found.spearman is not None and found.disattenuated is not None
        raw.append(found.spearman)
        corrected.append(found.disattenuated)
    latent = 6 / np.pi * np.arcsin(0.4)
    assert abs(np.mean(corrected) - latent) < 0.03 < latent - np.mean(raw)


def test_order_accuracy_counts_separated_pairs_only() -> None:
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    difference = np.array([0.3, 0.4, 0.1])
    separated = np.array([True, True, False])
    assert order_accuracy(pairs, difference, separated, np.array([3.0, 4.0, 1.0])) == (0.5, 2)
    assert order_accuracy(pairs, difference, separated, np.array([3.0, 3.0, 1.0])) == (0.75, 2)
    assert order_accuracy(pairs, difference, separated, np.array([np.nan] * 3)) == (None, 0)


def test_families_are_left_out_one_at_a_time() -> None:
    x = np.arange(6.0)
    y = np.array([0.0, 1.0, 2.0, 5.0, 4.0, 3.0])
    family = np.array(["a", "a", "a", "b", "b", "b"], dtype=object)
    assert correlate(x, y, family=family).without_family == {"a": -1.0, "b": 1.0}
    assert correlate(x, y, family=np.array(["a"] * 6, dtype=object)).without_family == {}
    assert correlate(x, y).top_half == -1.0


def test_the_interval_of_a_difference_is_symmetric_for_equal_correlations() -> None:
    low, high = difference_interval(0.6, 0.6, 0.3, 30) or (0.0, 0.0)
    assert low == pytest.approx(-high) and high > 0
    near = difference_interval(0.6, 0.6, 0.99, 30) or (0.0, 0.0)
    assert near[1] < high / 2
    assert difference_interval(0.6, 0.5, 0.3, 3) is None


def test_the_interval_of_a_difference_covers() -> None:
    rng = np.random.default_rng(5)
    cov = np.array([[1, 0.7, 0.4], [0.7, 1, 0.5], [0.4, 0.5, 1]])
    latent = 6 / np.pi * np.arcsin(cov / 2)
    truth = latent[0, 1] - latent[0, 2]
    hits = []
    for _ in range(400):
        ranks = stats.rankdata(rng.multivariate_normal(np.zeros(3), cov, size=25), axis=0)
        r: Any = np.corrcoef(ranks.T)
        low, high = difference_interval(r[0, 1], r[0, 2], r[1, 2], 25) or (9.0, 9.0)
        hits.append(low <= truth <= high)
    assert 0.92 <= np.mean(hits) <= 0.98


def test_an_agent_of_no_family_is_one_of_its_own() -> None:
    family = np.array(["a", "", "a", "", "b"], dtype=object)
    assert len(set(clusters(family, 5).tolist())) == 4
    assert clusters(None, 3).tolist() == [0, 1, 2]


def test_with_families_interval_and_p_are_a_jackknife_and_say_so() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=12)
    y = x + rng.normal(size=12)
    family = np.repeat(np.array(["a", "b", "c", "d"], dtype=object), 3)
    found = correlate(x, y, family=family)
    assert found.families == 4 and found.interval_method == "jackknife over 4 families, t"
    assert found.p_method == "jackknife over 4 families" and found.kendall_interval is not None
    assert found.interval is not None and found.p is not None
    assert (found.p < 0.05) == (found.interval[0] > 0 or found.interval[1] < 0)
    alone = correlate(x, y)
    assert alone.interval_method == "Bonett and Wright" and alone.families == 12
    few = correlate(x, y, family=np.repeat(np.array(["a", "b"], dtype=object), 6))
    assert few.interval is None and few.interval_method.startswith("needs 4 families")


def test_the_interval_of_a_latent_correlation_is_stretched_alike() -> None:
    x, y = np.arange(9.0), np.array([1.0, 0, 3, 2, 5, 4, 8, 7, 6])
    found = correlate(x, y, variance_x=1.5)
    assert found.interval is not None and found.disattenuated_interval is not None
    by = 1 / np.sqrt(found.reliability_x or 0)
    assert found.disattenuated_interval[0] == pytest.approx(found.interval[0] * by)
    assert found.disattenuated_interval[1] == pytest.approx(min(found.interval[1] * by, 1))
