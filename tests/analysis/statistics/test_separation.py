"""Which scenarios tell agents apart: by hand, and against another library's correlation."""

from __future__ import annotations

import numpy as np
import pytest

from sts_analysis.statistics.outcomes import summarise
from sts_analysis.statistics.separation import separation

RATES = np.array(
    [
        [1.0, 1.0, 0.0, 1.0, np.nan],
        [0.5, 1.0, 0.5, 0.0, np.nan],
        [0.0, 1.0, 1.0, 0.5, 1.0],
        [0.0, 1.0, 0.5, np.nan, np.nan],
    ]
)


def test_spread_is_the_highest_rate_minus_the_lowest() -> None:
    spread = separation(summarise(RATES[:, :, None])).spread
    assert spread[:4].tolist() == [1.0, 0.0, 1.0, 1.0]
    assert np.isnan(spread[4]), "of one agent there is none"


def test_discrimination_is_the_correlation_with_the_rate_over_the_other_scenarios() -> None:
    found = separation(summarise(RATES[:, :, None])).discrimination
    for s in (0, 2, 3):
        there = np.isfinite(RATES[:, s])
        rest = np.nanmean(np.delete(RATES, s, axis=1), axis=1)
        expected = np.corrcoef(RATES[there, s], rest[there])[0, 1]
        assert found[s] == pytest.approx(expected)
    assert np.isnan(found[[1, 4]]).all(), "all agents alike, and one agent, say nothing"


def test_a_scenario_that_better_agents_fail_has_a_negative_one() -> None:
    skill = np.linspace(0.1, 0.9, 6)
    rates = np.column_stack([skill, skill, skill, 1 - skill])
    found = separation(summarise(rates[:, :, None])).discrimination
    assert (found[:3] > 0.9).all() and found[3] < -0.9


def test_without_an_agent_nothing_is_known() -> None:
    found = separation(summarise(np.empty((0, 3, 1))))
    assert np.isnan(found.spread).all() and np.isnan(found.discrimination).all()
