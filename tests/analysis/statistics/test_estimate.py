"""The estimator's golden numbers, and what does not change them."""

import numpy as np
import pytest

from sts_analysis.statistics.estimate import adjust_holm, compare, estimate_mean, rate_interval

X = np.array([1, 0.5, 0, 0.75, 0.25, 0, 1, 0.5])
Y = np.array([0.5, 0.5, 0, 0.25, 0, 0.25, 0.5, 0.5])
HALVES, OWN = np.repeat([0, 1], 4), np.arange(8)
MISSING = np.where(OWN == 5, np.nan, X)
GOLDEN = {
    "own units": ((X, HALVES, OWN), (0.5, 0.150952, 6.0), (0.202908, 0.797092)),
    "equal units": ((X, HALVES, OWN // 2), (0.5, 0.153093, 3.0), (0.151056, 0.848944)),
    "unequal units": (
        (X, HALVES, np.array([0, 0, 0, 1, 1, 2, 3, 3])),
        (0.5, 0.098349, 2.603306),
        (0.217840, 0.782160),
    ),
    "a missing value": (
        (MISSING, HALVES, OWN),
        (0.572917, 0.153447, 4.454545),
        (0.226479, 0.860064),
    ),
    "a category of one unit": (
        (X, np.array([0, 0, 0, 0, 1, 1, 1, 2]), OWN),
        (0.5, 0.141737, 7.0),
        None,
    ),
    "no success": ((np.zeros(8), HALVES, OWN), (0.0, 0.0, 6.0), (0.0, 0.324408)),
}
LONG_X = np.array([1, 1, 0.5, 0.75, 0.5, 0, 0.25, 1, 0.5, 0.75, 1, 0.25, 0.5, 1, 0.75, 0])
LONG_Y = np.array([0.5, 0.75, 0.5, 0.5, 0, 0, 0.25, 0.5, 0.25, 0.75, 0.5, 0, 0.5, 0.75, 0.25, 0.25])
QUARTERS = np.repeat(range(4), 4)


@pytest.mark.parametrize(("given", "numbers", "interval"), GOLDEN.values(), ids=GOLDEN)
def test_estimates_equal_the_golden_numbers(given, numbers, interval) -> None:
    estimate = estimate_mean(*given)
    assert (estimate.value, estimate.se, estimate.df) == pytest.approx(numbers, abs=1e-6)
    if interval:
        assert rate_interval(estimate) == pytest.approx(interval, abs=1e-6)


def test_differences_equal_the_golden_numbers() -> None:
    found = compare(LONG_X, LONG_Y, QUARTERS, np.arange(16))
    assert found == pytest.approx((0.21875, 0.077014, 0.360486, 0.005646), abs=1e-6)
    in_pairs = compare(LONG_X, LONG_Y, QUARTERS, np.arange(16) // 2)
    assert in_pairs.p == pytest.approx(0.000830, abs=1e-6)


def test_difference_has_no_p_value_if_too_few_units_differ() -> None:
    found = compare(X, Y, HALVES, OWN)
    assert found.p is None and found.value == 0.1875
    assert found.low < -0.077386 and found.high > 0.452386  # wider than Student's interval


def test_equal_differences_have_the_p_value_of_the_sign_test() -> None:
    found = compare(np.ones(8), np.zeros(8), HALVES, OWN)
    assert (found.value, found.p) == (1.0, 2 * 0.5**8)


def test_holm_adjusts_in_steps() -> None:
    assert adjust_holm(np.array([0.004, 0.03, 0.02, 0.2])) == pytest.approx(
        [0.016, 0.06, 0.06, 0.2]
    )


def test_order_and_names_of_scenarios_change_nothing() -> None:
    order = np.random.default_rng(0).permutation(16)
    units = np.arange(16) // 3
    plain = estimate_mean(LONG_X, QUARTERS, units)
    moved = estimate_mean(LONG_X[order], 3 - QUARTERS[order], 40 - 2 * units[order])
    assert moved[:3] == pytest.approx(plain[:3])


def test_categories_keep_their_share_of_the_suite_when_values_are_missing() -> None:
    values = np.array([1, np.nan, np.nan, np.nan, 0, 0, 0, 0])
    assert estimate_mean(values, HALVES, OWN).value == 0.5
    nothing = np.where(HALVES == 0, np.nan, X)
    assert estimate_mean(nothing, HALVES, OWN).value == pytest.approx(X[4:].mean())
    with pytest.raises(ValueError, match="no scenario has a value"):
        estimate_mean(np.full(8, np.nan), HALVES, OWN)


def test_interval_of_clustered_scenarios_covers_where_the_naive_one_fails() -> None:
    """Simulated: 40 scenarios of 10 trajectories that have half of the variance between them."""
    rng, category, unit = np.random.default_rng(7), np.zeros(40, int), np.arange(40) // 4
    covered = np.zeros(2)
    for _ in range(400):
        ability = rng.normal(0, 1, 10)[unit] + rng.normal(0, 1, 40)
        values = rng.binomial(3, 1 / (1 + np.exp(-ability))) / 3
        for i, units in enumerate((unit, np.arange(40))):
            low, high = rate_interval(estimate_mean(values, category, units))
            covered[i] += low <= 0.5 <= high
    clustered, naive = covered / 400
    assert 0.92 <= clustered <= 0.98 and naive < 0.9
