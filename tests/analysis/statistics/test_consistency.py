"""Consistency and difficulty by hand, by enumeration and against published numbers."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln

from sts_analysis.statistics.consistency import all_succeed, consistency
from sts_analysis.statistics.difficulty import difficulty
from sts_analysis.statistics.icc import intraclass_correlation
from sts_analysis.statistics.icc_profile import profile_interval
from sts_analysis.statistics.outcomes import summarise
from sts_analysis.statistics.pass_rates import pass_rates
from tests.analysis.worlds import beta_world


def test_the_icc_of_shrout_and_fleiss_example() -> None:
    # Their table 2: six targets, four judges; ICC(1, 1) is .17.
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    icc, interval, _ = intraclass_correlation(np.array(table, dtype=float) / 10)
    assert icc == pytest.approx(0.1657, abs=1e-4)
    assert interval is not None and interval[0] < 0.1657 < interval[1]


def test_the_icc_is_one_where_the_scenario_decides() -> None:
    icc, interval, reason = intraclass_correlation(np.array([[1.0, 1], [0, 0], [1, 1]]))
    assert icc == 1.0 and reason is None
    assert interval is not None and interval[0] < 0.7 and interval[1] == 1.0


def test_two_scenarios_have_an_icc_and_no_interval() -> None:
    icc, interval, reason = intraclass_correlation(np.array([[1.0, 1], [0, 1]]))
    assert icc is not None and interval is None
    assert reason == "too few scenarios for an interval"


def test_the_interval_of_the_icc_by_its_likelihood() -> None:
    # Three of three in half of the scenarios, none in the others: the likelihood is highest at 1,
    # where it is 2^-S, and the interval ends where it has fallen by t^2 / 2.
    low, high = profile_interval(np.array([3.0, 0.0] * 10), np.full(20, 3.0)) or (9.0, 9.0)
    at = -20 * np.log(2) - stats.t.isf(0.025, 19) ** 2 / 2
    a = 0.5 * (1 - low) / low
    assert high == 1.0
    assert 20 * (betaln(3 + a, a) - betaln(a, a)) == pytest.approx(at, abs=0.1)


def test_the_icc_can_be_negative() -> None:
    icc, _, _ = intraclass_correlation(np.array([[1.0, 0], [0, 1], [1, 0]]))
    assert icc == -1.0


@pytest.mark.parametrize(
    "values", [np.full((3, 2), np.nan), np.array([[1.0], [0.0]]), np.array([[1.0, 0.0]])]
)
def test_too_little_gives_a_reason(values: np.ndarray) -> None:
    icc, _, reason = intraclass_correlation(values)
    assert icc is None and "needs two scenarios" in str(reason)


def test_everything_alike_gives_a_reason() -> None:
    icc, _, reason = intraclass_correlation(np.ones((4, 3)))
    assert icc is None and reason == "every continuation ended alike"


def test_pass_hat_k_is_the_share_of_subsets_that_all_succeed() -> None:
    values = np.array([1.0, 1, 0, 1, 0])
    found = all_succeed(values)
    for k in range(1, 6):
        subsets = [values[list(s)].prod() for s in itertools.combinations(range(5), k)]
        assert found[k - 1] == pytest.approx(np.mean(subsets))


def test_split_annotators_enter_as_chances() -> None:
    values = np.array([0.5, 1.0, 0.25])
    assert all_succeed(values) == pytest.approx([1.75 / 3, (0.5 + 0.125 + 0.25) / 3, 0.125])


def test_pass_hat_k_is_unbiased_and_the_plug_in_is_not() -> None:
    values, _, _ = beta_world(
        rows=1, categories=1, scenarios=40_000, continuations=10, rate=0.6, icc=0.5, seed=7
    )
    wins = values[0].sum(axis=1)
    truth = np.prod([(0.6 + i) / (1 + i) for i in range(4)])
    table = np.array([all_succeed(np.r_[np.ones(k), np.zeros(10 - k)])[3] for k in range(11)])
    assert table[wins.astype(int)].mean() == pytest.approx(truth, abs=0.006)
    assert ((wins / 10) ** 4).mean() > truth + 0.02


def test_two_alike_and_any_of_k_by_hand() -> None:
    found = consistency(np.array([[1.0, 1, 0, 0], [1, 1, 1, 1]]), np.zeros(2, int))
    # k = 2 of n = 4: 1 - 2 k (n - k) / (n (n - 1)) is 1/3; the other scenario is 1.
    assert found.agreement == pytest.approx((1 / 3 + 1) / 2)
    assert found.pass_hat_k[2] == pytest.approx((1 / 6 + 1) / 2)
    assert found.pass_at_k[2] == pytest.approx((5 / 6 + 1) / 2)
    assert found.k_scenarios == {1: 2, 2: 2, 3: 2, 4: 2}


def test_the_interval_of_all_of_one_is_that_of_the_pass_rate() -> None:
    values, _, category = beta_world(
        rows=1, categories=4, scenarios=10, continuations=5, rate=0.5, icc=0.4, seed=8
    )
    found = consistency(values[0], category)
    rate = pass_rates(summarise(values), category, target="sampled")
    assert found.pass_hat_k_intervals[1] == pytest.approx(tuple(rate.interval[0]))
    assert found.pass_at_k_intervals[1] == pytest.approx(tuple(rate.interval[0]))
    assert found.agreement_interval is not None and found.agreement is not None
    assert found.agreement_interval[0] < found.agreement < found.agreement_interval[1]


def test_k_stops_where_most_scenarios_have_too_few() -> None:
    values = np.full((4, 5), np.nan)
    values[:, :2] = 1
    values[0] = 0
    assert list(consistency(values, np.zeros(4, int)).pass_hat_k) == [1, 2]


def test_nothing_judged_has_no_consistency() -> None:
    found = consistency(np.full((2, 3), np.nan), np.zeros(2, int))
    assert found.icc is None and found.pass_hat_k == {} and found.agreement is None


def test_difficulty_leaves_the_agent_itself_out() -> None:
    values = np.array([[[1.0], [1]], [[0], [1]], [[0], [np.nan]]])
    assert difficulty(summarise(values)).tolist()[0] == [1.0, 0.0]
    assert difficulty(summarise(values)).tolist()[1] == [0.5, 0.0]
    assert np.isnan(difficulty(summarise(values[:1]))).all()
