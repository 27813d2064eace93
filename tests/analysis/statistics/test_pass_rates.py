"""Pass rates by hand, against cluster-robust regression, and in degenerate suites."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from sts_analysis.statistics import intervals, sampling
from sts_analysis.statistics.outcomes import Summary, summarise
from sts_analysis.statistics.pass_rates import pass_rates
from sts_analysis.statistics.pooled_correlation import pooled_correlation
from tests.analysis.worlds import beta_world


def suite(rates: list[float], n: int = 10) -> Summary:
    """One agent with the given pass rate on each scenario."""
    values = np.zeros((1, len(rates), n))
    for s, rate in enumerate(rates):
        values[0, s, : round(rate * n)] = 1
    return summarise(values)


def test_the_sampled_error_by_hand() -> None:
    # Two categories of two: s^2 = .02 and .08; SE^2 = (.25 * .02 + .25 * .08) / 2 = .0125.
    found = pass_rates(suite([0.4, 0.6, 0.3, 0.7]), np.array([0, 0, 1, 1]), target="sampled")
    assert found.rate[0] == pytest.approx(0.5)
    assert found.error[0] == pytest.approx(np.sqrt(0.0125))


def test_the_fixed_error_by_hand() -> None:
    # SE^2 = sum (1/4)^2 p (1 - p) / 9 = (.24 + .24 + .21 + .21) / 16 / 9.
    found = pass_rates(suite([0.4, 0.6, 0.3, 0.7]), np.array([0, 0, 1, 1]), target="fixed")
    assert found.error[0] == pytest.approx(np.sqrt(0.9 / 144))
    n_eff = 0.25 / (0.9 / 144)
    assert found.interval[0] == pytest.approx(intervals.wilson(np.array(0.5), np.array(n_eff)))


def test_satterthwaite_by_hand() -> None:
    values = np.array([[0.4, 0.6, 0.3, 0.7]])
    category = np.array([0, 0, 1, 1])
    weights = sampling.scenario_weights(np.ones((1, 4), dtype=bool), category)
    spread = sampling.sampling_spread(values, weights, category[None, :])
    assert spread.df[0] == pytest.approx((0.0025 + 0.01) ** 2 / (0.0025**2 + 0.01**2))


def test_the_sampled_error_agrees_with_cluster_robust_regression() -> None:
    values, _, category = beta_world(
        rows=1, categories=4, scenarios=6, continuations=5, rate=0.4, icc=0.5, seed=1
    )
    flat = values[0].ravel()
    member = np.repeat(category[:, None] == np.arange(4), 5, axis=0).astype(float)
    cluster = np.repeat(np.arange(24), 5)
    fit = sm.OLS(flat, member).fit(
        cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": False}
    )
    share = np.full(4, 1 / 4)
    oracle = np.sqrt(share @ fit.cov_params() @ share * 6 / 5)
    found = pass_rates(summarise(values), category, target="sampled")
    assert found.error[0] == pytest.approx(oracle)
    assert found.rate[0] == pytest.approx(share @ fit.params)


def test_a_category_weighs_its_share_of_scenarios_even_where_some_are_unjudged() -> None:
    values = np.full((1, 4, 1), np.nan)
    values[0, :3, 0] = [1, 0, 0]
    found = pass_rates(summarise(values), np.array([0, 0, 1, 1]), target="sampled")
    assert found.rate[0] == pytest.approx(0.25)


def test_unequal_numbers_of_continuations_do_not_move_a_scenarios_weight() -> None:
    values = np.full((1, 2, 4), np.nan)
    values[0, 0] = 1
    values[0, 1, 0] = 0
    assert pass_rates(summarise(values), np.zeros(2, int), target="sampled").rate[0] == 0.5


@pytest.mark.parametrize("target", ["sampled", "fixed"])
@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_at_0_and_1_the_scenarios_are_the_trials(target: str, rate: float) -> None:
    found = pass_rates(suite([rate] * 12), np.arange(12) % 3, target=target)
    assert found.interval[0] == pytest.approx(intervals.wilson(np.array(rate), np.array(12)))


def test_sums_of_weights_do_not_blur_certainty() -> None:
    found = pass_rates(suite([1.0] * 80), np.arange(80) % 7, target="sampled")
    assert found.rate[0] == 1.0


def test_a_categorys_variance_is_between_its_own_and_the_pooled_one() -> None:
    summary = suite([0.2, 0.8, 0.5, 0.5])
    found = pass_rates(summary, np.zeros(4, int), target="sampled", correlation=np.array([0.4]))
    pooled, own = 0.25 / (4 * 10 / (1 + 9 * 0.4)), 0.06 / 4
    variance = (4 * pooled + 3 * own) / 7
    assert found.error[0] == pytest.approx(np.sqrt(variance)) and found.df[0] == 7
    ends = intervals.wilson(np.array(0.5), np.array(0.25 / variance), stats.t.isf(0.025, 7))
    assert found.interval[0] == pytest.approx(ends)


def test_the_pooled_correlation_takes_categories_out() -> None:
    summary = suite([0.9, 0.9, 0.1, 0.1])
    assert pooled_correlation(summary, np.array([0, 0, 1, 1]))[0] == 0
    assert pooled_correlation(summary, np.zeros(4, int))[0] > 0.5


def test_categories_of_one_scenario_are_collapsed() -> None:
    found = pass_rates(suite([0.4, 0.6, 0.3, 0.7]), np.arange(4), target="sampled")
    together = pass_rates(suite([0.4, 0.6, 0.3, 0.7]), np.zeros(4, int), target="sampled")
    assert found.error[0] == pytest.approx(together.error[0])
    lonely = pass_rates(suite([0.4, 0.6, 0.3]), np.array([0, 0, 1]), target="sampled")
    joined = pass_rates(suite([0.4, 0.6, 0.3]), np.zeros(3, int), target="sampled")
    assert lonely.error[0] == pytest.approx(joined.error[0])


def test_one_continuation_a_scenario_has_no_fixed_interval_and_says_so() -> None:
    found = pass_rates(suite([0.0, 1.0], n=1), np.zeros(2, int), target="fixed")
    assert np.isnan(found.interval).all() and "two judged" in found.method[0]


def test_a_scenario_with_one_continuation_borrows_its_spread() -> None:
    values = np.full((1, 3, 4), np.nan)
    values[0, :2] = [1, 1, 0, 0]
    values[0, 2, 0] = 1
    found = pass_rates(summarise(values), np.zeros(3, int), target="fixed")
    spread = 1 / 3
    assert found.error[0] == pytest.approx(np.sqrt((spread / 4 + spread / 4 + spread) / 9))
    assert "1 scenarios taken" in found.method[0]


def test_nothing_judged_is_nan_and_says_so() -> None:
    found = pass_rates(summarise(np.full((1, 3, 2), np.nan)), np.zeros(3, int), target="sampled")
    assert np.isnan(found.rate[0]) and np.isnan(found.interval).all()
    assert found.method == ("nothing judged",)
