"""The change between versions of a suite: what both hold is measured once."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from sts_analysis.statistics.version_comparison import VersionComparison, compare_versions
from tests.analysis.outcomes import make_outcomes

KEPT, ADDED, RETIRED = range(3)


def compare(y: np.ndarray, part: np.ndarray, **design: Any) -> VersionComparison:
    """Compare versions of scenarios that are kept, added or retired, int64[S]."""
    outcomes = make_outcomes(y if y.ndim == 3 else y[..., None], **design)
    return compare_versions(outcomes, part != ADDED, part != RETIRED)


def test_exchanged_scenarios_alone_make_the_error() -> None:
    rng = np.random.default_rng(1)
    part, x = np.repeat([KEPT, ADDED, RETIRED], [9, 6, 6]), rng.random((1, 21))
    found = compare(x, part)
    gained, lost = x[0, part == ADDED], x[0, part == RETIRED]
    assert found.difference[0] == pytest.approx(0.4 * (gained.mean() - lost.mean()))
    of_rates = found.rates["new"].value - found.rates["old"].value
    assert found.difference == pytest.approx(of_rates)
    squares = gained.var(ddof=1) / 6, lost.var(ddof=1) / 6
    assert found.se[0] == pytest.approx(0.4 * np.sqrt(sum(squares)))
    assert found.df[0] == pytest.approx(sum(squares) ** 2 / sum(v**2 / 5 for v in squares))
    half = stats.t.ppf(0.975, found.df[0]) * found.se[0]
    assert found.interval[0] == pytest.approx(found.difference[0] + np.array([-half, half]))
    other = compare(np.where(part == KEPT, 1 - x, x), part)
    assert other.se == pytest.approx(found.se)
    assert other.interval == pytest.approx(found.interval)


def test_unit_on_both_sides_counts_once() -> None:
    part, unit = np.repeat([ADDED, RETIRED], 12), np.tile(np.arange(12), 2)
    x = np.tile(np.linspace(0, 1, 12), 2)[None]
    shared = compare(x, part, unit=unit)
    assert shared.se[0] == 0 and compare(x, part).se[0] > 0.1
    assert (np.abs(shared.interval) > 0.2).all(), "no error is seen, so the rates' intervals decide"


def test_single_exchanged_scenario_has_the_intervals_of_the_rates() -> None:
    found = compare(np.array([[0.5, 1, 0, 1, 0.5]]), np.array([KEPT, KEPT, KEPT, ADDED, RETIRED]))
    assert found.difference[0] == pytest.approx(0.125)
    assert found.interval[0, 0] < -0.05 and found.interval[0, 1] > 0.2


def test_side_without_spread_has_the_wider_interval() -> None:
    part = np.repeat([KEPT, ADDED, RETIRED], [9, 6, 6])
    found = compare(np.array([[0.5] * 9 + [1] * 6 + [0.3, 0.4, 0.5, 0.5, 0.6, 0.7]]), part)
    student = 0.4 * 0.5 - stats.t.ppf(0.975, found.df[0]) * found.se[0]
    assert found.difference[0] == pytest.approx(0.2) and found.interval[0, 0] < student - 0.05


def test_kept_and_retired_scenarios_may_lose_weight_together() -> None:
    part = np.repeat([KEPT, ADDED, RETIRED], [4, 12, 4])
    x = np.linspace(0, 1, 20)[None]
    found = compare(x, part)
    assert found.difference == pytest.approx(x[:, :16].mean() - x[:, part != ADDED].mean())


def test_category_that_grew_takes_weight_from_the_other() -> None:
    category, part = np.repeat([0, 1], [4, 8]), np.repeat([KEPT, KEPT, ADDED], 4)
    x = np.repeat([[0.75, 0.25, 0.25]], 4, axis=1)
    found = compare(x, part, category=category)
    assert found.difference[0] == pytest.approx((0.75 + 2 * 0.25) / 3 - 0.5)


def test_comparison_is_unknown_without_judged_scenarios_of_both_versions() -> None:
    gap = np.nan
    part = np.repeat([KEPT, ADDED, RETIRED], 2)
    x = np.array([[1, 0, gap, gap, gap, gap], [gap, gap, gap, gap, 1, 0]])
    found = compare(x, part)
    assert found.difference[0] == 0 and np.isnan(found.interval).all()
    assert np.isnan(found.difference[1]) and found.rates["retired"].scenarios[1] == 2


@pytest.mark.landing
@pytest.mark.parametrize("across", [False, True], ids=["units of a part", "units across parts"])
def test_change_covers_where_naive_intervals_do_not(across) -> None:
    rng, part = np.random.default_rng(5), np.repeat([KEPT, ADDED, RETIRED], [40, 20, 20])
    unit = np.arange(80) % 20 if across else np.arange(80) // 2
    ease = rng.normal(0, 1, (1500, 40))[:, unit] + rng.normal(0, 1, (1500, 80))
    y = (rng.random((1500, 80, 8)) < expit(ease)[..., None]).astype(float)
    found = compare(y, part, unit=unit)
    covered = ((found.interval[:, 0] <= 0) & (found.interval[:, 1] >= 0)).mean()
    assert 0.925 <= covered <= 0.975
    apart = 1.96 * np.hypot(found.rates["new"].se, found.rates["old"].se)
    assert (np.abs(found.difference) <= apart).mean() > 0.985, "versions share their kept scenarios"
    if not across:  # else units cancel, as no continuation knows
        p = np.stack([y[:, part == side].mean(axis=(1, 2)) for side in (ADDED, RETIRED)])
        half = 1.96 * np.sqrt((p * (1 - p) / 160).sum(axis=0)) / 3
        assert (np.abs(found.difference) <= half).mean() < 0.8
