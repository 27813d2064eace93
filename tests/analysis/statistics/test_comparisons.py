"""Paired comparisons by hand and against scipy; rank sets follow from them."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from sts_analysis.statistics.comparisons import Comparisons, compare
from sts_analysis.statistics.holm import holm
from sts_analysis.statistics.outcomes import summarise
from sts_analysis.statistics.pass_rates import pass_rates
from sts_analysis.statistics.rank_sets import rank_sets, ranks
from sts_analysis.statistics.sign_flip import sign_flip, sign_flip_interval
from sts_analysis.statistics.step_down import step_down
from tests.analysis.hard_cases.comparisons import independent
from tests.analysis.worlds import logistic_world


def compared(values: np.ndarray, category: np.ndarray, target: str = "sampled", seed: int = 0):
    summary = summarise(values)
    rates = pass_rates(summary, category, target=target)
    return compare(summary, category, rates, target=target, seed=seed, draws=2000)


def _sets(ranking: np.ndarray, found: Comparisons) -> np.ndarray:
    return rank_sets(ranking, found.pairs, found.difference, found.separated)


def test_in_one_category_it_is_the_paired_t_test() -> None:
    values, _ = logistic_world(
        skills=[0.5, 0.0], categories=1, scenarios=30, continuations=8, seed=1
    )
    found = compared(values, np.zeros(30, int))
    mean = values.mean(axis=2)
    oracle = stats.ttest_rel(mean[0], mean[1])
    assert found.p[0] == pytest.approx(oracle.pvalue)
    assert found.interval[0] == pytest.approx(tuple(oracle.confidence_interval()))
    assert found.p_adjusted[0] == pytest.approx(found.p[0], abs=0.03)


def test_few_scenarios_use_exact_sign_flips_as_scipy_does() -> None:
    values, category = logistic_world(
        skills=[1.0, 0.0], categories=1, scenarios=8, continuations=5, seed=2
    )
    found = compared(values, category)
    parts = (values[0] - values[1]).mean(axis=1)
    oracle: Any = stats.permutation_test(  # type: ignore[call-overload]
        (parts,), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert found.p[0] == pytest.approx(oracle.pvalue)
    assert "sign flips" in found.method[0]


def test_sign_flips_by_hand() -> None:
    assert sign_flip(np.array([1.0, 2.0, 3.0])) == 2 / 8
    assert sign_flip(np.array([1.0, -1.0])) == 1.0
    assert sign_flip(np.zeros(5)) == 1.0


def test_an_interval_by_sign_flips_by_hand() -> None:
    # Seven equal weights: 128 patterns, 3.2 of them are 2.5%; that of none and the 3 lowest means
    # of sets, {0}, {0, 1} and {1}, lie beyond the low end but for the last.
    values, weights = np.arange(7) / 10, np.full(7, 1 / 7)
    assert sign_flip_interval(values, weights, 0.05) == pytest.approx((0.1, 0.5))
    assert sign_flip_interval(values[:5], weights[:5], 0.05) == (-1.0, 1.0)


def test_the_interval_by_sign_flips_is_where_their_p_is_not_below_its_level() -> None:
    rng = np.random.default_rng(7)
    values, weights = rng.normal(0.1, 0.2, 9), rng.random(9)
    low, high = sign_flip_interval(values, weights, 0.05)
    for shift in np.linspace(-0.6, 0.8, 141):
        inside = sign_flip(weights * (values - shift)) >= 0.05
        assert inside == (low <= shift <= high)


def check_agreement(found: Comparisons) -> None:
    low, high = found.interval.T
    known = np.isfinite(found.p)
    assert ((found.p < 0.05) == ((low > 0) | (high < 0)))[known].all()
    low, high = found.joint_interval.T
    assert (found.separated == ((low > 0) | (high < 0)))[known].all()
    assert (found.p_adjusted >= found.p)[known].all()


def check_any_table(data: st.DataObject) -> None:
    agents, scenarios, most = (data.draw(st.integers(2, n)) for n in (5, 18, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    rounded = data.draw(st.booleans())
    chance = rng.beta(0.5, 0.5, (agents, scenarios, 1))
    chance = np.round(chance) if rounded else chance
    values = (rng.random((agents, scenarios, most)) < chance).astype(float)
    values[rng.random(values.shape) < data.draw(st.sampled_from([0.0, 0.4]))] = np.nan
    category = np.arange(scenarios) % data.draw(st.integers(1, 3))
    for target in ("sampled", "fixed"):
        check_agreement(compared(values, category, target))


@settings(max_examples=15)
@given(st.data())
def test_p_interval_and_separated_agree_on_any_table(data: st.DataObject) -> None:
    check_any_table(data)


@pytest.mark.slow
@settings(max_examples=200)
@given(st.data())
def test_p_interval_and_separated_agree_on_many_tables(data: st.DataObject) -> None:
    check_any_table(data)


def test_steps_separate_more_than_one_critical_value_and_the_interval_ends_at_0() -> None:
    rng = np.random.default_rng(8)
    p = np.array([1e-9, 1e-9, 1e-9, 0.02])
    found = step_down(p, independent(np.eye(4), 20_000, rng), draws=20_000)
    # Alone it would be held against the largest of four: 1 - .98^4 = .078.
    assert found.single[3] == pytest.approx(0.078, abs=0.006)
    assert found.p[3] == pytest.approx(0.02, abs=0.003)
    assert found.alpha == pytest.approx(1 - 0.95**0.25, abs=0.002)


def test_two_steps_by_hand() -> None:
    # Three independent pairs: 1 - (1 - p)^k with 3, 2 and 1 left, and never falling.
    p = np.array([0.30, 0.01, 0.03])
    chance = independent(np.eye(3), 200_000, np.random.default_rng(9))
    found = step_down(p, chance, draws=200_000)
    assert found.p == pytest.approx([0.30, 1 - 0.99**3, 1 - 0.97**2], abs=0.003)


def test_pairs_without_spread_are_adjusted_for_their_number() -> None:
    values = np.zeros((4, 9, 2))
    values[0] = 1
    values[1, :8] = 1
    found = compared(values, np.zeros(9, int))
    assert found.p_adjusted[2] > found.p[2]
    check_agreement(found)


def test_one_continuation_leaves_the_fixed_spread_unknown_which_is_no_spread_of_0() -> None:
    found = compared(np.array([[[1.0], [1]], [[0], [1]]]), np.zeros(2, int), "fixed")
    assert found.difference[0] == 0.5 and np.isnan(found.p[0]) and np.isnan(found.interval).all()
    assert "spread is not known" in found.method[0] and not found.separated[0]


def test_deterministic_agents_differ_exactly_under_the_fixed_target() -> None:
    summary = summarise(np.array([[[1.0], [1]], [[0], [1]], [[1], [1]]]))
    category, exact = np.zeros(2, int), np.ones(3, bool)
    rates = pass_rates(summary, category, target="fixed", exact=exact)
    assert rates.interval.tolist() == [[1, 1], [0.5, 0.5], [1, 1]]
    assert rates.method[0].startswith("exact")
    found = compare(summary, category, rates, target="fixed", seed=0, draws=100, exact=exact)
    assert found.interval.tolist() == [[0.5, 0.5], [0, 0], [-0.5, -0.5]]
    assert found.separated.tolist() == [True, False, True] and found.p.tolist() == [0, 1, 0]
    check_agreement(found)


def test_pairing_pays() -> None:
    values, category = logistic_world(
        skills=[0.3, 0.0], categories=8, scenarios=10, continuations=10, seed=3
    )
    rates = pass_rates(summarise(values), category, target="sampled")
    found = compared(values, category)
    assert found.error[0] < 0.75 * np.hypot(*rates.error)


def test_the_fixed_target_adds_the_agents_own_errors() -> None:
    values, category = logistic_world(
        skills=[0.3, 0.0], categories=4, scenarios=5, continuations=10, seed=3
    )
    rates = pass_rates(summarise(values), category, target="fixed")
    found = compared(values, category, "fixed")
    assert found.error[0] == pytest.approx(np.hypot(*rates.error))


def test_only_scenarios_both_were_judged_on_count() -> None:
    values, category = logistic_world(
        skills=[0.3, 0.0], categories=2, scenarios=10, continuations=10, seed=3
    )
    values[0, :4] = np.nan
    found = compared(values, category)
    assert found.scenarios[0] == 16
    means = values.mean(axis=2)
    expected = 0.5 * (means[0, 4:10] - means[1, 4:10]).mean()
    expected += 0.5 * (means[0, 10:] - means[1, 10:]).mean()
    assert found.difference[0] == pytest.approx(expected)


def test_agents_without_a_scenario_in_common_are_not_compared() -> None:
    values = np.full((2, 2, 1), np.nan)
    values[0, 0] = values[1, 1] = 1
    found = compared(values, np.zeros(2, int))
    assert np.isnan(found.difference[0]) and np.isnan(found.p_adjusted[0])
    assert _sets(np.ones(2), found).tolist() == [[1, 2], [1, 2]]


def test_agents_without_any_spread_are_separated() -> None:
    values = np.zeros((2, 20, 3))
    values[0] = 1
    found = compared(values, np.zeros(20, int))
    low, high = found.interval[0]
    assert found.p[0] < 1e-3 and 0.7 < low < 1 and high == 1
    same = compared(np.ones((2, 20, 3)), np.zeros(20, int))
    assert same.p[0] == 1 and same.interval[0][0] < 0 < same.interval[0][1]


def test_adjusting_never_makes_a_pair_clearer() -> None:
    values, category = logistic_world(
        skills=[0.5, 0.3, 0.2, 0.0], categories=4, scenarios=8, continuations=6, seed=5
    )
    found = compared(values, category)
    assert (found.p_adjusted >= found.p).all()
    assert (found.joint_interval[:, 0] <= found.interval[:, 0]).all()
    assert (found.joint_interval[:, 1] >= found.interval[:, 1]).all()


def test_the_adjustment_agrees_with_bonferroni_for_independent_pairs_at_most() -> None:
    values, category = logistic_world(
        skills=[1.0, 0.3, 0.2, 0.0], categories=4, scenarios=8, continuations=6, seed=5
    )
    found = compared(values, category)
    assert (found.p_adjusted <= np.minimum(1, 6 * found.p) + 0.02).all()


def test_a_seed_decides_the_adjustment() -> None:
    values, category = logistic_world(
        skills=[0.2, 0.1, 0.0], categories=4, scenarios=8, continuations=6, seed=5
    )
    first, again, other = (compared(values, category, seed=s) for s in (1, 1, 2))
    assert (first.p_adjusted == again.p_adjusted).all()
    assert (first.p_adjusted != other.p_adjusted).any()


def test_rank_sets_count_the_significantly_better_and_worse() -> None:
    values = np.zeros((3, 40, 10))
    values[0, :, :9] = values[1, :, :9] = 1
    values[1, 0, 0] = 0
    values[2, :, :2] = 1
    found = compared(values, np.arange(40) % 4)
    assert _sets(np.ones(3), found).tolist() == [[1, 2], [1, 2], [3, 3]]


def test_agents_of_another_ranking_move_no_rank() -> None:
    values = np.zeros((3, 40, 10))
    values[0] = 1
    found = compared(values, np.arange(40) % 4)
    assert (found.p_adjusted[:2] < 0.05).all()
    assert _sets(np.array([2, 1, 1]), found).tolist() == [[1, 1], [1, 2], [1, 2]]
    assert ranks(np.array([0.9, 0.3, 0.5]), np.array([2, 1, 1])) == [1, 2, 1]


def test_equal_rates_share_a_rank() -> None:
    assert ranks(np.array([0.5, 0.7, 0.5, 0.1]), np.ones(4)) == [2, 1, 2, 4]


def test_holm_by_hand() -> None:
    found = holm(np.array([0.01, 0.04, np.nan, 0.03]))
    assert found[[0, 1, 3]] == pytest.approx([0.03, 0.06, 0.06]) and np.isnan(found[2])
    assert holm(np.array([])).size == 0


def test_holm_agrees_with_statsmodels() -> None:
    rng = np.random.default_rng(3)
    for size in (1, 2, 7, 40):
        p = np.round(rng.random(size) ** 3, 2)  # with ties, and above 1 when scaled
        assert holm(p).tolist() == multipletests(p, method="holm")[1].tolist()


def test_one_agent_has_no_pair() -> None:
    values, category = logistic_world(
        skills=[0.2], categories=2, scenarios=3, continuations=2, seed=1
    )
    found = compared(values, category)
    assert found.pairs.shape == (0, 2) and _sets(np.ones(1), found).tolist() == [[1, 1]]


def test_every_pair_is_there_once() -> None:
    values, category = logistic_world(
        skills=[0.2, 0.1, 0.0, 0.0], categories=2, scenarios=3, continuations=2, seed=1
    )
    pairs = [tuple(pair) for pair in compared(values, category).pairs]
    assert pairs == list(itertools.combinations(range(4), 2))
