"""Means of rows with gaps are those of each row alone."""

import numpy as np
import pytest

from sts_analysis.statistics.estimate import weigh
from sts_analysis.statistics.means import estimate_means, weigh_rows
from tests.analysis.outcomes import estimate_mean

RNG = np.random.default_rng(3)
VALUES = np.where(RNG.random((6, 24)) < 0.2, np.nan, RNG.random((6, 24)))
CATEGORY, UNIT = np.arange(24) % 3, np.arange(24) // 2


def test_rows_with_gaps_are_estimated_as_if_each_were_alone() -> None:
    values = np.concatenate([VALUES, VALUES[:2], np.full((1, 24), np.nan)])
    found = estimate_means(values, CATEGORY, UNIT)
    for row in range(8):
        alone = estimate_mean(values[row], CATEGORY, UNIT)
        assert found.value[row] == pytest.approx(alone.value[0])
        assert (found.se[row], found.df[row]) == pytest.approx((alone.se[0], alone.df))
        assert found.interval[row, 0] < found.value[row] < found.interval[row, 1]
    assert found.scenarios.tolist() == np.isfinite(values).sum(axis=1).tolist()
    assert np.isnan(found.value[8]) and np.isnan(found.interval[8]).all() and found.units[8] == 0


def test_weights_of_rows_are_those_of_the_estimator() -> None:
    judged = np.isfinite(VALUES)
    weights = weigh_rows(judged, CATEGORY, UNIT)
    assert (weights[~judged] == 0).all()
    assert weights[4] == pytest.approx(weigh(judged[4], CATEGORY, UNIT).weight)
    assert np.nansum(weights * VALUES, axis=1) == pytest.approx(
        estimate_means(VALUES, CATEGORY, UNIT).value
    )
