"""Residuals of the additive model of agent families and categories."""

import numpy as np
import pytest
from scipy import stats

from sts_analysis.statistics.interactions import MIN_UNITS, measure_interactions

Table = tuple[np.ndarray, np.ndarray, np.ndarray]


def lay_out(means: np.ndarray, scenarios: int, rng: np.random.Generator) -> Table:
    """Draw pass rates of agents in as many scenarios of each category, alike hard for all."""
    category = np.repeat(np.arange(means.shape[1]), scenarios)
    hard = rng.normal(0, 0.1, len(category))
    values = means[:, category] + hard + rng.normal(0, 0.15, (len(means), len(category)))
    return values, category, np.arange(len(category))


def centre(means: np.ndarray) -> np.ndarray:
    return means - means.mean(0) - means.mean(1, keepdims=True) + means.mean()


def test_additive_rates_have_no_residual():
    means = np.add.outer([0.1, 0.2, 0.4], [0.0, 0.3, 0.5])
    values, category = np.repeat(means, 6, axis=1), np.repeat([0, 1, 2], 6)
    kept, residual, ends = measure_interactions(values, category, np.arange(18), np.arange(3))
    assert kept.tolist() == [0, 1, 2] and np.abs(residual).max() < 1e-12
    assert np.isnan(ends).all()  # all scenarios of a category end alike


def test_residual_is_that_of_the_hand_worked_table():
    # Means .9 and .3 of one family, .5 and .7 of the other: (.9 - .3 - .5 + .7) / 4 = .2.
    values = np.repeat([[0.9, 0.3], [0.5, 0.7]], 5, axis=1)
    _, residual, _ = measure_interactions(values, np.repeat([0, 1], 5), np.arange(10), np.arange(2))
    assert residual == pytest.approx(np.array([[0.2, -0.2], [-0.2, 0.2]]))


def test_agents_of_a_family_count_as_their_mean():
    rng = np.random.default_rng(0)
    values, category, unit = lay_out(rng.uniform(0.2, 0.8, (4, 3)), 9, rng)
    family = np.array([0, 0, 1, 2])
    joined = np.stack([values[:2].mean(axis=0), values[2], values[3]])
    found = measure_interactions(values, category, unit, family)
    alone = measure_interactions(joined, category, unit, np.arange(3))
    assert all(np.allclose(a, b) for a, b in zip(found, alone, strict=True))


def test_categories_that_an_agent_lacks_are_left_out():
    rng = np.random.default_rng(0)
    values, category, unit = lay_out(rng.uniform(0.2, 0.8, (3, 3)), MIN_UNITS, rng)
    values[1, category == 1] = np.nan
    values[2, np.flatnonzero(category == 2)[0]] = np.nan
    kept, residual, ends = measure_interactions(values, category, unit, np.arange(3))
    assert kept.tolist() == [0] and residual.shape == (3, 1) and ends.shape == (3, 1, 2)


def test_intervals_rest_on_units_and_not_on_scenarios():
    rng = np.random.default_rng(0)
    values, category, unit = lay_out(rng.uniform(0.2, 0.8, (3, 4)), 12, rng)
    once = measure_interactions(values, category, unit, np.arange(3))
    twice = measure_interactions(
        np.repeat(values, 2, axis=1), np.repeat(category, 2), np.repeat(unit, 2), np.arange(3)
    )
    assert np.allclose(once[1], twice[1]) and np.allclose(once[2], twice[2])


def test_intervals_cover_all_residuals_together_and_single_ones_do_not():
    rng = np.random.default_rng(1)
    means = rng.uniform(0.2, 0.8, (3, 5))
    tables = (lay_out(means, 8, rng) for _ in range(400))
    found = [measure_interactions(*table, np.arange(3)) for table in tables]
    error = np.array([residual for _, residual, _ in found]) - centre(means)
    half = np.array([np.diff(ends)[..., 0] / 2 for _, _, ends in found])
    single = stats.norm.isf(0.025) * error.std(axis=0)
    assert (np.abs(error) <= half).all(axis=(1, 2)).mean() >= 0.94
    assert (np.abs(error) <= single).all(axis=(1, 2)).mean() < 0.8
