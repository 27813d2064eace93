"""The estimator's golden numbers, and what does not change them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sts_analysis.statistics.estimate import (
    adjust_holm,
    compare,
    find_rank_sets,
    rate_intervals,
    weigh,
)
from tests.analysis.outcomes import estimate_mean

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


def estimate_one(values, category, unit):
    found = estimate_mean(values, category, unit)
    return float(found.value[0]), float(found.se[0]), found.df


def find_interval(values, category, unit):
    return estimate_mean(values, category, unit).interval[0]


def compare_two(a, b, category, unit):
    """Compare two agents as the report does: value, low, high, p."""
    found = estimate_mean(a - b, category, unit)
    weighting = weigh(np.isfinite(a - b), category, unit)
    sums = np.bincount(unit, np.nan_to_num(a - b) * weighting.weight)
    both = [estimate_mean(np.where(np.isfinite(a - b), x, np.nan), category, unit) for x in (a, b)]
    result = compare(
        found.se,
        np.array([found.df]),
        np.array([(np.abs(sums) > weighting.rounding).sum()]),
        (both[0].value, both[1].value),
        (both[0].interval, both[1].interval),
    )
    return result.value[0], *result.interval[0], result.p[0]


@pytest.mark.parametrize(("given", "numbers", "interval"), GOLDEN.values(), ids=GOLDEN)
def test_estimates_equal_the_golden_numbers(given, numbers, interval) -> None:
    assert estimate_one(*given) == pytest.approx(numbers, abs=1e-6)
    if interval:
        assert find_interval(*given) == pytest.approx(interval, abs=1e-6)


def test_differences_equal_the_golden_numbers() -> None:
    found = compare_two(LONG_X, LONG_Y, QUARTERS, np.arange(16))
    assert found == pytest.approx((0.21875, 0.077014, 0.360486, 0.005646), abs=1e-6)
    in_pairs = compare_two(LONG_X, LONG_Y, QUARTERS, np.arange(16) // 2)
    assert in_pairs[3] == pytest.approx(0.000830, abs=1e-6)
    turned = compare_two(LONG_Y, LONG_X, QUARTERS, np.arange(16))
    assert turned == pytest.approx((-0.21875, -0.360486, -0.077014, 0.005646), abs=1e-6)


def test_difference_has_no_p_value_if_too_few_units_differ() -> None:
    value, low, high, p = compare_two(X, Y, HALVES, OWN)  # five units differ
    assert np.isnan(p) and value == 0.1875
    ends = [find_interval(x, HALVES, OWN) for x in (X, Y)]
    reach = np.hypot(0.5 - ends[0][0], ends[1][1] - 0.3125)
    assert low == pytest.approx(0.1875 - reach) and low < -0.077386 and high > 0.452386


def test_wide_student_interval_is_kept_if_too_few_units_differ() -> None:
    a, b = np.array([1.0, 1, 0]), np.array([0.0, 1, 1])
    value, low, high, p = compare_two(a, b, np.zeros(3, int), np.arange(3))
    assert (value, low, high) == (0, -1, 1) and np.isnan(p)


def test_units_whose_differences_cancel_do_not_differ() -> None:
    gaps = np.tile([0.25, -0.25], 8)
    apart, together = np.arange(16), np.arange(16) // 2
    base = np.full(16, 0.5)
    assert compare_two(base + gaps, base, QUARTERS, apart)[3] == 1.0
    assert np.isnan(compare_two(base + gaps, base, QUARTERS, together)[3])


def test_equal_differences_have_the_p_value_of_a_sign_test() -> None:
    thirds = np.full(8, 1 / 3)  # whose sum is not a whole number of thirds in binary
    value, low, high, p = compare_two(2 * thirds, thirds, HALVES, OWN)
    assert (value, p) == (pytest.approx(1 / 3), 2 * 0.5**8)
    assert low < 0.2 and high > 0.5  # no error is seen, so the rates' intervals decide
    assert compare_two(thirds, thirds, HALVES, OWN)[0] == 0


def test_holm_adjusts_in_steps_up_to_1_and_leaves_out_what_is_unknown() -> None:
    p = np.array([0.004, 0.03, np.nan, 0.02, 0.2])
    assert adjust_holm(p) == pytest.approx([0.016, 0.06, np.nan, 0.06, 0.2], nan_ok=True)
    assert adjust_holm(np.array([0.7, 0.6])).tolist() == [1.0, 1.0]


def test_rank_sets_count_rows_above_and_below() -> None:
    better = np.zeros((4, 4), bool)
    better[0, 2] = better[0, 3] = better[1, 3] = True
    assert find_rank_sets(better).tolist() == [[1, 2], [1, 3], [2, 4], [3, 4]]


def test_categories_of_one_unit_form_a_group_together() -> None:
    category = np.array([0] * 7 + [1, 2])
    weighting = weigh(np.ones(9, bool), category, np.arange(9))
    assert weighting.group.tolist() == [0] * 7 + [1, 1]
    last = weigh(np.ones(8, bool), category[:8], np.arange(8))
    assert last.group.tolist() == [0] * 8


def test_lone_category_joins_the_one_of_fewest_units() -> None:
    category = np.array([0] * 5 + [1] * 4 + [2])
    assert weigh(np.ones(10, bool), category, np.arange(10)).group.tolist() == [0] * 5 + [1] * 5


def test_all_scenarios_form_one_group_below_three_units_per_category() -> None:
    category = np.repeat([0, 1], 3)
    assert weigh(np.ones(6, bool), category, np.arange(6)).group.tolist() == [0] * 3 + [1] * 3
    five = np.array([0, 1, 2, 3, 4, 4])
    assert set(weigh(np.ones(6, bool), category, five).group) == {0}


def test_unit_that_is_a_whole_group_adds_no_error() -> None:
    category, unit = np.array([0] * 4 + [1] * 6), np.array([0, 0, 1, 1, *range(2, 8)])
    lone = np.array([0] * 3 + [1] * 6)  # one unit is all of its category, which joins the other
    found = estimate_mean(np.tile([0.0, 1.0], 5), category, unit)
    assert found.se[0] > 0
    weighting = weigh(np.ones(9, bool), lone, np.array([0, 0, 0, *range(1, 7)]))
    assert set(weighting.group) == {0} and (weighting.scale > 1).all()
    alone = weigh(np.ones(3, bool), np.zeros(3, int), np.zeros(3, int))
    assert alone.scale.tolist() == [0] and alone.df == 1


@given(st.permutations(range(16)), st.integers(1, 5), st.randoms())
def test_order_and_names_of_scenarios_change_nothing(order, size, random) -> None:
    order = np.array(order)
    category = np.array([0] * 6 + [1] * 5 + [2] * 4 + [3])
    units = np.arange(16) // size
    names, marks = random.sample(range(90), 4), random.sample(range(90), 16)
    plain = estimate_one(LONG_X, category, units)
    moved = estimate_one(
        LONG_X[order], np.array(names)[category[order]], np.array(marks)[units[order]]
    )
    assert moved == pytest.approx(plain)


def test_categories_keep_their_share_of_the_suite_when_values_are_missing() -> None:
    values = np.array([1, np.nan, np.nan, np.nan, 0, 0, 0, 0])
    assert estimate_one(values, HALVES, OWN)[0] == 0.5
    nothing = np.where(HALVES == 0, np.nan, X)
    assert estimate_one(nothing, HALVES, OWN)[0] == pytest.approx(X[4:].mean())
    with pytest.raises(ValueError, match="no scenario has a value"):
        estimate_mean(np.full(8, np.nan), HALVES, OWN)


def test_interval_of_whole_units_covers_where_the_naive_one_fails() -> None:
    """Simulated: 40 scenarios of 10 trajectories that have half of the variance between them."""
    rng, category, unit = np.random.default_rng(7), np.zeros(40, int), np.arange(40) // 4
    covered = np.zeros(2)
    for _ in range(400):
        ability = rng.normal(0, 1, 10)[unit] + rng.normal(0, 1, 40)
        values = rng.binomial(3, 1 / (1 + np.exp(-ability))) / 3
        for i, units in enumerate((unit, np.arange(40))):
            low, high = find_interval(values, category, units)
            covered[i] += low <= 0.5 <= high
    clustered, naive = covered / 400
    assert 0.92 <= clustered <= 0.98 and naive < 0.9


def test_error_that_is_rounding_gives_the_interval_without_an_error() -> None:
    ends = [rate_intervals(np.array([1 / 3]), np.array([se]), 1, 6) for se in (0.0, 1.9e-17)]
    assert (ends[0] == ends[1]).all() and np.diff(ends[1]) > 0.5
