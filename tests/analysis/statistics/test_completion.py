"""Cumulative incidence by counting, by hand under censoring, and its area."""

import numpy as np
import pytest
from statsmodels.duration.survfunc import CumIncidenceRight

from sts_analysis.statistics import incidence, mean_area
from sts_analysis.statistics.incidence import CENSORED, FAILURE, SUCCESS, cumulative_incidence
from sts_analysis.statistics.outcomes import Outcomes


def at(curve: incidence.Curve, step: int) -> float:
    return float(curve.height[np.searchsorted(curve.steps, step, side="right") - 1])


def test_with_one_horizon_it_counts_successes_exactly() -> None:
    rng = np.random.default_rng(1)
    step = rng.integers(1, 50, size=200)
    status = rng.choice([CENSORED, SUCCESS, FAILURE], size=200)
    step[status == CENSORED] = 50
    curve = cumulative_incidence(step, status, np.ones(200), horizon=50)
    for t in range(51):
        assert at(curve, t) == pytest.approx(np.mean((status == SUCCESS) & (step <= t)))


def test_unequal_horizons_by_hand() -> None:
    # Four at risk: success at 1 (F1 = 1/4, S = 3/4); one censored at 2; failure at 3 among two
    # (S = 3/8); success at 4 of one: F1 = 1/4 + 3/8.
    curve = cumulative_incidence(
        np.array([1, 2, 3, 4]),
        np.array([SUCCESS, CENSORED, FAILURE, SUCCESS]),
        np.ones(4),
        horizon=4,
    )
    assert [at(curve, t) for t in range(5)] == pytest.approx([0, 0.25, 0.25, 0.25, 0.625])


def test_it_agrees_with_statsmodels_under_weights_and_unequal_horizons() -> None:
    rng = np.random.default_rng(2)
    for size in (3, 40, 400):
        step, weights = rng.integers(1, 30, size=size), rng.random(size)
        status = rng.choice([CENSORED, SUCCESS, FAILURE], size=size)
        status[0] = SUCCESS
        curve = cumulative_incidence(step, status, weights, horizon=30)
        theirs = CumIncidenceRight(step, status, freq_weights=weights)
        for t, height in zip(theirs.times, theirs.cinc[0], strict=True):
            assert at(curve, int(t)) == pytest.approx(height, abs=1e-12)


def test_weights_count_like_copies() -> None:
    step, status = np.array([2, 4, 5]), np.array([SUCCESS, FAILURE, SUCCESS])
    weighted = cumulative_incidence(step, status, np.array([2.0, 1, 1]), horizon=5)
    copied = cumulative_incidence(step[[0, 0, 1, 2]], status[[0, 0, 1, 2]], np.ones(4), horizon=5)
    assert weighted.height == pytest.approx(copied.height)


def test_without_a_success_it_stays_at_zero() -> None:
    curve = cumulative_incidence(np.array([5, 5]), np.array([0, 2]), np.ones(2), horizon=5)
    assert curve.steps.tolist() == [0, 5] and curve.height.tolist() == [0, 0]


def test_the_distribution_among_successes_ends_at_one() -> None:
    curve = incidence.reached(np.array([2, 2, 8]), np.ones(3), total=3, horizon=10)
    assert at(curve, 2) == pytest.approx(2 / 3) and at(curve, 10) == 1


def test_the_plain_count_levels_off_at_the_share_of_successes() -> None:
    curve = incidence.reached(np.array([2, 8]), np.ones(2), total=5, horizon=10)
    assert [at(curve, t) for t in (1, 2, 9)] == [0, 0.2, 0.4]
    none = incidence.reached(np.array([], dtype=int), np.array([]), total=5, horizon=10)
    assert none.steps.tolist() == [0, 10] and none.height.tolist() == [0, 0]


def areas(values: list[list[float]]) -> mean_area.Areas:
    laid = np.array(values)[None]
    scenarios = laid.shape[1]
    category = np.zeros(scenarios, dtype=np.int64)
    names = tuple(map(str, range(scenarios)))
    outcomes = Outcomes(("a",), np.zeros(1, bool), names, category, ("c",), ("",) * scenarios, laid)
    return mean_area.mean_areas(outcomes)


def test_the_area_and_its_error_by_hand() -> None:
    found = areas([[0.2, 0.4], [0.6, 0.8], [0.1, np.nan]])
    assert found.area[0] == pytest.approx((0.3 + 0.7 + 0.1) / 3)
    exact = np.std([0.3, 0.7, 0.1], ddof=1) / np.sqrt(3)
    assert found.error[0] == pytest.approx(exact)


def test_the_area_is_the_mean_height_of_the_curve() -> None:
    step, horizon = np.array([3, 7, 10]), 10
    status = np.array([SUCCESS, SUCCESS, CENSORED])
    curve = cumulative_incidence(step, status, np.ones(3), horizon=horizon)
    height = np.sum(np.diff(curve.steps) * curve.height[:-1]) / horizon
    own = np.where(status == SUCCESS, (horizon - step) / horizon, 0)
    assert areas([[own[0]], [own[1]], [own[2]]]).area[0] == pytest.approx(height)


def test_without_spread_the_area_has_no_interval() -> None:
    assert np.isnan(areas([[0.5, 0.5], [0.5, 0.5]]).interval).all()
