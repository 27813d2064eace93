"""Intervals against published numbers and an independent library."""

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from sts_analysis.statistics import intervals


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (10, 10), (70, 160)])
def test_wilson_agrees_with_statsmodels(k: int, n: int) -> None:
    ours = intervals.wilson(np.array(k / n), np.array(n))
    assert ours == pytest.approx(proportion_confint(k, n, method="wilson"), abs=1e-12)


def test_wilsons_interval_is_all_of_0_to_1_as_the_quantile_grows_without_end() -> None:
    found = intervals.wilson(np.array(0.2), np.array(3.0), np.array([1e40, 1e168, np.inf]))
    assert found == pytest.approx(np.tile([0.0, 1.0], (3, 1)))


def test_the_difference_from_parts_is_newcombes_example() -> None:
    # 56 of 70 against 48 of 80: Newcombe 1998, table II, method 10.
    p, q = 56 / 70, 48 / 80
    parts = [intervals.wilson(np.array(x), np.array(n)) for x, n in ((p, 70), (q, 80))]
    found = intervals.difference_from_parts(p, parts[0], q, parts[1])
    assert found == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_effective_trials_of_independent_trials_are_their_number() -> None:
    p, n = 0.3, 50
    error = np.sqrt(p * (1 - p) / n)
    assert intervals.effective_trials(np.array(p), error, np.array(7)) == pytest.approx(n)


def test_without_spread_the_scenarios_are_the_trials() -> None:
    assert intervals.effective_trials(np.array(1.0), np.array(0.0), np.array(7)) == 7


@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 7), (6.4, 9.1), (20, 20)])
def test_jeffreys_agrees_with_statsmodels(k: float, n: float) -> None:
    theirs = proportion_confint(k, n, alpha=1 - intervals.LEVEL, method="jeffreys")
    assert intervals.jeffreys(k, n) == pytest.approx(theirs, rel=1e-12)


def test_jeffreys_never_collapses() -> None:
    low, high = intervals.jeffreys(20, 20)
    assert 0.8 < low < 0.95 and high > 0.999
